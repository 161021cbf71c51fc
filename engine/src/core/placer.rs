//! The batches of one edge that are filling up for each worker, and how items come into them.

use acker::IdGen;

use super::delivery::{AnyDelivery, Delivery};
use super::lineage;
use super::port::{Run, Span};
use super::route::{Edge, NO_TASK, Tags};
use super::shared::Shared;
use super::{Envelope, Epoch, Nanos};
use crate::batch::{Batch, Places};
use crate::grouping::{CopyItem, Rule};
use crate::report::Reason;

const NO_RUN: u32 = u32::MAX;

/// A batch filling up for one worker.
pub(super) struct Open<B: Batch> {
    pub(super) delivery: Option<Box<Delivery<B>>>,
    pub(super) epoch: Epoch,
    since: Nanos,
    /// Items that it takes before it is looked at again.
    pub(super) left: usize,
    /// The run of the input that the newest run of the delivery stands for, this time of routing.
    last: u32,
}

impl<B: Batch> Default for Open<B> {
    fn default() -> Self {
        Open { delivery: None, epoch: 0, since: 0, left: 0, last: NO_RUN }
    }
}

impl<B: Batch> Edge<B> {
    /// Begins to route a buffer of `bytes`.
    pub(super) fn begin(&mut self, bytes: usize) {
        // Of an ordinary buffer a batch takes items till it is full by number, and is weighed once the
        // buffer is empty. A buffer is routed at a batch's worth of bytes: where it is far larger, its
        // records are, and each is weighed.
        self.strict = bytes / 2 > self.batch_bytes;
        for open in &mut self.open {
            open.last = NO_RUN;
            if self.strict {
                open.left = 0;
            }
        }
    }

    /// Whether a buffer may become one batch as it is.
    pub(super) fn fits(&self, items: &B) -> bool {
        items.len() <= 2 * self.batch && !self.strict
    }

    /// Sends a whole buffer to one task: its memory goes along, where the task's part is empty.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn pour(
        &mut self,
        items: &mut B,
        copy: Option<CopyItem<B>>,
        tags: Tags<'_>,
        roots: &mut [Run],
        task: u32,
        epoch: Epoch,
        cx: &mut Shared,
    ) {
        let len = items.len();
        let (worker, local) = self.places[task as usize];
        let (worker, local) = (worker as usize, local as usize);
        if self.open[worker].delivery.as_ref().is_some_and(|open| open.tuples + len > self.batch) {
            self.seal_for(worker, cx);
        }
        self.renew(worker, epoch, cx);
        let open = &mut self.open[worker];
        let Some(delivery) = &mut open.delivery else { return };
        let part = delivery.part(local);
        let before = part.items.len();
        if copy.is_none() && before == 0 {
            std::mem::swap(items, &mut part.items);
        } else {
            give_out(items, copy, &mut All(&mut part.items));
        }
        part.lineages.extend_from_slice(tags.lineages);
        for span in tags.spans {
            let Some(root) = roots.get_mut(span.run as usize) else { continue };
            let run = hang(root, &mut delivery.runs, &mut cx.edge_ids);
            let end = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(span.end);
            delivery.parts[local].spans.push(Span { run, end });
        }
        delivery.tuples += len;
        open.left = open.left.saturating_sub(len);
    }

    /// Seals the batches that are full: they leave now, not with the tuple after.
    pub(super) fn seal_full(&mut self, cx: &mut Shared) {
        for worker in 0..self.open.len() {
            if self.open[worker].delivery.as_mut().is_some_and(|open| {
                open.weigh();
                open.tuples >= self.batch || open.bytes >= self.batch_bytes
            }) {
                self.seal_for(worker, cx);
            }
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

    pub(super) fn seal_for(&mut self, worker: usize, cx: &mut Shared) {
        let open = &mut self.open[worker];
        let Some(mut body) = open.delivery.take() else { return };
        body.weigh();
        (open.last, open.left) = (NO_RUN, 0);
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
            let large = delivery.bytes / 2 > self.batch_bytes;
            delivery.reset();
            if !large {
                self.pool.push(delivery);
            }
        }
    }

    /// Makes sure of a batch for `worker` at `epoch` that takes at least one item.
    fn renew(&mut self, worker: usize, epoch: Epoch, cx: &mut Shared) {
        let open = &mut self.open[worker];
        if let Some(delivery) = &mut open.delivery {
            let same = open.epoch == epoch;
            if self.strict {
                delivery.weigh();
            }
            if same && delivery.tuples < self.batch && delivery.bytes < self.batch_bytes {
                open.left = if self.strict { 1 } else { self.batch - delivery.tuples };
                return;
            }
            self.seal_for(worker, cx);
        }
        // In flight from here on: the frontier must not pass a batch that is still filling up.
        cx.changes.in_flight(self.to, epoch, 1);
        self.open_for(worker, epoch, cx);
    }

    /// Opens an empty batch for `worker`, which has none.
    pub(super) fn open_for(&mut self, worker: usize, epoch: Epoch, cx: &Shared) {
        let delivery = self.pool.pop().unwrap_or_else(|| Box::new(Delivery::new(self.copy)));
        let left = if self.strict { 1 } else { self.batch };
        self.open[worker] =
            Open { delivery: Some(delivery), epoch, since: cx.now.mono, left, last: NO_RUN };
    }
}

