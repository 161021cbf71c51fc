//! The acker of one worker: a tracker for each open epoch, and what ended in it.
//!
//! A failure is remembered until its epoch is closed everywhere; messages that come after it are
//! counted and dropped. With the epoch goes its whole table, entries never armed included.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::VecDeque;
use std::sync::Arc;

use acker::{Applied, Outcome, RootId, Ticks, Timeout, Tracker, TrackerConfig};
use hashbrown::{HashMap, HashSet};

use super::message::{AckKind, AckOp, FailOp, InitOp, VerdictOp};
use super::nursery::Nursery;
use super::{ComponentId, Epoch, Nanos, Plan};
use crate::config::whole;
use crate::report::{AckerStats, Reason};

const TICK: Nanos = 1_000_000;

/// By attempt, hashed alike in every run: how much memory a table takes after removals depends on
/// where its entries lie, and that is reported.
pub(super) type ByRoot<T> = HashMap<RootId, T, BuildHasherDefault<AsItIs>>;

/// An attempt's id is its hash: all its bits are mixed, and the engine draws it, so nobody can aim at
/// one place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

/// One epoch's tracker.
#[derive(Debug)]
struct Page {
    epoch: Epoch,
    tracker: Tracker,
    /// Attempts that failed: what comes of them later is late. Of one that is done nothing can come
    /// any more: each of its ids was told by the one who made it and by the one who was done with it,
    /// and lanes drop repeats.
    ended: HashSet<RootId, BuildHasherDefault<AsItIs>>,
    reasons: ByRoot<Arc<Reason>>,
    /// Where an attempt was last known to wait.
    seen: ByRoot<ComponentId>,
    failed: u64,
}

/// The acker of one worker.
#[derive(Debug)]
pub(crate) struct Acker {
    config: TrackerConfig,
    timeout: Ticks,
    pages: VecDeque<Page>,
    spare: Vec<Page>,
    nursery: Nursery,
    /// When the young have to move on.
    aging: Ticks,
    forgotten: Epoch,
    now: Ticks,
    verdicts: Vec<acker::Verdict>,
    late: u64,
    peak_live: usize,
    peak_bytes: usize,
}

impl Acker {
    pub(crate) fn new(plan: &Plan) -> Self {
        let timeout = whole(plan.config.timeout).div_ceil(TICK).max(1);
        Acker {
            config: TrackerConfig {
                timeout: Timeout::After(timeout),
                generations: 8,
                seed: plan.config.seed,
            },
            timeout,
            pages: VecDeque::new(),
            spare: Vec::new(),
            nursery: Nursery::default(),
            aging: 0,
            forgotten: 0,
            now: 0,
            verdicts: Vec::new(),
            late: 0,
            peak_live: 0,
            peak_bytes: 0,
        }
    }

    /// The page of `epoch`, or `None` where that is closed everywhere.
    fn page(&mut self, epoch: Epoch) -> Option<&mut Page> {
        if epoch < self.forgotten {
            self.late += 1;
            return None;
        }
        // Most that is told is of the newest epoch.
        let at = match self.pages.back() {
            Some(page) if page.epoch == epoch => self.pages.len() - 1,
            _ => self.pages.partition_point(|page| page.epoch < epoch),
        };
        if self.pages.get(at).is_none_or(|page| page.epoch != epoch) {
            let mut page = match self.spare.pop() {
                Some(page) => page,
                None => Page {
                    epoch,
                    tracker: Tracker::new(self.config).ok()?,
                    ended: HashSet::default(),
                    reasons: ByRoot::default(),
                    seen: ByRoot::default(),
                    failed: 0,
                },
            };
            page.epoch = epoch;
            page.tracker.advance(self.now, &mut self.verdicts);
            self.pages.insert(at, page);
        }
        self.pages.get_mut(at)
    }

