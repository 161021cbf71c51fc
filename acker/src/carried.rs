//! Records on their way from one tracker to another.

use alloc::vec::Vec;

use crate::record::{ARMED, FAILED, Record, SHORT_TASK_BITS, task_of};
use crate::{Error, Outcome, RootId, Ticks, Tracker, Update, Verdict};

/// What one tracker knows of a root, to be merged into another.
///
/// Sums of parts of a tree's messages merge by XOR, in any order, into the sum of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The root in question.
    pub root: RootId,
    /// The sum of the messages so far.
    pub sum: Update,
    /// The task that announced it; `None` if the init has not come.
    pub task: Option<u32>,
    /// Whether a tuple has failed.
    pub failed: bool,
    /// The ticks for which its time-out has surely run; 0 where nothing expires.
    pub age: Ticks,
    /// The ticks since its init, surely; 0 where nothing depends on it.
    pub since_init: Ticks,
}

impl Tracker {
    /// Takes out the roots and orphans that `leaves` picks, in the order of their ids. They get
    /// no verdict here. O(slots + k log k) for k that leave.
    pub fn extract(&mut self, leaves: impl FnMut(RootId) -> bool) -> Vec<Carried> {
        let out = self.picked(leaves);
        for carried in &out {
            self.forget(carried.root);
        }
        out
    }

    /// What is known of every root and orphan, in the order of their ids. O(n log n).
    #[must_use]
    pub fn records(&self) -> Vec<Carried> {
        self.picked(|_| true)
    }

    fn picked(&self, mut pick: impl FnMut(RootId) -> bool) -> Vec<Carried> {
        let all = self.table.records().filter_map(|record| self.carried(record));
        let mut out: Vec<_> = all.filter(|carried| pick(carried.root)).collect();
        out.sort_unstable_by_key(|carried| carried.root);
        out
    }

    /// Merges what another tracker knew, and appends the verdicts that come of it.
    ///
    /// A time-out goes on where it was: never early, and late by the time on the way and, if the
    /// two clocks differ, by one more generation. Where both trackers had accepted an init of
    /// one root, its two trees cannot be told apart any more: both fail, each with a verdict to
    /// its task. Expected O(1) a root.
    ///
    /// # Errors
    ///
    /// [`Error::TaskTooLarge`] for a task above [`max_task`](Self::max_task), as it may come
    /// from a tracker with another kind of time-out. Then nothing has changed.
    pub fn absorb(
        &mut self,
        carried: &[Carried],
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), Error> {
        let largest = self.max_task();
        let mut tasks = carried.iter().filter_map(|carried| carried.task);
        if let Some(task) = tasks.find(|&task| task > largest) {
            return Err(Error::TaskTooLarge { task, largest });
        }
        for carried in carried {
            self.absorb_one(carried, verdicts);
        }
        Ok(())
    }

    fn absorb_one(&mut self, carried: &Carried, verdicts: &mut Vec<Verdict>) {
        let Carried { root, sum, task, failed, age, since_init } = *carried;
        let here = self.take(root).and_then(|record| self.carried(record));
        let (mut sum, mut failed, mut age, mut since_init) = (sum, failed, age, since_init);
        let mut armed = task;
        if let Some(here) = here {
            self.stats.updates += 1;
            sum = sum.merge(here.sum);
            failed |= here.failed;
            match (here.task, armed) {
                (Some(task), Some(other)) => {
                    for task in [task, other] {
                        verdicts.push(self.count(root, task, Outcome::Failed));
                    }
                    return;
                }
                (Some(task), None) => {
                    armed = Some(task);
                    (age, since_init) = (here.age, here.since_init);
                }
                // An orphan's time does not count for the root, as when its init comes.
                (None, Some(_)) => {}
                (None, None) => age = age.max(here.age),
            }
        }
        match armed {
            Some(task) if failed => verdicts.push(self.count(root, task, Outcome::Failed)),
            Some(task) if sum == Update::default() => {
                verdicts.push(self.count(root, task, Outcome::Done));
            }
            _ => {
                let meta = armed.map_or(0, |task| task | ARMED) | if failed { FAILED } else { 0 };
                self.put(root, sum.bits(), meta, age, since_init);
            }
        }
    }

    fn carried(&self, record: Record) -> Option<Carried> {
        let armed = record.is(ARMED);
        Some(Carried {
            root: RootId::new(record.root)?,
            sum: Update::from_bits(record.check),
            task: armed.then(|| task_of(record, self.cap.is_some())),
            failed: record.is(FAILED),
            age: self.clock.age(record.slot()),
            since_init: match &self.cap {
                Some(cap) if armed => cap.age(record.cap_slot()),
                _ => 0,
            },
        })
    }

    /// Stores a record whose time-out started `age` ticks ago.
    fn put(&mut self, root: RootId, check: u64, mut meta: u32, age: Ticks, since_init: Ticks) {
        let slot = self.clock.slot_of_age(age);
        if let (Some(cap), true) = (&self.cap, meta & ARMED != 0) {
            meta |= cap.slot_of_age(since_init) << SHORT_TASK_BITS;
        }
        let home = self.table.locate(root);
        self.insert_in(slot, root, check, meta, home);
    }
}