/// Adds a run for tuples of `root` that travel together: all of them hang from one id.
#[inline]
pub(super) fn hang(root: &mut Run, runs: &mut Vec<Run>, ids: &mut IdGen) -> u32 {
    let id = acker::Delta::EMPTY.with(ids.next_id());
    root.untold = root.untold.merge(id);
    runs.push(root.child(id));
    u32::try_from(runs.len() - 1).unwrap_or(NO_RUN)
}

/// Gives every item of a buffer its place: copies it where `copy` is given, else moves it out.
#[inline]
pub(super) fn give_out<B: Batch>(
    items: &mut B,
    copy: Option<CopyItem<B>>,
    to: &mut impl Places<B>,
) {
    match copy {
        None => items.scatter(to),
        Some(copy) => {
            for i in 0..items.len() {
                if let Some(part) = to.place(i) {
                    copy(items, i, part);
                }
            }
        }
    }
}

/// Takes every item.
struct All<'a, B>(&'a mut B);

impl<B: Batch> Places<B> for All<'_, B> {
    #[inline]
    fn place(&mut self, _: usize) -> Option<&mut B> {
        Some(self.0)
    }
}

/// Puts item after item into the batch of its task's worker, and hangs it from its root.
pub(super) struct Placer<'a, B: Batch> {
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

impl<'a, B: Batch> Placer<'a, B> {
    pub(super) fn new(
        edge: &'a mut Edge<B>,
        tags: Tags<'a>,
        roots: &'a mut [Run],
        epoch: Epoch,
        cx: &'a mut Shared,
    ) -> Self {
        Placer { edge, tags, span: 0, roots, epoch, cx }
    }

    #[inline]
    pub(super) fn place_at(&mut self, i: usize, task: u32) -> Option<&mut B> {
        let run = self.run_of(i);
        if (task >= self.edge.tasks || !self.edge.panics.is_empty())
            && let Some(reason) = self.astray(i, task)
        {
            self.lead_astray(run, reason);
            return None;
        }
        let (worker, local) = self.edge.places[task as usize];
        let (worker, local) = (worker as usize, local as usize);
        let open = &self.edge.open[worker];
        if open.left == 0 || open.epoch != self.epoch {
            self.edge.renew(worker, self.epoch, self.cx);
        }
        let open = &mut self.edge.open[worker];
        open.left -= 1;
        let delivery = open.delivery.as_mut()?;
        delivery.tuples += 1;
        if delivery.parts.len() <= local {
            delivery.part(local);
        }
        let part = &mut delivery.parts[local];
        if let Some(&of) = self.tags.lineages.get(i) {
            // Each copy of `all` grouping is a tuple of its own.
            let all = matches!(self.edge.rule, Rule::All(_));
            part.lineages.push(if all { lineage::copy(of, task) } else { of });
        }
        if run != NO_RUN {
            if open.last != run {
                // The tuples of one root that travel together hang from one id.
                let root = self.roots.get_mut(run as usize)?;
                hang(root, &mut delivery.runs, &mut self.cx.edge_ids);
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
