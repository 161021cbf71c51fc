//! One edge: which task gets each tuple.

use core::fmt;

use super::delivery::Delivery;
use super::host::guarded;
use super::lineage;
use super::placer::{Open, Placer, give_out};
use super::port::{Run, Span};
use super::shared::Shared;
use super::{ComponentId, EdgeId, Epoch, Plan, TaskId, WorkerId};
use crate::batch::Batch;
use crate::grouping::{CopyItem, HashAll, Rule};
use crate::key::slot_of;

/// An edge as declared.
pub(crate) struct EdgeDef<B: Batch> {
    pub(crate) id: EdgeId,
    pub(crate) to: ComponentId,
    pub(crate) rule: Rule<B>,
    /// What the checking mode is to see of the items.
    pub(crate) print: Option<HashAll<B>>,
    pub(crate) copy: Option<CopyItem<B>>,
}

impl<B: Batch> fmt::Debug for EdgeDef<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EdgeDef")
            .field("id", &self.id)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}

/// What is known of buffered items beside themselves.
#[derive(Clone, Copy)]
pub(crate) struct Tags<'a> {
    /// The runs that they hang from, where roots are tracked.
    pub(crate) spans: &'a [Span],
    /// Their lineages, under exactly once.
    pub(crate) lineages: &'a [u64],
}

pub(super) const NO_TASK: u32 = u32::MAX;

/// An edge at one sending worker.
pub(crate) struct Edge<B: Batch> {
    pub(super) id: EdgeId,
    pub(super) to: ComponentId,
    pub(super) rule: Rule<B>,
    print: Option<HashAll<B>>,
    pub(super) copy: Option<CopyItem<B>>,
    first_task: TaskId,
    pub(super) tasks: u32,
    slot_bits: u32,
    /// Worker and local number of each task, by the table of version `version`.
    pub(super) places: Vec<(WorkerId, u32)>,
    /// The tasks by their places.
    pub(super) order: Vec<u32>,
    version: usize,
    turn: u32,
    credit: Vec<i128>,
    near: Vec<u32>,
    pub(super) open: Vec<Open<B>>,
    /// Boxed as they travel, so that one comes and goes without a copy.
    #[allow(clippy::vec_box)]
    pub(super) pool: Vec<Box<Delivery<B>>>,
    pub(super) pool_limit: usize,
    pub(super) batch: usize,
    pub(super) batch_bytes: usize,
    /// Whether each item is to be weighed: the buffer at hand is larger than a batch.
    pub(super) strict: bool,
    pub(super) chosen: Vec<u32>,
    hashes: Vec<u64>,
    /// Items whose grouping panicked, with the message.
    pub(super) panics: Vec<(usize, String)>,
}

/// Lets `fill` fill `list` up to `len` entries; where it panics, the entry is `instead`.
fn complete<T: Copy>(
    list: &mut Vec<T>,
    len: usize,
    instead: T,
    panics: &mut Vec<(usize, String)>,
    fill: &mut dyn FnMut(&mut Vec<T>),
) {
    panics.clear();
    while list.len() < len {
        if let Err(message) = guarded(|| fill(list)) {
            panics.push((list.len(), message));
            list.push(instead);
        }
    }
}

impl<B: Batch> Edge<B> {
    pub(crate) fn new(
        def: &EdgeDef<B>,
        copy: Option<CopyItem<B>>,
        plan: &Plan,
        me: WorkerId,
    ) -> Self {
        let to = &plan.components[def.to as usize];
        let table = plan.tables.at(0);
        let on = |worker: &dyn Fn(WorkerId) -> bool| -> Vec<u32> {
            (0..to.tasks)
                .filter(|task| worker(table.workers[(to.first_task + task) as usize]))
                .collect()
        };
        // Local = same worker, then same node.
        let mut near = on(&|worker| worker == me);
        if near.is_empty() {
            near = on(&|worker| plan.nodes[worker as usize] == plan.nodes[me as usize]);
        }
        let workers = plan.config.workers as usize;
        // As many as can be under way: in each worker's queue, in the outbox, filling up.
        let pool_limit = (workers + 1) * (plan.config.queue + 2);
        let credit = if let Rule::Weighted(w) = &def.rule { vec![0; w.len()] } else { Vec::new() };
        Edge {
            id: def.id,
            to: def.to,
            rule: def.rule.clone(),
            print: def.print.clone(),
            copy,
            first_task: to.first_task,
            tasks: to.tasks,
            slot_bits: plan.slot_bits(def.to),
            places: Vec::new(),
            order: Vec::new(),
            version: usize::MAX,
            turn: me % to.tasks.max(1),
            credit,
            near,
            open: (0..workers).map(|_| Open::default()).collect(),
            pool: Vec::with_capacity(pool_limit.min(64)),
            pool_limit,
            batch: plan.config.batch,
            batch_bytes: plan.config.batch_bytes,
            strict: false,
            chosen: Vec::new(),
            hashes: Vec::new(),
            panics: Vec::new(),
        }
    }

