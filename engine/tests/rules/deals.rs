//! What is dealt out, poured and placed: everything arrives, once, in batches of the size promised.

use streamwright::{EpochEnd, Grouping, Guarantee, Topology};

use crate::dice::{Dice, each_seed};
use crate::net::Net;
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::one_verdict_each;

fn any_grouping(dice: &mut Dice, tasks: u32) -> Grouping<Items> {
    match dice.below(5) {
        0 => Grouping::shuffle(),
        1 => Grouping::local_or_shuffle(),
        2 => Grouping::global(),
        3 => Grouping::weighted(
            (0..tasks).map(|task| u64::from(task % 3).max(1)).collect::<Vec<_>>(),
        ),
        _ => Grouping::fields(|item: &Item| item.path % 7),
    }
}

/// Each record becomes several tuples, which go to two bolts of 1 to 20 tasks: a buffer is copied to
/// the first and moved to the second. Several tasks share a worker, and epochs change as they like.
#[test]
fn everything_arrives_once_in_batches_of_the_size_promised() {
    let mut larger = 0;
    each_seed(300, |seed| {
        let mut dice = Dice::new(seed);
        let log = Log::default();
        let mut builder = Topology::builder();
        let (count, copies) = (dice.from(1, 120), dice.from(1, 40));
        let l = log.clone();
        let source = builder.spout("a", 1, move |cx| Source::count(&l, 0, cx, count, 5));
        let l = log.clone();
        let stream = builder
            .bolt("b", 1, move |cx| {
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    (0..copies).for_each(|copy| out.emit(Item { path: 1 + copy, ..*item }));
                    Ok(())
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        for (node, name) in [(2, "c"), (3, "d")] {
            let tasks = dice.from(1, 20) as u32;
            let grouping = any_grouping(&mut dice, tasks);
            let l = log.clone();
            let _ = builder
                .bolt(name, tasks, move |cx| Node::sink(&l, node, cx))
                .input(stream.clone(), grouping)
                .done();
        }
        let tracked = dice.chance(700_000);
        let config = settings(dice.from(1, 4) as u32, |c| {
            if !tracked {
                c.guarantee = Guarantee::AtMostOnce;
            }
            c.batch = dice.from(1, 60) as usize;
            c.batch_bytes = size_of::<Item>() * dice.from(1, 80) as usize;
            c.epoch = EpochEnd::Records(dice.from(1, 40));
            c.seed = seed;
        });
        let (batch, batch_bytes) = (config.batch, config.batch_bytes);
        let mut net = Net::new(&builder.build(config).unwrap(), seed, &log);
        net.odds().delay = dice.from(1, 100_000);
        net.odds().reorder = true;
        let out = net.run();
        if tracked {
            assert_eq!(one_verdict_each(&out), (count, 0));
        }
        for node in [2, 3] {
            let mut came: Vec<_> =
                log.items(node).iter().map(|item| (item.root, item.path)).collect();
            came.sort_unstable();
            let sent: Vec<_> =
                (0..count).flat_map(|root| (1..=copies).map(move |path| (root, path))).collect();
            assert_eq!(came, sent, "node {node}");
        }
        let (tuples, bytes) = out.largest;
        assert!(tuples < 3 * batch.max(1), "{tuples} in a batch of {batch}");
        assert!(bytes <= 3 * batch_bytes, "{bytes} in a batch of {batch_bytes}");
        larger += u32::from(tuples > batch);
    });
    assert!(larger > 20, "hardly a buffer was dealt: {larger}");
}
