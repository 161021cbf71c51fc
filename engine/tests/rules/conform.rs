//! Rule 10: what every run must show, over random small graphs with random settings.

use std::collections::HashMap;

use streamwright::{Config, EpochEnd, Grouping, Guarantee, Stream, Topology};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, Outcome};
use crate::parts::{Item, Items, Log, Node, Source, settings, step};
use crate::rule_1::{ledger, one_verdict_each, replayed};

#[derive(Clone, Debug)]
enum How {
    Shuffle,
    Fields,
    All,
    Global,
    Direct,
    Local,
    Weighted(Vec<u64>),
}

impl How {
    fn draw(dice: &mut Dice, tasks: u64) -> Self {
        match dice.below(7) {
            0 => How::Shuffle,
            1 => How::Fields,
            2 => How::All,
            3 => How::Global,
            4 => How::Direct,
            5 => How::Local,
            _ => {
                let mut weights: Vec<u64> = (0..tasks).map(|_| dice.below(4)).collect();
                weights[0] += 1;
                How::Weighted(weights)
            }
        }
    }

    fn grouping(&self) -> Grouping<Items> {
        match self {
            How::Shuffle => Grouping::shuffle(),
            How::Fields => Grouping::fields(|item: &Item| item.key),
            How::All => Grouping::all(),
            How::Global => Grouping::global(),
            How::Direct => {
                Grouping::direct(|item: &Item, tasks| (item.root % u64::from(tasks)) as u32)
            }
            How::Local => Grouping::local_or_shuffle(),
            How::Weighted(weights) => Grouping::weighted(weights.clone()),
        }
    }
}

/// A node and how its stream is spread.
type Input = (usize, How);

/// A random graph: spouts, then bolts that take in what comes before them.
#[derive(Clone, Debug)]
struct Graph {
    spouts: Vec<(u32, u64)>,
    /// Tasks, copies that it makes of each item, inputs.
    bolts: Vec<(u32, u64, Vec<Input>)>,
    config: Config,
}

type Bag = HashMap<Item, u64>;

