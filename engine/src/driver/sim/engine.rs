//! The event loop: takes what is due next, lets workers step and the coordinator speak.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::calendar::Due;
use super::clock::Clock;
use super::error::{Cause, SimError};
use super::faults::Event;
use super::hands::{Desk, Office};
use super::letters::{Handler, Letters};
use super::net::Net;
use super::node::CostNanos;
use super::outcome::Outcome;
use super::post::{Parcel, Slot};
use super::seat::{At, Seat};
use super::wakers::Wakers;
use super::{Sim, check, incarnation};
use crate::config::whole;
use crate::core::{Coordinator, Nanos, Resume, Stall, Worker};
use crate::driver::threads::Stop;
use crate::driver::totals::Ends;
use crate::report::RunError;
use crate::topology::Topology;

/// Reports are gathered for so long before the coordinator looks at the time.
pub(super) const GATHER: Nanos = 500_000;

/// Events between two looks at the flag that stops the run from outside, and at the books.
const LOOK: u64 = 1024;

/// A run.
pub(super) struct Engine<'a> {
    pub(super) sim: &'a Sim,
    pub(super) topology: &'a Topology,
    /// Nodes that crashed or were given up.
    pub(super) notices: Vec<incarnation::Notice>,
    /// What the incarnation in force began with, if it is not the first.
    pub(super) resume: Option<Arc<Resume>>,
    pub(super) seed: u64,
    pub(super) net: Net,
    pub(super) desk: Desk,
    pub(super) coordinator: Coordinator,
    pub(super) seats: Vec<Seat>,
    /// By incarnation and worker: what each left.
    pub(super) ends: Vec<Ends>,
    pub(super) stalls: Vec<Stall>,
    pub(super) asked: Stop,
    pub(super) finished_at: Option<Nanos>,
    pub(super) events: u64,
    pub(super) steps: u64,
    pub(super) spins: u64,
    pub(super) repeats: u64,
    pub(super) workers: Vec<Option<Worker>>,
    pub(super) wakers: Wakers,
    pub(super) clock: Clock,
    tick_at: Nanos,
    pub(super) stopped: usize,
    pub(super) step_cost: Nanos,
    pub(super) message_cost: Nanos,
    /// Memory for the mail of a step.
    pub(super) mail: Vec<Parcel>,
    /// Memory for the senders that a free place wakes.
    pub(super) wake: Vec<Slot>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        sim: &'a Sim,
        topology: &'a Topology,
        on: Vec<u32>,
    ) -> Result<Self, SimError> {
        let plan = topology.plan();
        let config = &plan.config;
        let mut costs = vec![CostNanos::of(super::Cost::default()); plan.components.len()];
        for &(ref name, cost) in &sim.costs {
            let component = check::component(plan, "cost", name)?;
            costs[component as usize] = CostNanos::of(cost);
        }
        let mut net = Net::new(&sim.cluster, &sim.faults, on, plan, sim.seed);
        for &(ref name, bytes) in &sim.bytes {
            let component = check::component(plan, "bytes", name)?;
            net.bytes[component as usize] = Some(bytes);
        }
        let mut wakers = Wakers::new();
        let first = incarnation::FIRST;
        let worker = |me| Some(Worker::new(topology, me, first, wakers.waker(me)));
        let workers = (0..config.workers).map(worker).collect();
        Ok(Engine {
            sim,
            topology,
            notices: Vec::new(),
            resume: None,
            seed: sim.seed,
            net,
            desk: Desk::new(plan, costs, Letters::default()),
            coordinator: Coordinator::new(topology, first),
            seats: (0..config.workers).map(|me| Seat::new(me, 0)).collect(),
            ends: vec![(0..config.workers).map(|_| None).collect()],
            stalls: Vec::new(),
            asked: Stop::Never,
            finished_at: None,
            events: 0,
            steps: 0,
            spins: 0,
            repeats: 0,
            workers,
            clock: Clock::new(whole(config.overrun).min(whole(config.timeout) / 4)),
            wakers,
            tick_at: Nanos::MAX,
            stopped: 0,
            step_cost: whole(sim.overhead.step),
            message_cost: whole(sim.overhead.message),
            mail: Vec::new(),
            wake: Vec::new(),
        })
    }

    pub(super) fn at(&self) -> Duration {
        Duration::from_nanos(self.net.now)
    }

    pub(super) fn failed(&self, error: RunError) -> SimError {
        SimError::Run { error, at: self.at(), seed: self.seed }
    }

    /// Runs to the end.
    pub(super) fn run(mut self, letters: Option<Handler>) -> Result<Outcome, SimError> {
        self.desk.letters = Letters::new(letters);
        let outcome = self.events().and_then(|()| self.audit());
        for slot in (0..).take(self.seats.len()) {
            let times = self.seats[slot as usize].times();
            self.retire(slot, times);
        }
        outcome?;
        self.finish()
    }

    fn events(&mut self) -> Result<(), SimError> {
        let (until, most) = (whole(self.sim.until), self.sim.events);
        self.put_scenario();
        self.coordinator.start(0, &mut Office { desk: &mut self.desk, net: &mut self.net });
        self.coordinate();
        while self.stopped < self.desk.plan.config.workers as usize {
            let Some((at, due)) = self.net.calendar.next() else {
                let holds = self.holds();
                return Err(SimError::Deadlock { holds, at: self.at(), seed: self.seed });
            };
            self.events += 1;
            if at > until || self.events > most {
                let (holds, events) = (self.holds(), self.events);
                let limit = if at > until {
                    format!("{:?} of virtual time", self.sim.until)
                } else {
                    format!("{most} events")
                };
                return Err(SimError::NoEnd {
                    limit,
                    holds,
                    events,
                    at: self.at(),
                    seed: self.seed,
                });
            }
            self.net.now = at;
            if self.events.is_multiple_of(LOOK) {
                if self.told_to_stop() {
                    self.stop();
                }
                if cfg!(debug_assertions) {
                    self.audit()?;
                }
            }
            self.serve(at, due)?;
            if let Some(error) = self.desk.letters.failed.take() {
                return Err(self.failed(error));
            }
        }
        Ok(())
    }

    fn told_to_stop(&self) -> bool {
        self.sim.stop_when.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Puts what the scenario says into the calendar.
    fn put_scenario(&mut self) {
        let sim = self.sim;
        for (at, fault) in (0..).zip(&sim.faults.events) {
            self.net.calendar.put(whole(fault.at), Due::Fault(at));
        }
        if let Some(limit) = sim.faults.unreachable_after.map(whole) {
            for (node, state) in (0..).zip(&self.net.nodes) {
                for &(from, to) in state.windows.down() {
                    let at = from.saturating_add(limit);
                    if at < to {
                        self.net.calendar.put(at, Due::GiveUp(node));
                    }
                }
            }
        }
        if let Some(at) = sim.drain_at {
            self.net.calendar.put(whole(at), Due::Drain);
        }
        if let Some(at) = sim.stop_at {
            self.net.calendar.put(whole(at), Due::Stop);
        }
    }

    fn serve(&mut self, now: Nanos, due: Due) -> Result<(), SimError> {
        match due {
            Due::Depart(place) => {
                if let Some(parcel) = self.net.calendar.take(place) {
                    self.net.depart(parcel, now);
                }
            }
            Due::Arrive(place) => {
                if let Some(parcel) = self.net.calendar.take(place) {
                    self.arrive(parcel)?;
                }
            }
            Due::Go(slot) => {
                if self.seats[slot as usize].at == At::Called {
                    self.take_core(slot)?;
                }
            }
            Due::Done(slot) => self.done(slot)?,
            Due::Wake(slot) => {
                let seat = &mut self.seats[slot as usize];
                if seat.wake_due != now {
                    return Ok(());
                }
                seat.wake_due = Nanos::MAX;
                if seat.wake_at <= now {
                    self.call(slot);
                } else {
                    self.sleep(slot);
                }
            }
            Due::Room(slot) => {
                self.net.rooms.remove(&(now, slot));
                self.call(slot);
            }
            Due::Tick if now == self.tick_at => self.coordinate(),
            Due::Tick => {}
            Due::Fault(at) => self.fault(at),
            Due::GiveUp(node) => self.give_up(node as usize),
            Due::Noticed(at) => self.noticed(at)?,
            Due::Drain => self.drain(now),
            Due::Stop => self.stop(),
        }
        Ok(())
    }

    fn fault(&mut self, at: u32) {
        match self.sim.faults.events[at as usize].event {
            Event::Crash { node } => self.crash(node, Cause::Scenario),
            // Known to the network and the nodes from the start.
            Event::Unreachable { .. } | Event::Slow { .. } => {}
        }
    }

    fn drain(&mut self, now: Nanos) {
        if self.asked < Stop::Drain && !self.coordinator.finished() {
            self.asked = Stop::Drain;
            self.coordinator.drain(&mut Office { desk: &mut self.desk, net: &mut self.net });
            let patience = whole(self.desk.plan.config.drain);
            self.net.calendar.put(now.saturating_add(patience), Due::Stop);
        }
    }

    fn stop(&mut self) {
        if !self.coordinator.finished() {
            self.asked = Stop::Now;
            self.coordinator.stop(&mut Office { desk: &mut self.desk, net: &mut self.net });
            self.finished_at = Some(self.net.now);
        }
    }

    /// The coordinator looks at the time.
    pub(super) fn coordinate(&mut self) {
        let now = self.net.now;
        let next =
            self.coordinator.tick(now, &mut Office { desk: &mut self.desk, net: &mut self.net });
        self.stalls.extend(self.coordinator.take_stalls());
        self.net.trace.words(&[now, 10 << 32, self.coordinator.closed()]);
        self.tick_at = Nanos::MAX;
        if self.coordinator.finished() {
            self.finished_at.get_or_insert(now);
        } else if next < Nanos::MAX {
            self.tick_by(next);
        }
    }

    pub(super) fn tick_by(&mut self, at: Nanos) {
        if at < self.tick_at {
            self.tick_at = at;
            self.net.calendar.put(at, Due::Tick);
        }
    }
}
