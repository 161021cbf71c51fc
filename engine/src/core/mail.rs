//! A worker's mail: what it takes in, and what it sends when a turn of work is done.

use std::sync::Arc;

use super::contract::Sink;
use super::message::{Body, Change, Empty, Envelope, Loss, Message, Report, VerdictOp, Word};
use super::worker::Worker;
use crate::report::RunError;

/// Verdicts whose roots are looked up together.
pub(super) const AHEAD: usize = 64;

impl Worker {
    pub(super) fn take_batch(&mut self, envelope: Envelope, sink: &mut impl Sink) {
        let Envelope { from, number, incarnation, component, epoch, .. } = envelope;
        if !self.is_fresh(from, number, incarnation) {
            // Another copy of it was counted out, or will be.
            sink.consumed(component);
            return;
        }
        match self.seat_of.get(component as usize).copied().flatten() {
            Some(seat) => self.seats[seat].queue.push_back(envelope),
            None => {
                self.cx.changes.in_flight(component, epoch, -1);
                sink.consumed(component);
            }
        }
    }

    /// A lost batch is counted out where it would have been: after its sender counted it in, before
    /// or after no matter what else, and once whatever copies of it there are.
    pub(super) fn take_loss(&mut self, loss: Loss, sink: &mut impl Sink) {
        if self.is_fresh(loss.from, loss.number, loss.incarnation) {
            self.cx.changes.in_flight(loss.component, loss.epoch, -1);
            if let Some(edge) = self.cx.edges.get_mut(loss.edge as usize) {
                edge.lost += loss.tuples;
            }
        }
        sink.consumed(loss.component);
    }

    /// Whether the batch of this number is of this incarnation, and new; if not, it is counted so.
    fn is_fresh(&mut self, from: super::WorkerId, number: u64, incarnation: u64) -> bool {
        let fresh = incarnation == self.cx.incarnation
            && self.lanes.get_mut(from as usize).is_some_and(|lanes| lanes.data.accept(number));
        if !fresh {
            self.hear_of(incarnation);
        }
        fresh
    }

    pub(super) fn take_message(&mut self, message: Message, sink: &mut impl Sink) {
        let from = message.from;
        let fresh = message.incarnation == self.cx.incarnation
            && self.lanes.get_mut(from as usize).is_some_and(|lanes| {
                match &message.body {
                    Body::Inits(_) => &mut lanes.inits,
                    Body::Acks(_) | Body::Fail(_) => &mut lanes.acks,
                    Body::Verdicts(_) => &mut lanes.verdicts,
                }
                .accept(message.number)
            });
        if !fresh {
            self.hear_of(message.incarnation);
            return;
        }
        let plan = Arc::clone(&self.cx.plan);
        match message.body {
            Body::Inits(mut ops) => {
                for op in ops.drain(..) {
                    self.acker.init(&op, &plan, &mut self.verdicts);
                }
                sink.recycle(from, Empty::Inits(ops));
            }
            Body::Acks(mut ops) => {
                for op in ops.drain(..) {
                    self.acker.apply(&op, &plan, &mut self.verdicts);
                }
                sink.recycle(from, Empty::Acks(ops));
            }
            Body::Fail(op) => self.acker.fail(&op, &plan, &mut self.verdicts),
            Body::Verdicts(mut ops) => {
                self.hear_all(&ops);
                ops.clear();
                sink.recycle(from, Empty::Verdicts(ops));
            }
        }
        self.pass_on(sink);
    }

    /// Something is dropped as a repeat or as of another incarnation. If that is a later one, this
    /// worker's time is over.
    pub(super) fn hear_of(&mut self, incarnation: u64) {
        self.repeats += 1;
        self.stopped |= incarnation > self.cx.incarnation;
    }

    pub(super) fn take_word(&mut self, word: Word, sink: &mut impl Sink) -> Result<(), RunError> {
        match word {
            Word::Prepare(epoch) => {
                if !self.opened {
                    self.opened = true;
                    for seat in &mut self.seats {
                        seat.host.open(&self.waker, &mut self.cx, sink)?;
                    }
                }
                self.cx.changes.list.push(Change::Confirmed(epoch));
            }
            Word::Horizon(epoch) => {
                self.horizon = self.horizon.max(epoch);
                self.advance(sink);
            }
            Word::End(epoch) => {
                self.end = self.end.max(epoch.saturating_add(1));
                self.advance(sink);
            }
            Word::Last(epoch) => {
                self.last = epoch.saturating_add(1);
                self.end = self.end.max(self.last);
                self.advance(sink);
            }
            Word::Frontier { component, epoch } => {
                if let Some(Some(seat)) = self.seat_of.get(component as usize) {
                    let seat = &mut self.seats[*seat];
                    seat.frontier = seat.frontier.max(epoch);
                }
            }
            Word::Watermark { epoch, mark } => self.cx.watermarks.give(epoch, mark),
            Word::ClosedBelow(epoch) => {
                self.acker.forget_below(epoch);
                if let Some(check) = &mut self.cx.check {
                    check.forget_below(epoch);
                }
                self.cx.watermarks.forget_below(epoch);
            }
            Word::Drain => {
                for seat in &mut self.seats {
                    seat.host.drain(&mut self.cx, sink);
                }
            }
            Word::Stop => self.stopped = true,
        }
        Ok(())
    }

    fn advance(&mut self, sink: &mut impl Sink) {
        for seat in &mut self.seats {
            seat.host.advance(self.end, self.horizon, &mut self.cx, sink);
        }
    }

