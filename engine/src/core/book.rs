//! The roots born at one stream: their items until the verdict, attempts, backoff, dead letters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use acker::Delta;

use super::ackers::ByRoot;
use super::epochs::EpochCounts;
use super::lineage;
use super::port::{Ended, Run};
use super::shared::Shared;
use super::{Epoch, Nanos, TaskId, VerdictOp};
use crate::batch::{Batch, cut};
use crate::grouping::CopyItem;

/// A root without a verdict.
#[derive(Debug)]
struct Root<B: Batch> {
    id: u64,
    attempt: u32,
    task: TaskId,
    epoch: Epoch,
    born: Nanos,
    /// The lineage of its item; of several items each has one of its own, made from it.
    lineage: u64,
    /// It was done, and this attempt only checks that it comes out alike.
    check: bool,
    /// What it was a part of has failed before.
    parted: bool,
    items: B,
}

/// The next attempt of a root that is due.
pub(crate) struct Due<'a, B: Batch> {
    pub(crate) epoch: Epoch,
    pub(crate) task: TaskId,
    pub(crate) run: Run,
    pub(crate) lineage: u64,
    pub(crate) items: &'a B,
}

impl<B: Batch> Drop for Root<B> {
    fn drop(&mut self) {
        cut(&mut self.items, 0);
    }
}

/// The roots of one stream at one worker.
#[derive(Debug)]
pub(crate) struct Book<B: Batch> {
    slots: Vec<Option<Root<B>>>,
    free: Vec<u32>,
    by_track: ByRoot<u32>,
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    epochs: EpochCounts,
    /// Used in turn, so that each of them soon has room for the largest root.
    spare: VecDeque<B>,
    large: usize,
}

impl<B: Batch> Default for Book<B> {
    fn default() -> Self {
        Book {
            slots: Vec::new(),
            free: Vec::new(),
            by_track: ByRoot::default(),
            due: BinaryHeap::new(),
            epochs: EpochCounts::default(),
            spare: VecDeque::new(),
            large: LARGE_CLOSE,
        }
    }
}

/// Memory set aside beforehand, at most for this many roots.
const RESERVE: usize = 1 << 16;
/// Memory of a root of more bytes is given back, not kept for the next one: of a record, of which
/// there are many, and of all that one `close` emitted, of which there are few.
const LARGE: usize = 4 << 10;
const LARGE_CLOSE: usize = 512 << 10;

/// Whether the checking mode tries a root once more after it is done.
fn sampled(lineage: u64, cx: &Shared) -> bool {
    let ppm = u64::from(cx.plan.config.check_ppm);
    ppm > 0 && cx.plan.config.exactly_once() && lineage::pick(lineage, 0, 1_000_000) < ppm
}

impl<B: Batch> Book<B> {
    /// Sets memory aside for `roots` unfinished roots, so that a steady run allocates nothing.
    pub(crate) fn reserve(&mut self, roots: usize) {
        let roots = roots.min(RESERVE);
        self.slots.reserve(roots);
        self.free.reserve(roots);
        self.spare.resize_with(roots, B::default);
        // Twice: a table half full rehashes in place.
        self.by_track.reserve(2 * roots);
        self.large = LARGE;
    }

    /// Opens a root of `task` whose items `fill` provides, and starts its first attempt. Returns it
    /// with its lineage.
    pub(crate) fn open(
        &mut self,
        task: TaskId,
        epoch: Epoch,
        cx: &mut Shared,
        fill: impl FnOnce(&mut B),
    ) -> (Run, u64) {
        let mut items = self.spare.pop_front().unwrap_or_default();
        fill(&mut items);
        let id = cx.root_ids.next_id().get();
        let (lineage, born) = (lineage::of_root(id), cx.now.mono);
        let root =
            Root { id, attempt: 1, task, epoch, born, lineage, check: false, parted: false, items };
        self.epochs.add(epoch, 1);
        let slot = self.put(root);
        (self.start(slot, id, 1, false), lineage)
    }

