//! Executing a batch: task by task, tuple by tuple, monomorphic in the bolt and the item type.

use acker::{Delta, Update};

use super::bolt_host::BoltHost;
use super::check::Check;
use super::contract::Sink;
use super::delivery::{Delivery, Part};
use super::host::{Cursor, Work, fail_run, guarded};
use super::port::{Ports, Run};
use super::shared::Shared;
use super::{Epoch, lineage};
use crate::batch::Batch;
use crate::component::Execute;
use crate::emitter::{EmitState, Emitter, Outputs};
use crate::report::{Reason, RunError, chain};

/// Tuples that were passed over.
#[derive(Clone, Copy, Debug, Default)]
struct Skipped {
    /// Lost on the way.
    lost: u64,
    /// Applied before.
    repeated: u64,
}

/// How a stretch of tuples of one task ended.
enum Stretch {
    /// At the part's end.
    End,
    /// The buffer is due to be routed.
    Buffered,
    /// The step has had its share of time.
    Late,
    /// This tuple failed with an error.
    Failed(String),
    /// This tuple made the bolt panic.
    Panicked(String),
    /// This tuple's record of this size was too large.
    TooLarge(usize),
    /// This tuple was deferred, or its call gave tickets back. Whether the buffer is due as well.
    Tickets(bool),
    /// Exactly once: this tuple repeats one that has an open ticket.
    Joined(u32),
    /// Exactly once: a bolt that keeps state emitted in execute.
    Misplaced,
    /// The checking mode: this tuple's replay led to another number of tuples.
    Differs,
}

/// Works on a batch of input type `B`: task by task, tuple by tuple.
pub(crate) fn run_input<Bl: Execute<B>, B: Batch>(
    host: &mut BoltHost<Bl>,
    work: &mut Work,
    cx: &mut Shared,
    sink: &mut dyn Sink,
) -> bool {
    let Work { envelope, cursor } = work;
    let (epoch, edge) = (envelope.epoch, envelope.edge as usize);
    let tracked = cx.tracked();
    host.state.now = cx.now.mono;
    host.state.epoch = epoch;
    host.state.input = cx.plan.edges[edge].input;
    host.state.tuple = true;
    let Some(delivery) = envelope.body.as_any_mut().downcast_mut::<Delivery<B>>() else {
        return true;
    };
    let Delivery { parts, runs, .. } = delivery;
    let mut going = true;
    while cursor.part < parts.len() && cursor.part < host.bolts.len() {
        let (task, part) = (cursor.part, &parts[cursor.part]);
        let len = part.items.len();
        if len == 0 {
            cursor.part += 1;
            continue;
        }
        let id = host.tasks[task].id;
        sink.enter(id);
        host.state.task = id;
        let from = cursor.at;
        let mut skipped = Skipped::default();
        while cursor.at < len {
            let check = cx.check.as_mut();
            let stretch =
                stretch(host, task, part, cursor, tracked, runs, from, &mut skipped, check, sink);
            let run = part.spans.get(cursor.span).map_or(0, |span| span.run);
            let (component, index) = (|| cx.name_of(id).to_owned(), cx.index_of(id));
            let reason = match stretch {
                Stretch::End => break,
                Stretch::Buffered => {
                    host.route(epoch, runs, cx);
                    if host.any_full(cx) {
                        going = false;
                        break;
                    }
                    continue;
                }
                Stretch::Tickets(due) => {
                    let emitted = host.keep_tickets(task, run, runs, epoch, cx);
                    if cx.fatal.is_some() {
                        going = false;
                        break;
                    }
                    if due {
                        host.route(epoch, runs, cx);
                    }
                    // As in `stretch`: the time is looked at after 1, 2, 4, 8 … tuples.
                    let done = cursor.at - from;
                    let late = done.is_power_of_two() && sink.late(done as u64);
                    if late || (due || emitted) && host.any_full(cx) {
                        host.route(epoch, runs, cx);
                        going = false;
                        break;
                    }
                    continue;
                }
                Stretch::Joined(slot) => {
                    host.join_ticket(slot, run, runs, cx);
                    continue;
                }
                Stretch::Late => {
                    // Nothing of this batch may lie in the buffer while others have their turn: a
                    // flush or close between would take it for its own.
                    host.route(epoch, runs, cx);
                    going = false;
                    break;
                }
                Stretch::Failed(message) => {
                    Reason::Failed { component: component(), task: index, message }
                }
                // The state may be torn: nothing that it counts can be trusted any more.
                Stretch::Panicked(message) if host.seen.is_some() => {
                    cx.fatal.get_or_insert(RunError::Callback {
                        call: "execute",
                        component: component(),
                        task: index,
                        epoch,
                        message,
                    });
                    going = false;
                    break;
                }
                Stretch::Misplaced => {
                    host.misplaced("execute", id, cx);
                    going = false;
                    break;
                }
                Stretch::Differs => {
                    cx.differs(host.component, epoch);
                    going = false;
                    break;
                }
                Stretch::Panicked(message) => {
                    Reason::Panicked { component: component(), task: index, message }
                }
                Stretch::TooLarge(size) => {
                    let limit = host.state.limit;
                    Reason::TooLarge { component: component(), task: index, size, limit }
                }
            };
            // The good ones before and after it in the batch stand; this one's emission does not.
            host.ports.rollback();
            host.state.oversize = None;
            if host.state.odd {
                host.abandon(task, &reason.to_string(), cx);
            }
            host.tasks[task].failed += 1;
            cursor.at += 1;
            fail_run(runs, run, reason, epoch, cx);
        }
        host.keep_wake(task);
        let emitted = host.emitted();
        let Skipped { lost, repeated } = skipped;
        let executed = (cursor.at - from) as u64 - lost - repeated;
        let cost = cx.spent(sink.lap(id, executed));
        let figures = &mut host.tasks[task];
        figures.emitted += emitted;
        figures.executed += executed;
        figures.charge(cost);
        cx.edges[edge].executed += executed;
        cx.edges[edge].lost += lost;
        cx.edges[edge].repeated += repeated;
        if !going {
            return false;
        }
        (cursor.at, cursor.span, cursor.lost) = (0, 0, 0);
        cursor.part += 1;
    }
    host.route(epoch, runs, cx);
    settle(runs, epoch, cx);
    host.applied(epoch, cx.now.mono);
    true
}