impl Graph {
    fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0xface);
        let n_spouts = dice.from(1, 3);
        let n_bolts = dice.from(1, 5);
        let spouts: Vec<_> =
            (0..n_spouts).map(|_| (dice.from(1, 3) as u32, dice.from(0, 12))).collect();
        let workers = dice.from(1, 4) as u32;
        let config = settings(workers, |c| {
            c.ackers = dice.from(1, u64::from(workers)) as u32;
            c.queue = dice.from(1, 3) as usize;
            c.batch = dice.from(1, 5) as usize;
            c.window = dice.from(1, 3) as u32;
            c.max_pending = dice.from(1, 8) as usize;
            c.turn = dice.from(1, 8) as u32;
            c.seed = seed;
            c.timeout = std::time::Duration::from_secs(5);
            c.epoch = if dice.chance(500_000) {
                EpochEnd::Records(dice.from(1, 9))
            } else {
                EpochEnd::Every(std::time::Duration::from_micros(dice.from(50, 3000)))
            };
        });
        let mut graph = Graph { spouts, bolts: Vec::new(), config };
        for _ in 0..n_bolts {
            let tasks = dice.from(1, 4);
            let copies = dice.below(3);
            let before = (graph.spouts.len() + graph.bolts.len()) as u64;
            let inputs = (0..dice.from(1, 3))
                .map(|_| (dice.below(before) as usize, How::draw(&mut dice, tasks)))
                .collect();
            graph.bolts.push((tasks as u32, copies, inputs));
            if graph.expected().iter().flat_map(HashMap::values).sum::<u64>() > 1500 {
                graph.bolts.pop();
            }
        }
        if graph.bolts.is_empty() {
            graph.bolts.push((2, 1, vec![(0, How::Shuffle)]));
        }
        graph
    }

    /// What each node takes in, when nothing is lost: spouts' own records, then bolts' input.
    fn expected(&self) -> Vec<Bag> {
        let mut bags: Vec<Bag> = Vec::new();
        let mut outs: Vec<Bag> = Vec::new();
        for (node, &(tasks, count)) in self.spouts.iter().enumerate() {
            let mut bag = Bag::new();
            for task in 0..u64::from(tasks) {
                for i in 0..count {
                    let root = ((node as u64) << 40) + (task << 32) + i;
                    bag.insert(Item { root, key: i % 5, path: 0 }, 1);
                }
            }
            outs.push(bag.clone());
            bags.push(bag);
        }
        for (at, (tasks, copies, inputs)) in self.bolts.iter().enumerate() {
            let node = (self.spouts.len() + at) as u32;
            let mut bag = Bag::new();
            for (from, how) in inputs {
                let times = if matches!(how, How::All) { u64::from(*tasks) } else { 1 };
                for (item, count) in &outs[*from] {
                    *bag.entry(*item).or_default() += count * times;
                }
            }
            let mut out = Bag::new();
            for (item, count) in &bag {
                for copy in 0..*copies {
                    let path = step(item.path, node, copy);
                    *out.entry(Item { path, ..*item }).or_default() += count;
                }
            }
            outs.push(out);
            bags.push(bag);
        }
        bags
    }

    fn build(&self, log: &Log, change: impl FnOnce(&mut Config)) -> Topology {
        let mut builder = Topology::builder();
        let mut streams: Vec<Stream<Items>> = Vec::new();
        for (node, &(tasks, count)) in (0..).zip(&self.spouts) {
            let l = log.clone();
            streams.push(builder.spout(&format!("spout{node}"), tasks, move |cx| {
                Source::count(&l, node, cx, count, 5)
            }));
        }
        for (node, (tasks, copies, inputs)) in (self.spouts.len() as u32..).zip(&self.bolts) {
            let (l, copies) = (log.clone(), *copies);
            let mut bolt = builder
                .bolt(&format!("bolt{node}"), *tasks, move |cx| Node::pass(&l, node, cx, copies));
            for (from, how) in inputs {
                bolt = bolt.input(streams[*from].clone(), how.grouping());
            }
            streams.push(bolt.done());
        }
        let mut config = self.config.clone();
        change(&mut config);
        builder.build(config).unwrap()
    }

    fn bolts(&self) -> impl Iterator<Item = u32> {
        self.spouts.len() as u32..(self.spouts.len() + self.bolts.len()) as u32
    }

    /// Exactly what is expected has come, and by each grouping to the right task.
    fn exact(&self, log: &Log, expected: &[Bag]) {
        for node in self.bolts() {
            let mut bag = Bag::new();
            let seen = log.seen(node);
            seen.iter().for_each(|s| *bag.entry(s.item).or_default() += 1);
            assert_eq!(bag, expected[node as usize], "at node {node} of {self:?}");
            let (tasks, _, inputs) = &self.bolts[node as usize - self.spouts.len()];
            let all = |is: fn(&How) -> bool| inputs.iter().all(|(_, how)| is(how));
            if all(|how| matches!(how, How::Global)) {
                assert!(seen.iter().all(|s| s.task == 0));
            }
            if all(|how| matches!(how, How::Direct)) {
                assert!(seen.iter().all(|s| u64::from(s.task) == s.item.root % u64::from(*tasks)));
            }
            if all(|how| matches!(how, How::Fields)) {
                let mut homes = HashMap::new();
                for s in &seen {
                    assert_eq!(*homes.entry(s.item.key).or_insert(s.task), s.task);
                }
            }
        }
    }
}

fn net(topology: &Topology, seed: u64, log: &Log) -> Net {
    let mut net = Net::new(topology, seed, log);
    let mut dice = Dice::new(seed ^ 0xd1ce);
    net.odds().delay = dice.below(2 * MS);
    net.odds().reorder = dice.chance(500_000);
    let costs: Vec<u64> = (0..64).map(|_| dice.below(100_000)).collect();
    net.cost(move |task, tuples| costs[task as usize % 64] * tuples);
    net
}

#[test]
fn rule_10_without_faults_all_arrives_exactly_once() {
    each_seed(1000, |seed| {
        let graph = Graph::draw(seed);
        let expected = graph.expected();
        let spouted: u64 =
            graph.spouts.iter().map(|&(tasks, count)| u64::from(tasks) * count).sum();
        // The same graph by two ways of the same network, tracked and not.
        for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
            let log = Log::default();
            let topology = graph.build(&log, |c| c.guarantee = guarantee);
            let out = net(&topology, seed ^ guarantee as u64, &log).run();
            graph.exact(&log, &expected);
            assert_eq!((out.error.as_ref(), out.records), (None, spouted));
            ledger(&topology, &out);
            assert_eq!(replayed(&out), 0);
            assert!(out.letters.is_empty());
            if guarantee == Guarantee::AtLeastOnce {
                assert_eq!(one_verdict_each(&out), (spouted, 0));
            } else {
                assert!(out.figures.iter().all(|f| f.acker.updates == 0 && f.acker.peak_live == 0));
            }
        }
    });
}

/// Capacity 1 everywhere: no deadlock, whatever the graph.
#[test]
fn rule_10_no_deadlock_at_capacity_one() {
    each_seed(1000, |seed| {
        let graph = Graph::draw(seed);
        let log = Log::default();
        let topology = graph.build(&log, |c| {
            (c.queue, c.batch, c.window, c.max_pending) = (1, 1 + (seed % 2) as usize, 1, 1);
        });
        let out = net(&topology, seed, &log).run();
        graph.exact(&log, &graph.expected());
        assert_eq!(out.error, None);
    });
}

