//! The end of a run: its report and figures, or why it did not end.

use std::time::Duration;

use super::engine::Engine;
use super::error::SimError;
use super::outcome::Outcome;
use super::seat::At;
use crate::driver::summary;
use crate::driver::threads::Stop;
use crate::driver::totals::Totals;

impl Engine<'_> {
    /// What holds the run, for people.
    pub(super) fn holds(&self) -> String {
        if let Some(stall) = self.coordinator.holding(self.net.now) {
            return stall.to_string();
        }
        let working = self.seats.iter().find(|seat| seat.at == At::Working);
        match working {
            Some(seat) => format!("worker {} is in a step", seat.worker),
            None => "nothing is under way: a spout has not ended, and emits nothing".to_owned(),
        }
    }

    /// Puts the figures together.
    pub(super) fn finish(mut self) -> Result<Outcome, SimError> {
        let (at, seed) = (self.at(), self.seed);
        let complete = self.asked == Stop::Never;
        let addresses = self.net.addresses.last().cloned().unwrap_or_default();
        let left = self.net.queues.taken(&addresses);
        if complete && left > 0 {
            return Err(SimError::LeftOver { batches: left, at, seed });
        }
        let end = self.finished_at.unwrap_or(self.net.now);
        let mut totals = Totals::default();
        let last = self.ends.pop().unwrap_or_default();
        for ends in self.ends.drain(..) {
            totals.add(ends);
            totals.died(self.desk.plan.config.tracked());
        }
        totals.add(last);
        let crashes = self.coordinator.crashes().to_vec();
        let letters = std::mem::take(&mut self.desk.letters);
        let rest = summary::Rest {
            complete,
            drained: self.asked == Stop::Drain,
            elapsed: Duration::from_nanos(end),
            epochs: self.coordinator.closed(),
            dead: letters.count,
            letters: letters.kept,
            crashes,
            stalls: std::mem::take(&mut self.stalls),
            overruns: std::mem::take(&mut self.desk.overruns),
            stuck: Vec::new(),
        };
        let report = summary::report(&self.desk.plan, totals, rest);
        let mut trace = self.net.trace;
        trace.words(&[end, report.records, report.acked, report.replayed, report.failed]);
        trace.words(&[report.dead, report.epochs, self.events]);
        Ok(Outcome {
            trace: trace.value(),
            events: self.events,
            seed,
            nodes: self.net.nodes.iter().map(|node| node.stats(self.net.now)).collect(),
            links: self.net.links(),
            faults: self.net.stats,
            peak_queue: self.net.queues.peak,
            repeats: self.repeats,
            steps: self.steps,
            spins: self.spins,
            report,
        })
    }
}
