//! One edge: which task gets each tuple, and the batches that are filling up for each worker.

use core::fmt;

use super::delivery::{AnyDelivery, Delivery};
use super::host::guarded;
use super::lineage;
use super::port::{Run, Span};
use super::shared::Shared;
use super::{ComponentId, EdgeId, Envelope, Epoch, Nanos, Plan, TaskId, WorkerId};
use crate::batch::{Batch, Places};
use crate::grouping::{CopyItem, HashAll, Rule};
use crate::key::slot_of;
use crate::report::Reason;

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

/// A batch filling up for one worker.
struct Open<B: Batch> {
    delivery: Option<Box<Delivery<B>>>,
    epoch: Epoch,
    since: Nanos,
    /// The run of the input that the newest run of the delivery stands for, this time of routing.
    last: u32,
}

const NO_RUN: u32 = u32::MAX;
const NO_TASK: u32 = u32::MAX;

/// An edge at one sending worker.
pub(crate) struct Edge<B: Batch> {
    id: EdgeId,
    to: ComponentId,
    rule: Rule<B>,
    print: Option<HashAll<B>>,
    copy: Option<CopyItem<B>>,
    first_task: TaskId,
    tasks: u32,
    slot_bits: u32,
    /// Worker and local number of each task, by the table of version `version`.
    places: Vec<(WorkerId, u32)>,
    version: usize,
    turn: u32,
    credit: Vec<i128>,
    near: Vec<u32>,
    open: Vec<Open<B>>,
    /// Boxed as they travel, so that one comes and goes without a copy.
    #[allow(clippy::vec_box)]
    pool: Vec<Box<Delivery<B>>>,
    pool_limit: usize,
    batch_bytes: usize,
    chosen: Vec<u32>,
    hashes: Vec<u64>,
    /// Items whose grouping panicked, with the message.
    panics: Vec<(usize, String)>,
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
            version: usize::MAX,
            turn: me % to.tasks.max(1),
            credit,
            near,
            open: (0..workers)
                .map(|_| Open { delivery: None, epoch: 0, since: 0, last: NO_RUN })
                .collect(),
            pool: Vec::with_capacity(pool_limit.min(64)),
            pool_limit,
            batch_bytes: plan.config.batch_bytes,
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
        for open in &mut self.open {
            open.last = NO_RUN;
        }
        if !matches!(self.rule, Rule::All(_)) {
            self.choose(items, tags.lineages);
        }
        self.check(items, tags.lineages, epoch, cx);
        if let Rule::All(copy) = self.rule {
            let len = items.len();
            for task in 0..self.tasks {
                let mut placer = Placer { edge: self, tags, span: 0, roots, epoch, cx };
                for i in 0..len {
                    if let Some(part) = placer.place_at(i, task) {
                        copy(items, i, part);
                    }
                }
            }
            self.seal_full(cx);
            return;
        }
        let len = items.len();
        let mut placer = Placer { edge: self, tags, span: 0, roots, epoch, cx };
        match copy {
            None => items.scatter(&mut placer),
            Some(copy) => {
                for i in 0..len {
                    if let Some(part) = placer.place(i) {
                        copy(items, i, part);
                    }
                }
            }
        }
        self.seal_full(cx);
    }

    /// Seals the batches that are full: they leave now, not with the tuple after.
    fn seal_full(&mut self, cx: &mut Shared) {
        let (batch, bytes) = (cx.plan.config.batch, cx.plan.config.batch_bytes);
        for worker in 0..self.open.len() {
            let open = self.open[worker].delivery.as_ref();
            if open.is_some_and(|open| open.tuples >= batch || open.size() >= bytes) {
                self.seal_for(worker, cx);
            }
        }
    }

    /// Takes the places of the tasks from the table of `epoch`, unless it is the one at hand.
    fn look_up(&mut self, epoch: Epoch, plan: &Plan) {
        let version = plan.tables.version(epoch);
        if version != self.version {
            let table = plan.tables.at(epoch);
            let tasks = self.first_task as usize..(self.first_task + self.tasks) as usize;
            self.places.clear();
            self.places.extend(tasks.map(|task| (table.workers[task], table.local[task])));
            self.version = version;
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

    /// Seals open batches, with `before` only those open since then or earlier.
    pub(crate) fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared) {
        for worker in 0..self.open.len() {
            if before.is_none_or(|before| self.open[worker].since <= before) {
                self.seal_for(worker, cx);
            }
        }
    }

    fn seal_for(&mut self, worker: usize, cx: &mut Shared) {
        let open = &mut self.open[worker];
        let Some(body) = open.delivery.take() else { return };
        open.last = NO_RUN;
        cx.edges[self.id as usize].transferred += body.tuples as u64;
        cx.outbox.push(Envelope {
            from: cx.me,
            to: u32::try_from(worker).unwrap_or(0),
            component: self.to,
            edge: self.id,
            epoch: open.epoch,
            number: 0,
            incarnation: cx.incarnation,
            body,
        });
    }

    pub(crate) fn open_since(&self) -> Option<Nanos> {
        self.open.iter().filter(|o| o.delivery.is_some()).map(|o| o.since).min()
    }

    /// Takes back a delivery for the next use.
    pub(crate) fn recycle(&mut self, body: Box<dyn AnyDelivery>) {
        if self.pool.len() < self.pool_limit
            && let Ok(mut delivery) = body.into_any().downcast::<Delivery<B>>()
        {
            // An arena that a huge record has stretched is not kept.
            let large = delivery.size() / 2 > self.batch_bytes;
            delivery.reset();
            if !large {
                self.pool.push(delivery);
            }
        }
    }

    /// The batch for `worker` at `epoch`, opened if need be.
    fn open_for(&mut self, worker: usize, epoch: Epoch, cx: &mut Shared) {
        let open = &self.open[worker];
        if let Some(delivery) = &open.delivery {
            let config = &cx.plan.config;
            let full = delivery.tuples >= config.batch || delivery.size() >= config.batch_bytes;
            if open.epoch == epoch && !full {
                return;
            }
            self.seal_for(worker, cx);
        }
        let delivery = self.pool.pop().unwrap_or_else(|| Box::new(Delivery::new(self.copy)));
        // In flight from here on: the frontier must not pass a batch that is still filling up.
        cx.changes.in_flight(self.to, epoch, 1);
        self.open[worker] =
            Open { delivery: Some(delivery), epoch, since: cx.now.mono, last: NO_RUN };
    }
}