#[test]
fn rule_10_duplicates_alone_cause_no_replay() {
    each_seed(500, |seed| {
        let graph = Graph::draw(seed);
        let log = Log::default();
        let topology = graph.build(&log, |_| {});
        let mut net = net(&topology, seed, &log);
        net.odds().repeat_batches = 300_000;
        net.odds().repeat_messages = 300_000;
        let out = net.run();
        graph.exact(&log, &graph.expected());
        assert_eq!(replayed(&out), 0);
    });
}

/// Loss and duplication of data, acks and fails. Every root ends once; of a root that is done
/// everything has arrived; what came more than once is of roots that were replayed.
#[test]
fn rule_10_at_least_once_under_loss_and_duplication() {
    let mut replays = 0;
    each_seed(1000, |seed| {
        let graph = Graph::draw(seed);
        let expected = graph.expected();
        let log = Log::default();
        let topology = graph.build(&log, |c| {
            c.attempts = if seed % 4 == 0 { 3 } else { 40 };
            c.max_backoff = std::time::Duration::from_millis(4);
            c.timeout = std::time::Duration::from_millis(60);
        });
        let mut net = net(&topology, seed, &log);
        faults(&mut net, seed);
        let out = net.run();
        one_verdict_each(&out);
        ledger(&topology, &out);
        let dead: Vec<u64> =
            out.letters.iter().map(|(_, letter)| letter.item::<Items>().unwrap()[0].root).collect();
        at_least(&graph, &log, &expected, &dead, &out);
        replays += replayed(&out);
    });
    assert!(replays > 100);
}

fn faults(net: &mut Net, seed: u64) {
    let mut dice = Dice::new(seed ^ 0xfa17);
    let mut odds = |most: u64| if dice.chance(500_000) { dice.below(most) as u32 } else { 0 };
    let o = net.odds();
    o.lose_tuples = odds(40_000);
    o.lose_batches = odds(60_000);
    o.repeat_batches = odds(200_000);
    o.lose_acks = odds(60_000);
    o.repeat_messages = odds(200_000);
}

fn at_least(graph: &Graph, log: &Log, expected: &[Bag], dead: &[u64], out: &Outcome) {
    let mut again = std::collections::HashSet::new();
    for node in graph.bolts() {
        let mut bag = Bag::new();
        log.seen(node).iter().for_each(|s| *bag.entry(s.item).or_default() += 1);
        for (item, &count) in &expected[node as usize] {
            let came = bag.get(item).copied().unwrap_or(0);
            assert!(came >= count || dead.contains(&item.root), "{item:?} is missing at {node}");
            if came > count {
                again.insert(item.root);
            }
        }
        assert!(bag.keys().all(|item| expected[node as usize].contains_key(item)));
    }
    assert!(again.len() as u64 <= replayed(out), "counted twice without a replay");
}

/// No acks: nothing comes twice, what is lost is lost, and the run ends.
#[test]
fn rule_10_at_most_once_under_loss_and_duplication() {
    each_seed(500, |seed| {
        let graph = Graph::draw(seed);
        let expected = graph.expected();
        let log = Log::default();
        let topology = graph.build(&log, |c| c.guarantee = Guarantee::AtMostOnce);
        let mut net = net(&topology, seed, &log);
        faults(&mut net, seed);
        let out = net.run();
        assert_eq!(out.error, None);
        ledger(&topology, &out);
        for node in graph.bolts() {
            let mut bag = Bag::new();
            log.seen(node).iter().for_each(|s| *bag.entry(s.item).or_default() += 1);
            assert!(bag.iter().all(|(item, count)| count <= &expected[node as usize][item]));
        }
        assert!(out.figures.iter().all(|f| f.acker.updates == 0 && f.unfinished.is_empty()));
    });
}

/// A drain at any time: what was emitted is finished, nothing is emitted after, and the run ends.
#[test]
fn rule_10_a_drain_at_any_time_finishes_what_was_begun() {
    each_seed(500, |seed| {
        let graph = Graph::draw(seed);
        let log = Log::default();
        let topology = graph.build(&log, |_| {});
        let mut net = net(&topology, seed, &log);
        net.drain_at = Some(Dice::new(seed).below(4 * MS));
        let out = net.run();
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!((acked, dead), (log.stamps().len() as u64, 0));
        ledger(&topology, &out);
        assert!(out.figures.iter().all(|f| f.unfinished.is_empty()));
    });
}