/// Executes tuples of one task until the part ends, the buffer is full, time is up or one of them
/// fails.
// The loop borrows the host's fields and the delivery's apart: a struct would borrow them whole.
#[allow(clippy::too_many_arguments)]
fn stretch<Bl: Execute<B>, B: Batch>(
    host: &mut BoltHost<Bl>,
    task: usize,
    part: &Part<B>,
    cursor: &mut Cursor,
    tracked: bool,
    runs: &mut [Run],
    from: usize,
    skipped: &mut Skipped,
    mut check: Option<&mut Check>,
    sink: &mut dyn Sink,
) -> Stretch {
    let bolt = &mut host.bolts[task];
    let (ports, state) = (&mut host.ports, &mut host.state);
    let (component, epoch, input) = (u64::from(host.component), state.epoch, state.input);
    if part.lost.is_empty() && part.lineages.is_empty() {
        return plain(bolt, ports, state, part, cursor, tracked, from, sink);
    }
    let mut seen = host.seen.as_mut().map(|seen| seen.page(epoch));
    let (items, spans) = (&part.items, &part.spans[..]);
    let len = items.len();
    let (at, span, next_lost) = (&mut cursor.at, &mut cursor.span, &mut cursor.lost);
    // The time is looked at after 1, 2, 4, 8 … tuples: often where they are slow, seldom where not.
    let (mut done, mut look) = (0_usize, 1_usize);
    let outcome = guarded(|| {
        while *at < len {
            while spans.get(*span).is_some_and(|s| s.end as usize <= *at) {
                *span += 1;
            }
            let run = spans.get(*span).map_or(0, |s| s.run);
            if part.lost.get(*next_lost).is_some_and(|&lost| lost as usize == *at) {
                if let Some(run) = runs.get_mut(run as usize) {
                    run.tainted = true;
                }
                *next_lost += 1;
                skipped.lost += 1;
                *at += 1;
                continue;
            }
            // Named only under exactly once.
            let lineage = part.lineages.get(*at).copied();
            if let (Some(seen), Some(lineage)) = (&mut seen, lineage)
                && seen.repeats(lineage, input)
            {
                skipped.repeated += 1;
                *at += 1;
                continue;
            }
            if let (Some(_), Some(lineage)) = (&seen, lineage)
                && let Some(slot) = state.tickets.of(lineage, input)
            {
                skipped.repeated += 1;
                *at += 1;
                return Stretch::Joined(slot);
            }
            if let Err(error) = bolt.execute(items.item(*at), &mut Emitter { ports, state }) {
                return Stretch::Failed(chain(&*error));
            }
            let odd = state.odd;
            if odd {
                if let Some(size) = state.oversize {
                    return Stretch::TooLarge(size);
                }
                if let Some(why) = state.tickets.misuse.take() {
                    return Stretch::Failed(why);
                }
            }
            if let Some(lineage) = lineage {
                let counts = ports.counts();
                match (&mut seen, &mut check) {
                    (Some(_), _) if counts > 0 => return Stretch::Misplaced,
                    // Seen once it is released. A bolt without state has no repeats: what it emits
                    // has to come again with each attempt.
                    (Some(_), _) if odd && state.tickets.name(lineage, input) => {}
                    (Some(seen), _) => seen.note(lineage, input),
                    (None, Some(check)) => {
                        let of = lineage::by_input(lineage, input);
                        if !check.agrees(epoch, of, component, counts) {
                            return Stretch::Differs;
                        }
                    }
                    (None, None) => {}
                }
            }
            let due = ports.finish_tuple(run, tracked);
            if let Some(lineage) = lineage {
                ports.descend(lineage::by_input(lineage, input));
            }
            *at += 1;
            if due || odd {
                return if odd { Stretch::Tickets(due) } else { Stretch::Buffered };
            }
            done += 1;
            if done == look {
                if sink.late((*at - from) as u64) {
                    return Stretch::Late;
                }
                look *= 2;
            }
        }
        Stretch::End
    });
    outcome.unwrap_or_else(Stretch::Panicked)
}