    pub(super) fn take_empty(&mut self, empty: Empty) {
        const KEEP: usize = 64;
        // A list that comes back has room for a batch's worth from then on.
        let room = self.cx.plan.config.batch.min(1024);
        match empty {
            Empty::Delivery(edge, body) => self.recycle(edge, body),
            Empty::Acks(mut ops) if self.empty_acks.len() < KEEP => {
                ops.reserve(room);
                self.empty_acks.push(ops);
            }
            Empty::Inits(mut ops) if self.empty_inits.len() < KEEP => {
                ops.reserve(room);
                self.empty_inits.push(ops);
            }
            Empty::Verdicts(mut ops) if self.empty_verdicts.len() < KEEP => {
                ops.reserve(room);
                self.empty_verdicts.push(ops);
            }
            Empty::Changes(mut changes) if self.empty_changes.len() < KEEP => {
                changes.reserve(256);
                self.empty_changes.push(changes);
            }
            _ => {}
        }
    }

    pub(super) fn recycle(&mut self, edge: super::EdgeId, body: Box<dyn super::AnyDelivery>) {
        let from = self.cx.plan.edges[edge as usize].from;
        if let Some(seat) = self.seat_of[from as usize] {
            self.seats[seat].host.recycle(edge, body);
        }
    }

    /// Delivers acks, inits, fails and verdicts: here at once, elsewhere as messages. Whether any
    /// verdict was heard here.
    pub(super) fn pass_on(&mut self, sink: &mut impl Sink) -> bool {
        let me = self.cx.me as usize;
        let plan = Arc::clone(&self.cx.plan);
        for to in 0..self.cx.acks.len() {
            if to == me {
                for op in self.cx.inits[me].drain(..) {
                    self.acker.init(&op, &plan, &mut self.verdicts);
                }
                for op in self.cx.acks[me].drain(..) {
                    self.acker.apply(&op, &plan, &mut self.verdicts);
                }
                continue;
            }
            if !self.cx.inits[to].is_empty() {
                let next = self.empty_inits.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.cx.inits[to], next);
                self.send(to, 0, Body::Inits(ops), sink);
            }
            if !self.cx.acks[to].is_empty() {
                let next = self.empty_acks.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.cx.acks[to], next);
                self.send(to, 1, Body::Acks(ops), sink);
            }
        }
        while let Some(op) = self.cx.fails.pop() {
            let owner = plan.tables.at(op.epoch).owner(op.track) as usize;
            if owner == me {
                self.acker.fail(&op, &plan, &mut self.verdicts);
            } else {
                self.send(owner, 1, Body::Fail(op), sink);
            }
        }
        while let Some(op) = self.verdicts.pop() {
            let table = plan.tables.at(op.epoch);
            let to = table.workers.get(op.task as usize).copied().unwrap_or(0) as usize;
            self.outgoing[to].push(op);
        }
        let mut own = std::mem::take(&mut self.outgoing[me]);
        let heard = !own.is_empty();
        self.hear_all(&own);
        own.clear();
        self.outgoing[me] = own;
        for to in 0..self.outgoing.len() {
            if !self.outgoing[to].is_empty() {
                let next = self.empty_verdicts.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.outgoing[to], next);
                self.send(to, 2, Body::Verdicts(ops), sink);
            }
        }
        self.acker.measure();
        heard
    }

    fn send(&mut self, to: usize, lane: usize, body: Body, sink: &mut impl Sink) {
        let number = self.numbers[to][lane];
        self.numbers[to][lane] += 1;
        let (from, incarnation) = (self.cx.me, self.cx.incarnation);
        let to = u32::try_from(to).unwrap_or(0);
        sink.send(to, Message { from, number, incarnation, body });
    }

    fn hear_all(&mut self, ops: &[VerdictOp]) {
        for some in ops.chunks(AHEAD) {
            for seat in &mut self.seats {
                seat.host.look_ahead(some);
            }
            for op in some {
                self.hear(op);
            }
        }
    }

    fn hear(&mut self, op: &VerdictOp) {
        let component = self.cx.plan.component_of(op.task);
        if let Some(Some(seat)) = self.seat_of.get(component as usize) {
            self.seats[*seat].host.verdict(op, &mut self.cx);
        }
    }

    /// Tells the coordinator all changes since the last time, whole.
    pub(super) fn report(&mut self, urgent: bool, sink: &mut impl Sink) {
        self.last_report = self.cx.now.mono;
        for seat in &mut self.seats {
            let component = seat.host.component();
            if let Some(epoch) = seat.host.closed()
                && epoch != seat.told_closed
            {
                seat.told_closed = epoch;
                self.cx.changes.list.push(Change::Closed { component, epoch });
            }
            let held = seat.host.held();
            let epoch = held.map(|(epoch, _)| epoch);
            if epoch != seat.told_held {
                seat.told_held = epoch;
                self.cx.changes.list.push(Change::Held { component, oldest: held });
            }
            let ticket = seat.host.ticket();
            if ticket != seat.told_ticket {
                seat.told_ticket = ticket;
                self.cx.changes.list.push(Change::Ticket { component, oldest: ticket });
            }
        }
        if self.cx.changes.list.is_empty() {
            return;
        }
        let next = self.empty_changes.pop().unwrap_or_default();
        let changes = std::mem::replace(&mut self.cx.changes.list, next);
        let number = self.report_number;
        self.report_number += 1;
        let (from, incarnation) = (self.cx.me, self.cx.incarnation);
        sink.report(Report { from, number, incarnation, changes }, urgent);
    }
}
