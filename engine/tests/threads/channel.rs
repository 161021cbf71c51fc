//! Records pushed from a program: accepted, refused, finished, given back.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use streamwright::{
    Report, SendError, Sender, Source, Stop, Stream, Topology, TopologyBuilder, TrySendError,
    ZeroCapacity, channel, threads,
};

use super::common::{builder, config, count, each, eventually, map, start};

fn pair(capacity: usize) -> (Sender<u64>, Source<u64>) {
    channel(capacity).unwrap()
}

fn source(builder: &mut TopologyBuilder, tasks: u32, source: Source<u64>) -> Stream<Vec<u64>> {
    builder.spout("channel", tasks, source.spout())
}

/// Accepted = acked + dead, once the run has ended by itself or was drained.
fn assert_each_has_one_verdict(report: &Report, accepted: u64) {
    assert_eq!(report.records, accepted);
    assert_eq!(report.acked + report.dead, accepted);
    assert!(report.unfinished.is_empty());
}

#[test]
fn a_channel_of_nothing_is_refused() {
    assert_eq!(channel::<u64>(0).err(), Some(ZeroCapacity));
    assert!(ZeroCapacity.to_string().contains("at least 1"));
}

#[test]
fn what_several_senders_push_comes_once_through_several_tasks() {
    for (capacity, tasks, senders) in [(1, 1, 1), (1, 3, 4), (100, 4, 3), (10_000, 2, 2)] {
        let (sender, from) = pair(capacity);
        let mut builder = builder();
        let stream = source(&mut builder, tasks, from);
        let counts = count(&mut builder, "sink", 2, stream);
        let handle = start(builder, config());
        let pushers: Vec<_> = (0..senders)
            .map(|me| {
                let sender = sender.clone();
                thread::spawn(move || {
                    (me..6000).step_by(senders).for_each(|n| sender.send(n as u64).unwrap());
                })
            })
            .collect();
        drop(sender);
        pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
        // The last sender has gone: the stream has ended.
        let report = handle.wait().unwrap();
        assert!(report.complete);
        assert_each_has_one_verdict(&report, 6000);
        counts.assert_once(0..6000);
    }
}

#[test]
fn back_pressure_reaches_the_sender() {
    let (sender, from) = pair(10);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    let (open, gate) = mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    each(&mut builder, "held", 1, stream, move |_| {
        // Held until the test lets go of its end.
        let _ = gate.lock().unwrap().recv();
        Ok(())
    });
    // The bolt has a worker of its own: it is the third in turn.
    let mut config = config();
    config.workers = 3;
    let handle = start(builder, config);
    let accepted = Arc::new(AtomicU64::new(0));
    let (pusher, told) = (sender.clone(), Arc::clone(&accepted));
    let pusher = thread::spawn(move || {
        for n in 0..500 {
            pusher.send(n).unwrap();
            told.fetch_add(1, SeqCst);
        }
    });
    // 16 unfinished roots a task, 10 in the channel: then `send` waits.
    eventually("all is full", || accepted.load(SeqCst) == 2 * 16 + 10);
    assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
    assert_eq!((accepted.load(SeqCst), sender.len()), (42, 10));
    // Though the third worker is in a call, the others are seen.
    eventually("the stats tell", || handle.stats().records == 32);
    drop(open);
    pusher.join().unwrap();
    drop(sender);
    assert_each_has_one_verdict(&handle.wait().unwrap(), 500);
}

#[test]
fn a_single_record_never_waits_for_the_next_one() {
    let (sender, from) = pair(4);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    let (done, ready) = mpsc::channel();
    each(&mut builder, "sink", 1, stream, move |n| done.send(n).map_err(|e| e.to_string().into()));
    let handle = start(builder, config());
    for n in 0..2000 {
        sender.send(n).unwrap();
        assert_eq!(ready.recv_timeout(Duration::from_secs(30)), Ok(n), "a lost wake-up");
    }
    sender.close();
    assert_each_has_one_verdict(&handle.wait().unwrap(), 2000);
}