/// As `stretch`, where no tuple was lost on the way and none has a lineage: nothing but user code
/// and a few compares a tuple.
#[allow(clippy::too_many_arguments)]
fn plain<Bl: Execute<B>, B: Batch>(
    bolt: &mut Bl,
    ports: &mut <Bl::Out as Outputs>::Ports,
    state: &mut EmitState,
    part: &Part<B>,
    cursor: &mut Cursor,
    tracked: bool,
    from: usize,
    sink: &mut dyn Sink,
) -> Stretch {
    let (items, spans) = (&part.items, &part.spans[..]);
    let len = items.len();
    let (mut done, mut look) = (0_usize, 1_usize);
    let outcome = guarded(|| {
        // Written back come what may: the tuple that panics is the one the cursor stands at.
        let mut now = Place { at: cursor.at, cursor };
        while now.at < len {
            while spans.get(now.cursor.span).is_some_and(|s| s.end as usize <= now.at) {
                now.cursor.span += 1;
            }
            let span = spans.get(now.cursor.span);
            let (run, end) = span.map_or((0, len), |s| (s.run, (s.end as usize).min(len)));
            // Up to the next look at the clock.
            let stop = end.min(now.at + look - done);
            let first = now.at;
            while now.at < stop {
                if let Err(error) = bolt.execute(items.item(now.at), &mut Emitter { ports, state })
                {
                    return Stretch::Failed(chain(&*error));
                }
                if state.odd {
                    if let Some(size) = state.oversize {
                        return Stretch::TooLarge(size);
                    }
                    if let Some(why) = state.tickets.misuse.take() {
                        return Stretch::Failed(why);
                    }
                    let due = ports.finish_tuple(run, tracked);
                    now.at += 1;
                    return Stretch::Tickets(due);
                }
                let due = ports.finish_tuple(run, tracked);
                now.at += 1;
                if due {
                    return Stretch::Buffered;
                }
            }
            done += now.at - first;
            if done == look {
                if sink.late((now.at - from) as u64) {
                    return Stretch::Late;
                }
                look *= 2;
            }
        }
        Stretch::End
    });
    outcome.unwrap_or_else(Stretch::Panicked)
}

/// Where a stretch is, in a variable of its own rather than in memory.
struct Place<'a> {
    at: usize,
    cursor: &'a mut Cursor,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.cursor.at = self.at;
    }
}

/// Tells what the batch consumed and produced; runs of one root that follow each other are merged,
/// tainted ones are not acked.
fn settle(runs: &[Run], epoch: Epoch, cx: &mut Shared) {
    for of_one in runs.chunk_by(|a, b| a.track == b.track) {
        let mut sum = Delta::EMPTY;
        let mut sound = false;
        for run in of_one {
            if !run.tainted {
                sum = sum.merge(run.untold);
                sound = true;
            }
        }
        if sound && let Some(first) = of_one.first() {
            cx.ack(first, epoch, Update::new(sum, Delta::EMPTY));
        }
    }
}