    pub(crate) fn init(&mut self, op: &InitOp, plan: &Plan, out: &mut Vec<VerdictOp>) {
        let Some(page) = self.page(op.epoch) else { return };
        // What was told before lies in the tracker, and a root without children is done at once.
        if page.tracker.orphans() > 0 || op.produced.bits() == 0 {
            page.init(op, plan, out);
        } else {
            let pages = &mut self.pages;
            self.nursery.take(op, &mut |old| move_on(pages, &old, plan, out));
        }
    }

    pub(crate) fn apply(&mut self, op: &AckOp, plan: &Plan, out: &mut Vec<VerdictOp>) {
        match op.kind {
            AckKind::Update(update) => {
                if let Some(end) = self.nursery.tell(op.track, update.bits()) {
                    if let Some(task) = end {
                        out.push(VerdictOp {
                            track: op.track,
                            epoch: op.epoch,
                            task,
                            failed: None,
                        });
                    }
                    return;
                }
                let Some(page) = self.page(op.epoch) else { return };
                if page.has_failed(op.track) {
                    self.late += 1;
                } else if let Applied::Verdict(verdict) = page.tracker.update(op.track, update) {
                    page.end(&verdict, plan, out);
                }
            }
            AckKind::Touch(component) => {
                self.part_with(op.track, plan, out);
                let Some(page) = self.page(op.epoch) else { return };
                if page.has_failed(op.track) {
                    self.late += 1;
                } else if page.tracker.touch(op.track) {
                    page.seen.insert(op.track, component);
                }
            }
        }
    }

    pub(crate) fn fail(&mut self, op: &FailOp, plan: &Plan, out: &mut Vec<VerdictOp>) {
        self.part_with(op.track, plan, out);
        let Some(page) = self.page(op.epoch) else { return };
        if page.has_failed(op.track) {
            self.late += 1;
            return;
        }
        page.reasons.entry(op.track).or_insert_with(|| Arc::clone(&op.reason));
        if let Applied::Verdict(verdict) = page.tracker.fail(op.track) {
            page.end(&verdict, plan, out);
        }
    }

    /// Has an attempt in the tracker, if it was young.
    fn part_with(&mut self, track: RootId, plan: &Plan, out: &mut Vec<VerdictOp>) {
        let pages = &mut self.pages;
        self.nursery.part_with(track, &mut |old| move_on(pages, &old, plan, out));
    }

    /// Lets time-outs run up to `clock`.
    pub(crate) fn advance(&mut self, clock: Nanos, plan: &Plan, out: &mut Vec<VerdictOp>) {
        let now = clock / TICK;
        if now <= self.now {
            return;
        }
        self.now = now;
        if now >= self.aging {
            self.aging = now + (self.timeout / 32).max(1);
            let pages = &mut self.pages;
            self.nursery.age(&mut |old| move_on(pages, &old, plan, out));
        }
        for page in &mut self.pages {
            page.tracker.advance(now, &mut self.verdicts);
            for verdict in self.verdicts.drain(..) {
                page.end(&verdict, plan, out);
            }
        }
        self.verdicts.clear();
    }

    /// Notes the peaks of live records and bytes.
    pub(crate) fn measure(&mut self) {
        let live = self.pages.iter().map(|page| page.tracker.len()).sum::<usize>();
        let live = live + self.nursery.len();
        let pages = self.pages.iter().chain(&self.spare);
        self.peak_live = self.peak_live.max(live);
        self.peak_bytes = self
            .peak_bytes
            .max(pages.map(Page::heap_bytes).sum::<usize>() + self.nursery.heap_bytes());
    }

    /// Whether some attempt waits for its verdict.
    pub(crate) fn is_waiting(&self) -> bool {
        self.nursery.len() > 0 || self.pages.iter().any(|page| !page.tracker.is_empty())
    }

    /// How often time-outs are looked at.
    pub(crate) fn pace(&self) -> Nanos {
        (self.timeout * TICK / 16).clamp(TICK, 100 * TICK)
    }

