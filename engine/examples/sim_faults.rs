//! Testing one's own topology under faults: a hundred bad days on a simulated cluster, each the same
//! again from its seed.
#![allow(missing_docs, unreachable_pub)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use streamwright::sim::{Cluster, Event, Fault, Faults, Link, Sim};
use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Guarantee, Poll, Seek, Spout,
    SpoutEmitter, Topology,
};

/// The numbers below 2000; after a crash it goes back to where it is told.
struct Numbers(u64);

impl Spout for Numbers {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.0 == 2000 {
            return Ok(Poll::End);
        }
        out.emit(self.0);
        self.0 += 1;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.0.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        if let Seek::To(position) = to {
            self.0 = u64::from_le_bytes(position.try_into()?);
        }
        Ok(())
    }
}

type Counts = Arc<Mutex<BTreeMap<u64, u64>>>;

/// How often each number came.
struct Count(Counts);

impl Bolt for Count {
    type Out = ();
}

impl Execute<Vec<u64>> for Count {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        *self.0.lock().map_err(|e| e.to_string())?.entry(*n).or_default() += 1;
        Ok(())
    }
}

/// The topology under test: as it would run in production, too.
fn topology(guarantee: Guarantee) -> Result<(Topology, Counts), BoxError> {
    let counts = Counts::default();
    let kept = Arc::clone(&counts);
    let mut builder = Topology::builder();
    let numbers = builder.spout("numbers", 1, |_| Ok(Numbers(0)));
    builder
        .bolt("count", 3, move |_| Ok(Count(Arc::clone(&kept))))
        .input(numbers, Grouping::whole())
        .done();
    let mut config = Config::default();
    (config.workers, config.ackers, config.guarantee) = (3, 3, guarantee);
    config.timeout = Duration::from_millis(200);
    config.attempts = 100;
    config.epoch = EpochEnd::Records(100);
    config.restarts = 100;
    Ok((builder.build(config)?, counts))
}

pub fn main() -> Result<(), BoxError> {
    let millis = Duration::from_millis;
    for guarantee in [Guarantee::AtMostOnce, Guarantee::AtLeastOnce, Guarantee::ExactlyOnce] {
        let (mut missing, mut twice, mut replayed) = (0, 0, 0);
        for seed in 0..100 {
            let crash = seed % 4 == 0 && guarantee == Guarantee::AtLeastOnce;
            let crashes = crash.then(|| Fault::at(millis(5), Event::Crash { node: 1 }));
            let faults = Faults {
                lose_batches: 50_000,
                repeat_batches: 50_000,
                lose_acks: 50_000,
                lose_control: 50_000,
                delay: millis(3),
                reorder: true,
                events: crashes.into_iter().collect(),
                ..Faults::default()
            };
            let cluster =
                Cluster::uniform(3, 2, Link::new(Duration::from_micros(200), 125_000_000));
            let (topology, counts) = topology(guarantee)?;
            // An error names the seed that repeats it.
            let outcome = Sim::new(cluster).faults(faults).seed(seed).run(topology)?;
            let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            missing += (0..2000).filter(|n| !counts.contains_key(n)).count();
            twice += counts.values().filter(|&&times| times > 1).count();
            replayed += outcome.report.replayed;
            // What the guarantee promises, on each of these days.
            match guarantee {
                Guarantee::AtMostOnce => assert!(counts.values().all(|&times| times == 1)),
                Guarantee::AtLeastOnce => assert_eq!(counts.len(), 2000, "seed {seed}"),
                _ => assert!(counts.len() == 2000 && counts.values().all(|&times| times == 1)),
            }
        }
        // These were bad days indeed.
        assert_eq!(missing > 0, guarantee == Guarantee::AtMostOnce);
        assert_eq!(twice > 0, guarantee == Guarantee::AtLeastOnce);
        println!("{guarantee:13}: {missing} of 200000 missing, {twice} twice, {replayed} replays");
    }
    Ok(())
}
