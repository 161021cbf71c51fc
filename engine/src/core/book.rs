//! The roots born at one stream: their items until the verdict, attempts, backoff, dead letters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use acker::Delta;

use super::ackers::ByRoot;
use super::epochs::EpochCounts;
use super::lineage;
use super::port::{Ended, Run};
use super::shared::Shared;
use super::{Epoch, Nanos, TaskId, VerdictOp};
use crate::batch::{Batch, Loose, cut};
use crate::grouping::CopyItem;

/// A root without a verdict; or, where `live` is false, a place for one, with its memory.
#[derive(Debug)]
struct Root<B: Batch> {
    live: bool,
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

impl<B: Batch> Default for Root<B> {
    fn default() -> Self {
        Root {
            live: false,
            id: 0,
            attempt: 0,
            task: 0,
            epoch: 0,
            born: 0,
            lineage: 0,
            check: false,
            parted: false,
            items: B::default(),
        }
    }
}

impl<B: Batch> Drop for Root<B> {
    fn drop(&mut self) {
        cut(&mut self.items, 0);
    }
}

/// The roots of one stream at one worker.
#[derive(Debug)]
pub(crate) struct Book<B: Batch> {
    /// The last one freed is the first one used: its memory is still at hand.
    slots: Vec<Root<B>>,
    free: Vec<u32>,
    by_track: ByRoot<u32>,
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    epochs: EpochCounts,
    large: usize,
    /// Scratch of `look_ahead`.
    ahead: Vec<u32>,
}

impl<B: Batch> Default for Book<B> {
    fn default() -> Self {
        Book {
            slots: Vec::new(),
            free: Vec::new(),
            by_track: ByRoot::default(),
            due: BinaryHeap::new(),
            epochs: EpochCounts::default(),
            large: LARGE_CLOSE,
            ahead: Vec::new(),
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
        // Twice: a table half full rehashes in place.
        self.by_track.reserve(2 * roots);
        self.large = LARGE;
        self.ahead.reserve(super::mail::AHEAD);
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
        let id = cx.root_ids.next_id().get();
        let lineage = lineage::of_root(id);
        let slot = self.take_slot();
        let root = &mut self.slots[slot as usize];
        fill(&mut root.items);
        (root.live, root.check, root.parted) = (true, false, false);
        (root.id, root.attempt, root.task, root.epoch) = (id, 1, task, epoch);
        (root.lineage, root.born) = (lineage, cx.now.mono);
        self.epochs.add(epoch, 1);
        (self.start(slot, cx), lineage)
    }

    /// A place without a root, its items empty.
    fn take_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Root::default());
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn start(&mut self, slot: u32, cx: &Shared) -> Run {
        let Root { id, attempt, epoch, parted, .. } = self.slots[slot as usize];
        let track = acker::mix(id, attempt);
        self.by_track.insert(track, slot);
        let owner = cx.plan.tables.at(epoch).owner(track);
        Run { alone: parted || attempt > 1, ..Run::new(track, owner, Delta::EMPTY) }
    }

    /// Reads what `verdict` will read, of several verdicts: first all places, then all roots, so that
    /// no wait for memory depends on another.
    pub(crate) fn look_ahead(&mut self, verdicts: &[VerdictOp]) {
        let Book { ahead, by_track, slots, .. } = self;
        ahead.clear();
        ahead.extend(verdicts.iter().filter_map(|verdict| by_track.get(&verdict.track).copied()));
        let roots = ahead.iter().filter_map(|&slot| slots.get(slot as usize));
        std::hint::black_box(roots.filter(|root| root.live && !root.items.is_empty()).count());
    }

