//! The sink to a channel.

use std::sync::mpsc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use streamwright::{Config, Grouping, Guarantee, Reason, Topology, ops, threads};

use crate::bench::{cases, list, same_or_more, setting};

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn every_record_comes_out_of_the_channel(numbers in vec(0..50_u64, 0..60), setting in setting()) {
        // Room for all, and for what comes again.
        let (to, from) = mpsc::sync_channel(100_000);
        let mut builder = Topology::builder();
        let stream = list(&mut builder, "numbers", numbers.clone());
        builder
            .bolt("channel", 2, move |_| Ok(ops::ChannelSink::new(to.clone(), |n: &u64| *n)))
            .input(stream, Grouping::shuffle())
            .done();
        let _ = setting.run(builder);
        // A sink without state may repeat exactly once, too.
        let more = setting.loses() && setting.guarantee != Guarantee::AtMostOnce;
        same_or_more(from.try_iter().collect(), &numbers, more);
    }
}

/// A channel of one, and a receiver that takes its time: nothing is lost or repeated, nothing blocks,
/// and what one task took in comes out in order.
#[test]
fn a_slow_receiver_gets_all_in_order() {
    for guarantee in [Guarantee::AtMostOnce, Guarantee::AtLeastOnce, Guarantee::ExactlyOnce] {
        let (to, from) = mpsc::sync_channel(1);
        let mut builder = Topology::builder();
        let stream = builder.spout("numbers", 1, |_| Ok(Numbers(0)));
        builder
            .bolt("channel", 1, move |_| Ok(ops::ChannelSink::new(to.clone(), |n: &u64| *n)))
            .input(stream, Grouping::global())
            .done();
        let mut config = Config::default();
        (config.workers, config.guarantee, config.batch) = (2, guarantee, 16);
        // Far below what the receiver takes for all: waiting is no time-out.
        config.timeout = Duration::from_millis(40);
        let run = threads::start(builder.build(config).unwrap(), None).unwrap();
        let mut got = Vec::new();
        while let Ok(n) = from.recv_timeout(Duration::from_secs(20)) {
            got.push(n);
            if n % 10 == 0 {
                std::thread::sleep(Duration::from_millis(4));
            }
        }
        let report = run.wait().unwrap();
        assert_eq!(got, (0..300).collect::<Vec<u64>>(), "{guarantee:?}");
        assert_eq!((report.replayed, report.dead), (0, 0), "{guarantee:?}");
    }
}

struct Numbers(u64);

impl streamwright::Spout for Numbers {
    type Out = Vec<u64>;
    fn next(
        &mut self,
        out: &mut streamwright::SpoutEmitter<'_, Vec<u64>>,
    ) -> Result<streamwright::Poll, streamwright::BoxError> {
        out.emit(self.0);
        self.0 += 1;
        Ok(if self.0 < 300 { streamwright::Poll::More } else { streamwright::Poll::End })
    }
}

/// A receiver that is gone is a reason by name, also for what waited for room.
#[test]
fn a_receiver_that_goes_is_named() {
    let (to, from) = mpsc::sync_channel(3);
    let mut builder = Topology::builder();
    let stream = list(&mut builder, "numbers", (0..20_u64).collect());
    builder
        .bolt("channel", 1, move |_| Ok(ops::ChannelSink::new(to.clone(), |n: &u64| *n)))
        .input(stream, Grouping::global())
        .done();
    let mut config = Config::default();
    config.attempts = 2;
    let run = threads::start(builder.build(config).unwrap(), None).unwrap();
    let got = [from.recv().unwrap(), from.recv().unwrap()];
    drop(from);
    let report = run.wait().unwrap();
    assert_ne!(got[0], got[1]);
    assert_eq!(report.acked + report.dead, 20);
    assert!(report.dead >= 13, "{}", report.dead);
    for letter in &report.dead_letters {
        let Reason::Failed { component, message, .. } = &*letter.reason else {
            panic!("{}", letter.reason)
        };
        assert_eq!((component.as_str(), message.contains("gone")), ("channel", true));
    }
}