    pub(crate) fn id(&self) -> EdgeId {
        self.id
    }

    /// Routes a buffer of items: copies where `copy` is given, else moves them out.
    pub(crate) fn route(
        &mut self,
        items: &mut B,
        copy: Option<CopyItem<B>>,
        tags: Tags<'_>,
        roots: &mut [Run],
        epoch: Epoch,
        cx: &mut Shared,
    ) {
        self.look_up(epoch, &cx.plan);
        self.begin(items.size());
        if cx.check.is_none()
            && let Some(task) = self.sole()
            && self.fits(items)
        {
            self.pour(items, copy, tags, roots, task, epoch, cx);
            self.seal_full(cx);
            return;
        }
        if !matches!(self.rule, Rule::All(_)) {
            self.choose(items, tags.lineages);
        }
        self.check(items, tags.lineages, epoch, cx);
        if let Rule::All(copy) = self.rule {
            let len = items.len();
            // Tasks that together get about a batch's worth: were all batches looked at only after
            // the last task, those of a worker with many would be as many times too large.
            let some = u32::try_from(self.batch_bytes / items.size().max(1)).unwrap_or(u32::MAX);
            for task in 0..self.tasks {
                if task > 0 && task % some.max(1) == 0 {
                    self.seal_full(cx);
                }
                let mut placer = Placer::new(self, tags, roots, epoch, cx);
                for i in 0..len {
                    if let Some(part) = placer.place_at(i, task) {
                        copy(items, i, part);
                    }
                }
            }
            self.seal_full(cx);
            return;
        }
        if self.deals(items, tags) {
            self.deal(items, copy, tags, roots, epoch, cx);
        } else {
            give_out(items, copy, &mut Placer::new(self, tags, roots, epoch, cx));
        }
        self.seal_full(cx);
    }

    /// The one task that every item goes to, whatever it is, if there is just one.
    fn sole(&self) -> Option<u32> {
        match self.rule {
            Rule::Global => Some(0),
            Rule::Fields(_) | Rule::Shuffle | Rule::Weighted(_) => (self.tasks == 1).then_some(0),
            Rule::LocalOrShuffle => match self.near[..] {
                [task] => Some(task),
                _ => None,
            },
            Rule::Direct(_) | Rule::All(_) => None,
        }
    }

    /// Takes the places of the tasks from the table of `epoch`, unless it is the one at hand.
    fn look_up(&mut self, epoch: Epoch, plan: &Plan) {
        let table = plan.tables.at(epoch);
        if table.version != self.version {
            let tasks = self.first_task as usize..(self.first_task + self.tasks) as usize;
            self.places.clear();
            self.places.extend(tasks.map(|task| (table.workers[task], table.local[task])));
            self.order.clear();
            self.order.extend(0..self.tasks);
            self.order.sort_unstable_by_key(|&task| self.places[task as usize]);
            self.version = table.version;
        }
    }