    /// Hears a verdict; `None` where the attempt is not in this book.
    pub(crate) fn verdict(
        &mut self,
        verdict: &VerdictOp,
        keep: Option<CopyItem<B>>,
        cx: &mut Shared,
    ) -> Option<Ended> {
        let slot = self.by_track.remove(&verdict.track)?;
        let root = self.slots.get_mut(slot as usize).filter(|root| root.live)?;
        let failed = verdict.failed.as_ref().filter(|_| !root.check);
        let Some(reason) = failed else {
            if !root.check && root.items.len() == 1 && sampled(root.lineage, cx) {
                root.check = true;
                self.due.push(Reverse((cx.now.clock, slot)));
                return Some(Ended::Retry);
            }
            self.epochs.add(root.epoch, -1);
            let ended = Ended::Acked { task: root.task, bytes: root.items.size(), born: root.born };
            self.discard(slot);
            return Some(ended);
        };
        if root.items.len() > 1 {
            return Some(self.split(slot, keep, cx));
        }
        let spent = root.attempt >= cx.plan.config.attempts;
        if spent || !reason.worth_a_retry() {
            self.epochs.add(root.epoch, -1);
            let (task, bytes) = (root.task, root.items.size());
            root.live = false;
            let item = Box::new(std::mem::take(&mut root.items));
            cx.bury(root.task, root.epoch, root.attempt, Arc::clone(reason), item);
            self.free.push(slot);
            return Some(Ended::Dead { task, bytes });
        }
        let at = cx.now.clock.saturating_add(cx.backoff(root.attempt));
        self.due.push(Reverse((at, slot)));
        Some(Ended::Retry)
    }

    /// A failed root of several items (what one `close` emitted): each becomes a root of its own,
    /// in the same step, and all of them hold the epoch.
    fn split(&mut self, slot: u32, keep: Option<CopyItem<B>>, cx: &mut Shared) -> Ended {
        let all = &mut self.slots[slot as usize];
        let all_items = Loose(std::mem::take(&mut all.items));
        let items = &all_items.0;
        let (task, epoch, lineage) = (all.task, all.epoch, all.lineage);
        self.discard(slot);
        self.epochs.add(epoch, -1);
        if let Some(keep) = keep {
            for i in 0..items.len() {
                let id = cx.root_ids.next_id().get();
                let slot = self.take_slot();
                let root = &mut self.slots[slot as usize];
                keep(items, i, &mut root.items);
                (root.live, root.check, root.parted) = (true, false, true);
                // The one they shared was nobody's own: each has all its attempts before it.
                (root.id, root.attempt, root.task, root.epoch) = (id, 0, task, epoch);
                root.lineage = lineage::item(lineage, i, items.len());
                root.born = cx.now.mono;
                self.epochs.add(epoch, 1);
                self.due.push(Reverse((cx.now.clock, slot)));
            }
        }
        Ended::Retry
    }

    fn discard(&mut self, slot: u32) {
        self.free.push(slot);
        let root = &mut self.slots[slot as usize];
        root.live = false;
        let large = root.items.size() > self.large;
        cut(&mut root.items, 0);
        if large {
            root.items = B::default();
        }
    }

    /// When the next attempt of some root is due, by the clock of time-outs.
    pub(crate) fn retry_at(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Starts the next attempt of a root that is due, if it is of epoch `of` (or that is `None`).
    pub(crate) fn next_due(&mut self, of: Option<Epoch>, cx: &mut Shared) -> Option<Due<'_, B>> {
        let &Reverse((at, slot)) = self.due.peek()?;
        let root = self.slots.get_mut(slot as usize)?;
        if at > cx.now.clock || of.is_some_and(|of| of != root.epoch) {
            return None;
        }
        self.due.pop();
        root.attempt += 1;
        let (epoch, task, lineage) = (root.epoch, root.task, root.lineage);
        let run = self.start(slot, cx);
        let items = &self.slots.get(slot as usize)?.items;
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
            .find(|root| root.live && root.epoch == epoch)
            .map_or(TaskId::MAX, |root| root.task)
    }

    /// Every root that has no verdict: what a cut-short run leaves behind.
    pub(crate) fn unfinished(&self, each: &mut dyn FnMut(TaskId, Epoch, u32)) {
        for root in self.slots.iter().filter(|root| root.live) {
            each(root.task, root.epoch, root.attempt);
        }
    }
}