#[test]
fn what_cannot_be_done_is_a_dead_letter() {
    let (sender, from) = pair(8);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    let stream = map(&mut builder, "fussy", 2, stream, |n, out| {
        out.emit(n);
        if n % 10 == 3 { Err("fussy".into()) } else { Ok(()) }
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let handle = start(builder, config());
    (0..1000).for_each(|n| sender.send(n).unwrap());
    drop(sender);
    let report = handle.wait().unwrap();
    assert_each_has_one_verdict(&report, 1000);
    assert_eq!(report.dead, 100);
    counts.assert_once((0..1000).filter(|n| n % 10 != 3));
}

#[test]
fn who_closes_the_channel_closes_it_for_all() {
    let (sender, from) = pair(100);
    let other = sender.clone();
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    let counts = count(&mut builder, "sink", 2, stream);
    // Before the run as well as in it.
    (0..50).for_each(|n| sender.send(n).unwrap());
    other.close();
    assert_eq!(sender.send(7), Err(SendError::Closed(7)));
    assert_eq!(sender.try_send(8).map_err(TrySendError::into_inner), Err(8));
    let report = start(builder, config()).wait().unwrap();
    assert!(report.complete);
    assert_each_has_one_verdict(&report, 50);
    counts.assert_once(0..50);
}

#[test]
fn a_drain_finishes_what_was_accepted_and_refuses_the_rest() {
    let (sender, from) = pair(1000);
    let mut builder = builder();
    let stream = source(&mut builder, 3, from);
    let counts = count(&mut builder, "sink", 2, stream);
    let handle = start(builder, config());
    let pusher = sender.clone();
    let pusher = thread::spawn(move || {
        (0..).take_while(|&n| pusher.send(n) != Err(SendError::Over(n))).count() as u64
    });
    eventually("some came", || counts.total() > 100);
    handle.stop(Stop::Drain);
    let accepted = pusher.join().unwrap();
    let report = handle.wait().unwrap();
    assert!(report.drained && !report.complete);
    assert_each_has_one_verdict(&report, accepted);
    counts.assert_once(0..accepted);
    assert_eq!(sender.try_send(1), Err(TrySendError::Over(1)));
    assert_eq!((sender.take_rest(), sender.is_empty()), (vec![], true));
}

#[test]
fn a_drain_before_the_start_finishes_what_was_accepted() {
    for _ in 0..50 {
        let (sender, from) = pair(1000);
        let mut builder = builder();
        let stream = source(&mut builder, 2, from);
        let counts = count(&mut builder, "sink", 2, stream);
        (0..100).for_each(|n| sender.send(n).unwrap());
        let handle = start(builder, config());
        handle.stop(Stop::Drain);
        let report = handle.wait().unwrap();
        assert!(report.drained);
        assert_each_has_one_verdict(&report, 100);
        counts.assert_once(0..100);
    }
}

#[test]
fn a_stop_gives_back_what_was_not_emitted_and_names_the_rest() {
    let (sender, from) = pair(50);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    each(&mut builder, "fails", 2, stream, |_| Err("always".into()));
    let mut config = config();
    (config.backoff, config.max_backoff) = (Duration::from_secs(60), Duration::from_secs(60));
    let handle = start(builder, config);
    let pusher = sender.clone();
    // Waits in `send` as the run ends, and is let go.
    let pusher = thread::spawn(move || {
        (0..).find_map(|n| pusher.send(n).err().map(|error| (n, error))).unwrap()
    });
    eventually("all is full", || sender.len() == 50 && handle.stats().pending == 32);
    assert_eq!(sender.take_rest(), [], "they may be emitted still");
    handle.stop(Stop::Now);
    let report = handle.wait().unwrap();
    let (accepted, error) = pusher.join().unwrap();
    assert_eq!((accepted, error), (82, SendError::Over(82)));
    let mut rest = Vec::new();
    eventually("the spouts are gone", || {
        rest.extend(sender.take_rest());
        !rest.is_empty()
    });
    rest.sort_unstable();
    assert_eq!(rest, (32..82).collect::<Vec<u64>>());
    assert_eq!((report.acked, report.unfinished.len()), (0, 32));
}

#[test]
fn a_run_that_fails_lets_its_senders_go() {
    let (sender, from) = pair(1);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    each(&mut builder, "sink", 1, stream, |_| Ok(()));
    let failing = builder.spout("failing", 1, |_| -> Result<super::common::Idle, _> {
        Err("it cannot be opened".into())
    });
    count(&mut builder, "other", 1, failing);
    let handle = start(builder, config());
    assert!(handle.wait().is_err());
    eventually("send fails", || matches!(sender.try_send(1), Err(TrySendError::Over(1))));
    assert_eq!(sender.send(2), Err(SendError::Over(2)));
}

#[test]
fn a_topology_that_never_runs_accepts_nothing() {
    let (sender, from) = pair(3);
    let mut builder: TopologyBuilder = Topology::builder();
    let stream = source(&mut builder, 2, from);
    count(&mut builder, "sink", 1, stream);
    let topology = builder.build(config()).unwrap();
    sender.send(1).unwrap();
    drop(topology);
    assert_eq!(sender.send(2), Err(SendError::Over(2)));
    assert_eq!(sender.take_rest(), [1]);
}

#[test]
fn a_crash_ends_the_run_and_the_channel() {
    use streamwright::{Bolt, BoxError, Emitter, Epoch, Execute, Grouping, Watermark};
    struct Falls;
    impl Bolt for Falls {
        type Out = ();
        fn close(
            &mut self,
            _: Epoch,
            _: Watermark,
            _: &mut Emitter<'_, ()>,
        ) -> Result<(), BoxError> {
            Err("it falls".into())
        }
    }
    impl Execute<Vec<u64>> for Falls {
        fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
            Ok(())
        }
    }
    let (sender, from) = pair(3);
    let mut builder = builder();
    let stream = source(&mut builder, 2, from);
    builder.bolt("falls", 1, |_| Ok(Falls)).input(stream, Grouping::shuffle()).done();
    let handle = start(builder, config());
    let refused = (0..).find_map(|n| {
        thread::sleep(Duration::from_micros(100));
        sender.send(n).err()
    });
    assert!(matches!(refused, Some(SendError::Over(_))));
    let error = handle.wait().unwrap_err().to_string();
    assert!(error.contains("it falls"), "{error}");
}

#[test]
fn a_channel_filled_beforehand_is_simulated_as_well() {
    use streamwright::sim::{Cluster, Link, Sim};
    let run = || {
        let (sender, from) = pair(1000);
        let mut builder = builder();
        let stream = source(&mut builder, 2, from);
        let counts = count(&mut builder, "sink", 2, stream);
        (0..1000).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        let link = Link::new(Duration::from_micros(100), 125_000_000);
        let topology = builder.build(config()).unwrap();
        let outcome = Sim::new(Cluster::uniform(2, 2, link)).run(topology).unwrap();
        assert_each_has_one_verdict(&outcome.report, 1000);
        counts.assert_once(0..1000);
        outcome.trace
    };
    assert_eq!(run(), run());
}

#[test]
fn threads_run_takes_a_closed_channel() {
    let (sender, from) = pair(3);
    let mut builder = builder();
    let stream = source(&mut builder, 1, from);
    let counts = count(&mut builder, "sink", 1, stream);
    sender.send(5).unwrap();
    drop(sender);
    assert!(threads::run(builder.build(config()).unwrap()).unwrap().complete);
    counts.assert_once(5..6);
}