    /// Fills `chosen` with the task of each item: by its lineage where it has one.
    fn choose(&mut self, items: &B, lineages: &[u64]) {
        let (len, tasks) = (items.len(), self.tasks);
        self.chosen.clear();
        match &self.rule {
            Rule::Fields(hash) => {
                let hashes = &mut self.hashes;
                hashes.clear();
                hashes.reserve(len);
                let panics = &mut self.panics;
                complete(hashes, len, 0, panics, &mut |hashes| hash(items, hashes));
                let bits = self.slot_bits;
                // Slot s of 2^b belongs to task ⌊s · tasks / 2^b⌋.
                self.chosen.extend(self.hashes.iter().map(|&hash| {
                    let task = (u64::from(slot_of(hash, bits)) * u64::from(tasks)) >> bits;
                    u32::try_from(task).unwrap_or(0)
                }));
            }
            Rule::Shuffle if !lineages.is_empty() => self.pick(lineages, u64::from(tasks)),
            Rule::Shuffle => {
                for _ in 0..len {
                    self.chosen.push(self.turn);
                    self.turn = if self.turn + 1 >= tasks { 0 } else { self.turn + 1 };
                }
            }
            Rule::LocalOrShuffle if !lineages.is_empty() => {
                self.pick(lineages, self.near.len() as u64);
                for task in &mut self.chosen {
                    *task = self.near.get(*task as usize).copied().unwrap_or(0);
                }
            }
            Rule::LocalOrShuffle => {
                let near = u32::try_from(self.near.len()).unwrap_or(u32::MAX);
                for _ in 0..len {
                    self.turn = if self.turn + 1 >= near { 0 } else { self.turn + 1 };
                    self.chosen.push(self.near.get(self.turn as usize).copied().unwrap_or(0));
                }
            }
            Rule::Global => self.chosen.resize(len, 0),
            Rule::Direct(task) => {
                let chosen = &mut self.chosen;
                let panics = &mut self.panics;
                complete(chosen, len, NO_TASK, panics, &mut |chosen| task(items, tasks, chosen));
            }
            Rule::Weighted(weights) => {
                let total: i128 = weights.iter().map(|&w| i128::from(w)).sum();
                if !lineages.is_empty() {
                    let (salt, all) = (u64::from(self.id), u64::try_from(total).unwrap_or(1));
                    self.chosen.extend(lineages.iter().map(|&of| {
                        let mut left = lineage::pick(of, salt, all);
                        let mut task = 0;
                        for (at, &weight) in (0..).zip(weights) {
                            task = at;
                            match left.checked_sub(weight) {
                                Some(rest) => left = rest,
                                None => break,
                            }
                        }
                        task
                    }));
                    return;
                }
                for _ in 0..len {
                    // Smooth weighted round robin: all gain their weight, the richest pays the sum.
                    let mut best = 0;
                    for (i, (credit, &weight)) in self.credit.iter_mut().zip(weights).enumerate() {
                        *credit += i128::from(weight);
                        if i == 0 || *credit > best {
                            best = *credit;
                        }
                    }
                    let at = self.credit.iter().position(|&c| c == best).unwrap_or(0);
                    if let Some(credit) = self.credit.get_mut(at) {
                        *credit -= total;
                    }
                    self.chosen.push(u32::try_from(at).unwrap_or(0));
                }
            }
            Rule::All(_) => {}
        }
    }

    /// Picks one of `n` for each item: the same at every attempt.
    fn pick(&mut self, lineages: &[u64], n: u64) {
        let salt = u64::from(self.id);
        let picks = lineages.iter().map(|&of| lineage::pick(of, salt, n));
        self.chosen.extend(picks.map(|pick| u32::try_from(pick).unwrap_or(0)));
    }

    /// The checking mode: whether each item is what it was before, and user code sends it where it
    /// sent it before.
    fn check(&mut self, items: &B, lineages: &[u64], epoch: Epoch, cx: &mut Shared) {
        let Some(check) = &mut cx.check else { return };
        let mut agrees = |place: u64, prints: &mut dyn Iterator<Item = u64>| {
            let place = place << 32 | u64::from(self.id);
            lineages.iter().zip(prints).all(|(of, print)| check.agrees(epoch, *of, place, print))
        };
        let mut same = match self.rule {
            Rule::Fields(_) => agrees(1, &mut self.hashes.iter().copied()),
            Rule::Direct(_) => agrees(1, &mut self.chosen.iter().map(|&task| u64::from(task))),
            _ => true,
        };
        if let Some(print) = &self.print {
            let mut prints = Vec::with_capacity(items.len());
            complete(&mut prints, items.len(), 0, &mut Vec::new(), &mut |prints| {
                print(items, prints);
            });
            same &= agrees(2, &mut prints.into_iter());
        }
        if !same {
            cx.differs(cx.plan.edges[self.id as usize].from, epoch);
        }
    }
}
