//! Rule 4.2 where the ring of ackers changes: the owner of a root is that of the root's epoch.

use std::collections::BTreeSet;

use acker::{Ring, RootId};
use streamwright::core::{Epoch, Nanos, VerdictOp, WorkerId};
use streamwright::{Grouping, Reason, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Log, Node, Source, settings};
use crate::rule_1::{one_verdict_each, replayed};

/// Three ackers at first, then these.
const CHANGES: [(Epoch, u32); 3] = [(2, 1), (4, 3), (6, 2)];

/// Which of the rings is in force.
fn stretch(epoch: Epoch) -> usize {
    CHANGES.iter().filter(|(from, _)| *from <= epoch).count()
}

/// The owner by a ring that is made anew.
fn owner(stretch: usize, track: RootId) -> WorkerId {
    let ackers = [3, 1, 3, 2][stretch];
    Ring::with_members(ackers, 160).owner(track).unwrap()
}

/// Spout "spout" of 40 records, five an epoch → bolt "bolt" of three tasks. By their names the bolt
/// is on the workers 0 to 2, as the ackers are, and the spout on worker 3: it is told every verdict
/// by a message.
fn topology(log: &Log, fails: fn(&Item) -> bool) -> Topology {
    let config = settings(4, |c| {
        c.ackers = 3;
        c.acker_changes = CHANGES.to_vec();
        c.window = 3;
        c.backoff = std::time::Duration::from_millis(5);
    });
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("spout", 1, move |cx| Source::count(&l, 0, cx, 40, 40));
    let l = log.clone();
    let _ = builder
        .bolt("bolt", 3, move |cx| {
            let (mut met, task) = (BTreeSet::new(), cx.index());
            Ok(Node::new(&l, 1, cx, move |item, _| {
                if fails(item) && met.insert(item.root) {
                    return Err(format!("the first time at task {task}").into());
                }
                Ok(())
            }))
        })
        .input(source, Grouping::fields(|item: &Item| item.key))
        .done();
    builder.build(config).unwrap()
}

/// Every verdict came from the owner by the ring of its root's epoch.
fn from_their_owners(out: &Outcome) {
    for (_, from, VerdictOp { track, epoch, .. }) in &out.verdicts {
        assert_eq!(*from, owner(stretch(*epoch), *track), "a root of {epoch}");
    }
}

/// Verdicts that were told once a root of a later ring had been, by whom that ring would not ask.
fn after_a_change(log: &Log, out: &Outcome) -> usize {
    let newest_at = |now: Nanos| {
        let stamps = log.stamps().into_iter().filter(|&(.., at)| at <= now);
        stamps.map(|(_, _, epoch, _)| stretch(epoch)).max().unwrap_or(0)
    };
    let moved = |(at, from, op): &&(Nanos, WorkerId, VerdictOp)| {
        let newest = newest_at(*at);
        newest > stretch(op.epoch) && owner(newest, op.track) != *from
    };
    out.verdicts.iter().filter(moved).count()
}

/// A replay keeps its epoch, and so its acker, whatever ring later epochs have by then; its failure
/// is told to that one, for the reason.
#[test]
fn rule_4_2_a_root_stays_with_the_acker_of_its_epoch() {
    let (mut late, mut seeds) = (0, 0);
    each_seed(200, |seed| {
        let log = Log::default();
        let topology = topology(&log, |item| item.key % 3 == 0);
        let mut net = Net::new(&topology, seed, &log);
        (net.odds().delay, net.odds().reorder) = (MS, seed % 2 == 1);
        net.odds().repeat_messages = 200_000;
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((40, 0), 14));
        assert_eq!(out.verdicts.len(), 54);
        from_their_owners(&out);
        let failed: Vec<_> = out.verdicts.iter().filter_map(|(.., op)| op.failed.clone()).collect();
        assert_eq!(failed.len(), 14);
        assert!(failed.iter().all(|why| matches!(**why, Reason::Failed { .. })), "{failed:?}");
        (late, seeds) = (late + after_a_change(&log, &out), seeds + 1);
    });
    assert!(late >= seeds, "{late} verdicts of an earlier ring than the newest root's");
}

/// What waits for ten time-outs says that it is alive to those who track it, and no others.
#[test]
fn rule_4_5_touches_go_to_the_acker_of_the_epoch() {
    each_seed(30, |seed| {
        let log = Log::default();
        let topology = topology(&log, |_| false);
        let mut net = Net::new(&topology, seed, &log);
        for worker in 0..3 {
            net.hold_places(worker, 1, SEC);
        }
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((40, 0), 0));
        from_their_owners(&out);
    });
}
