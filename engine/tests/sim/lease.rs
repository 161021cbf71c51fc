//! At most once on nodes that are given up: the old workers stop before the new ones begin.

use std::sync::Arc;

use streamwright::sim::{Cost, Event, Fault, Faults, Sim};
use streamwright::{
    BoxError, EpochEnd, Grouping, Guarantee, Poll, Seek, Spout, SpoutEmitter, Topology,
};

use crate::common::{Counting, Pass, Seen, cluster, config, ms, us};

/// Emits the numbers of its task below `end`; onward is behind all that any instance has emitted.
struct Onward {
    next: u64,
    step: u64,
    end: u64,
    emitted: Seen,
}

impl Spout for Onward {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        *self.emitted.lock().unwrap().entry(self.next).or_default() += 1;
        out.emit(self.next);
        self.next += self.step;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn seek(&mut self, _: Seek<'_>) -> Result<(), BoxError> {
        while self.emitted.lock().unwrap().contains_key(&self.next) {
            self.next += self.step;
        }
        Ok(())
    }
}

fn topology(emitted: &Seen, seen: &Seen) -> Topology {
    let mut builder = Topology::builder();
    let all = Arc::clone(emitted);
    let from = builder.spout("from", 3, move |task| {
        let (next, step) = (u64::from(task.index()), u64::from(task.tasks()));
        Ok(Onward { next, step, end: 3_000, emitted: Arc::clone(&all) })
    });
    // Local, so that what is emitted on the node that nobody reaches is executed there.
    let local = Grouping::local_or_shuffle;
    let passed = builder.bolt("pass", 3, |_| Ok(Pass)).input(from, local()).done();
    let to = Arc::clone(seen);
    builder.bolt("to", 3, move |_| Ok(Counting(Arc::clone(&to)))).input(passed, local()).done();
    let mut config = config(3);
    config.guarantee = Guarantee::AtMostOnce;
    (config.epoch, config.restarts) = (EpochEnd::Records(500), 10);
    builder.build(config).unwrap()
}

#[test]
fn workers_of_a_node_that_is_given_up_do_nothing_twice() {
    for detection in [ms(0), ms(2)] {
        let (emitted, seen) = (Seen::default(), Seen::default());
        let events = vec![Fault::at(ms(1), Event::Unreachable { node: 1, lasts: ms(50) })];
        let unreachable_after = Some(ms(5));
        let faults = Faults { events, detection, unreachable_after, ..Faults::default() };
        // Slow enough that the old spout has much left to emit as it is given up.
        let sim = Sim::new(cluster(3)).faults(faults).cost("from", Cost::tuple(us(100)));
        let outcome = sim.run(topology(&emitted, &seen)).unwrap();
        assert_eq!(outcome.report.crashes.len(), 1);
        assert_eq!(outcome.report.crashes[0].at, ms(6) + detection);
        let (emitted, seen) = (emitted.lock().unwrap(), seen.lock().unwrap());
        assert_eq!(emitted.len(), 3_000);
        assert!(emitted.values().all(|&times| times == 1), "{emitted:?}");
        assert!(seen.values().all(|&times| times == 1) && seen.len() > 2_000);
    }
}