/// Puts item after item into the batch of its task's worker, and hangs it from its root.
struct Placer<'a, B: Batch> {
    edge: &'a mut Edge<B>,
    tags: Tags<'a>,
    span: usize,
    roots: &'a mut [Run],
    epoch: Epoch,
    cx: &'a mut Shared,
}

impl<B: Batch> Places<B> for Placer<'_, B> {
    #[inline]
    fn place(&mut self, i: usize) -> Option<&mut B> {
        let task = self.edge.chosen.get(i).copied().unwrap_or(NO_TASK);
        self.place_at(i, task)
    }
}

impl<B: Batch> Placer<'_, B> {
    #[inline]
    fn place_at(&mut self, i: usize, task: u32) -> Option<&mut B> {
        let run = self.run_of(i);
        if (task >= self.edge.tasks || !self.edge.panics.is_empty())
            && let Some(reason) = self.astray(i, task)
        {
            self.lead_astray(run, reason);
            return None;
        }
        let (worker, local) = self.edge.places[task as usize];
        let (worker, local) = (worker as usize, local as usize);
        self.edge.open_for(worker, self.epoch, self.cx);
        let open = &mut self.edge.open[worker];
        let delivery = open.delivery.as_mut()?;
        while delivery.parts.len() <= local {
            delivery.parts.push(super::delivery::Part {
                items: B::default(),
                spans: Vec::new(),
                lineages: Vec::new(),
                lost: Vec::new(),
            });
        }
        delivery.tuples += 1;
        delivery.turn_to(local);
        let part = delivery.parts.get_mut(local)?;
        if let Some(&of) = self.tags.lineages.get(i) {
            // Each copy of `all` grouping is a tuple of its own.
            let all = matches!(self.edge.rule, Rule::All(_));
            part.lineages.push(if all { lineage::copy(of, task) } else { of });
        }
        if run != NO_RUN {
            if open.last != run {
                // The tuples of one root that travel together hang from one id.
                let root = self.roots.get_mut(run as usize)?;
                let id = acker::Delta::EMPTY.with(self.cx.edge_ids.next_id());
                root.untold = root.untold.merge(id);
                delivery.runs.push(root.child(id));
                open.last = run;
            }
            let last = u32::try_from(delivery.runs.len() - 1).unwrap_or(NO_RUN);
            let end = u32::try_from(part.items.len() + 1).unwrap_or(u32::MAX);
            match part.spans.last_mut() {
                Some(span) if span.run == last => span.end = end,
                _ => part.spans.push(Span { run: last, end }),
            }
        }
        Some(&mut part.items)
    }

    /// The run that item `i` hangs from; items come in order (again from 0 for `all`).
    #[inline]
    fn run_of(&mut self, i: usize) -> u32 {
        while let Some(span) = self.tags.spans.get(self.span) {
            if (span.end as usize) > i {
                return span.run;
            }
            self.span += 1;
        }
        NO_RUN
    }

    /// Why item `i` has no task, if it has none.
    #[cold]
    fn astray(&self, i: usize, task: u32) -> Option<Reason> {
        let component = || self.cx.plan.components[self.edge.to as usize].name.clone();
        if let Some((_, message)) = self.edge.panics.iter().find(|(at, _)| *at == i) {
            return Some(Reason::Grouping { component: component(), message: message.clone() });
        }
        let tasks = self.edge.tasks;
        (task >= tasks).then(|| Reason::NoSuchTask { component: component(), task, tasks })
    }

    fn lead_astray(&mut self, run: u32, reason: Reason) {
        if let Some(root) = self.roots.get_mut(run as usize) {
            // An id that nobody will ever ack: else a root that is sent nowhere would be done.
            root.untold = root.untold.merge(acker::Delta::EMPTY.with(self.cx.edge_ids.next_id()));
        }
        self.cx.edges[self.edge.id as usize].astray += 1;
        self.cx.astray.push((run, reason));
    }
}