    /// Forgets all epochs below `epoch`: they are closed everywhere.
    pub(crate) fn forget_below(&mut self, epoch: Epoch) {
        self.forgotten = self.forgotten.max(epoch);
        self.nursery.forget_below(epoch);
        while self.pages.front().is_some_and(|page| page.epoch < epoch) {
            let Some(mut page) = self.pages.pop_front() else { break };
            page.tracker.clear();
            page.ended.clear();
            page.reasons.clear();
            page.seen.clear();
            self.spare.push(page);
        }
    }

    /// Attempts that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.pages.iter().chain(&self.spare).map(|page| page.failed).sum()
    }

    pub(crate) fn stats(&self) -> AckerStats {
        let all = self.pages.iter().chain(&self.spare).map(|page| page.tracker.stats());
        let mut updates = self.nursery.told();
        // 2⁻⁶⁴ each, as in the tracker.
        #[allow(clippy::cast_precision_loss)]
        let mut bound = updates as f64 / 18_446_744_073_709_551_616.0;
        for stats in all {
            updates += stats.updates;
            bound += stats.false_zero_bound();
        }
        AckerStats {
            peak_live: self.peak_live,
            peak_bytes: self.peak_bytes,
            updates,
            late: self.late,
            false_ack_bound: bound,
        }
    }
}

/// Takes an attempt that has left the nursery over into its epoch's tracker.
fn move_on(pages: &mut VecDeque<Page>, old: &InitOp, plan: &Plan, out: &mut Vec<VerdictOp>) {
    // It had a page as it came, and goes with it.
    if let Some(page) = pages.iter_mut().find(|page| page.epoch == old.epoch) {
        page.init(old, plan, out);
    }
}

impl Page {
    fn init(&mut self, op: &InitOp, plan: &Plan, out: &mut Vec<VerdictOp>) {
        // A second init of a live attempt cannot happen on a numbered lane; were it to, the first
        // stands.
        if let Ok(Applied::Verdict(verdict)) = self.tracker.init(op.track, op.task, op.produced) {
            self.end(&verdict, plan, out);
        }
    }

    /// Bytes of its tables: records, ended roots, reasons, places.
    fn heap_bytes(&self) -> usize {
        self.tracker.heap_bytes()
            + self.ended.allocation_size()
            + self.reasons.allocation_size()
            + self.seen.allocation_size()
    }

    #[inline]
    fn has_failed(&self, track: RootId) -> bool {
        !self.ended.is_empty() && self.ended.contains(&track)
    }

    fn end(&mut self, verdict: &acker::Verdict, plan: &Plan, out: &mut Vec<VerdictOp>) {
        let track = verdict.root;
        // Of few roots there is a reason or a place.
        let reason = if self.reasons.is_empty() { None } else { self.reasons.remove(&track) };
        let seen = if self.seen.is_empty() { None } else { self.seen.remove(&track) };
        let why = match verdict.outcome {
            Outcome::Done => None,
            // A failure whose reason was lost cannot be: both travel in one message.
            _ => Some(reason.unwrap_or_else(|| {
                let name = |c: ComponentId| plan.components[c as usize].name.clone();
                Arc::new(Reason::TimedOut {
                    timeout: plan.config.timeout,
                    last_seen: seen.map(name),
                })
            })),
        };
        if why.is_some() {
            self.failed += 1;
            self.ended.insert(track);
        }
        out.push(VerdictOp { track, epoch: self.epoch, task: verdict.task, failed: why });
    }
}

#[cfg(test)]
mod tests {
    use super::ByRoot;

    /// Bytes of a table after each of many steps that put one root in and take an older one out.
    fn bytes() -> Vec<usize> {
        let mut table = ByRoot::default();
        let root = |n: u64| acker::mix(n, 1);
        let step = |n| {
            table.insert(root(n), n);
            if let Some(old) = n.checked_sub(400) {
                table.remove(&root(old));
            }
            table.allocation_size()
        };
        (1..20_000).map(step).collect()
    }

    #[test]
    fn tables_take_the_same_memory_in_every_run() {
        let once = bytes();
        assert!((0..5).all(|_| bytes() == once));
    }
}