    fn put(&mut self, root: Root<B>) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(root);
            slot
        } else {
            self.slots.push(Some(root));
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        }
    }

    fn start(&mut self, slot: u32, id: u64, attempt: u32, parted: bool) -> Run {
        let track = acker::mix(id, attempt);
        self.by_track.insert(track, slot);
        Run { alone: parted || attempt > 1, ..Run::new(track, Delta::EMPTY) }
    }

    /// Hears a verdict; `None` where the attempt is not in this book.
    pub(crate) fn verdict(
        &mut self,
        verdict: &VerdictOp,
        keep: Option<CopyItem<B>>,
        cx: &mut Shared,
    ) -> Option<Ended> {
        let slot = self.by_track.remove(&verdict.track)?;
        let mut root = self.slots.get_mut(slot as usize)?.take()?;
        let failed = verdict.failed.as_ref().filter(|_| !root.check);
        let Some(reason) = failed else {
            if !root.check && root.items.len() == 1 && sampled(root.lineage, cx) {
                root.check = true;
                self.slots[slot as usize] = Some(root);
                self.due.push(Reverse((cx.now.clock, slot)));
                return Some(Ended::Retry);
            }
            self.epochs.add(root.epoch, -1);
            let bytes = root.items.size();
            let ended = Ended::Acked { task: root.task, bytes, born: root.born };
            self.discard(slot, std::mem::take(&mut root.items));
            return Some(ended);
        };
        if root.items.len() > 1 {
            return Some(self.split(slot, &root, keep, cx));
        }
        let spent = root.attempt >= cx.plan.config.attempts;
        if spent || !reason.worth_a_retry() {
            self.epochs.add(root.epoch, -1);
            let (task, bytes) = (root.task, root.items.size());
            self.free.push(slot);
            let item = Box::new(std::mem::take(&mut root.items));
            cx.bury(root.task, root.epoch, root.attempt, Arc::clone(reason), item);
            return Some(Ended::Dead { task, bytes });
        }
        let at = cx.now.clock.saturating_add(cx.backoff(root.attempt));
        self.slots[slot as usize] = Some(root);
        self.due.push(Reverse((at, slot)));
        Some(Ended::Retry)
    }

    /// A failed root of several items (what one `close` emitted): each becomes a root of its own,
    /// in the same step, and all of them hold the epoch.
    fn split(
        &mut self,
        slot: u32,
        root: &Root<B>,
        keep: Option<CopyItem<B>>,
        cx: &mut Shared,
    ) -> Ended {
        self.free.push(slot);
        self.epochs.add(root.epoch, -1);
        if let Some(keep) = keep {
            for i in 0..root.items.len() {
                let mut items = self.spare.pop_front().unwrap_or_default();
                keep(&root.items, i, &mut items);
                let id = cx.root_ids.next_id().get();
                // The one they shared was nobody's own: each has all its attempts before it.
                let one = Root {
                    id,
                    attempt: 0,
                    task: root.task,
                    epoch: root.epoch,
                    born: root.born,
                    lineage: lineage::item(root.lineage, i, root.items.len()),
                    check: false,
                    parted: true,
                    items,
                };
                self.epochs.add(root.epoch, 1);
                let slot = self.put(one);
                self.due.push(Reverse((cx.now.clock, slot)));
            }
        }
        Ended::Retry
    }

    fn discard(&mut self, slot: u32, mut items: B) {
        self.free.push(slot);
        let large = items.size() > self.large;
        cut(&mut items, 0);
        if self.spare.len() < RESERVE && !large {
            self.spare.push_back(items);
        }
    }

    /// When the next attempt of some root is due, by the clock of time-outs.
    pub(crate) fn retry_at(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Starts the next attempt of a root that is due, if it is of epoch `of` (or that is `None`).
    pub(crate) fn next_due(&mut self, of: Option<Epoch>, cx: &mut Shared) -> Option<Due<'_, B>> {
        let &Reverse((at, slot)) = self.due.peek()?;
        let root = self.slots.get_mut(slot as usize)?.as_mut()?;
        if at > cx.now.clock || of.is_some_and(|of| of != root.epoch) {
            return None;
        }
        self.due.pop();
        root.attempt += 1;
        let (id, attempt, epoch, task) = (root.id, root.attempt, root.epoch, root.task);
        let (lineage, parted) = (root.lineage, root.parted);
        let run = self.start(slot, id, attempt, parted);
        let items = &self.slots.get(slot as usize)?.as_ref()?.items;
        Some(Due { epoch, task, run, lineage, items })
    }

    /// The least epoch of which a root has no verdict, with a task that has one of that epoch.
    pub(crate) fn held(&self) -> Option<(Epoch, TaskId)> {
        self.epochs.min().map(|epoch| (epoch, self.task_at(epoch)))
    }

    fn task_at(&self, epoch: Epoch) -> TaskId {
        // Linear, but asked only where a report is due and cut short by the first match.
        self.slots
            .iter()
            .flatten()
            .find(|root| root.epoch == epoch)
            .map_or(TaskId::MAX, |root| root.task)
    }

    /// Every root that has no verdict: what a cut-short run leaves behind.
    pub(crate) fn unfinished(&self, each: &mut dyn FnMut(TaskId, Epoch, u32)) {
        for root in self.slots.iter().flatten() {
            each(root.task, root.epoch, root.attempt);
        }
    }
}
