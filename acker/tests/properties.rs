//! Properties named after what they prove. `PROPTEST_CASES` sets the number of cases.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{HashMap, HashSet};

use acker::{
    Applied, Delta, EdgeId, Error, IdGen, Outcome, RootId, Timeout, Tracker, TrackerConfig, Verdict,
};
use proptest::prelude::*;
use proptest::sample::Index;

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(10_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// One message of a tree: what a tuple consumed and produced. The first is the init.
#[derive(Clone, Default, Debug)]
struct Step {
    consumed: Vec<usize>,
    produced: Vec<usize>,
}

/// A tree with joins and several copies, as a DAG in which the init reaches every step:
/// each step consumes one to three edges from earlier ones, so two to eleven steps have at
/// most 30 edges.
fn dag() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop::collection::vec(any::<Index>(), 1..=3), 1..=10).prop_map(|steps| {
        let mut dag = vec![Step::default(); steps.len() + 1];
        let mut edges = 0..;
        for (earlier, parents) in steps.iter().enumerate() {
            for (parent, edge) in parents.iter().zip(&mut edges) {
                dag[parent.index(earlier + 1)].produced.push(edge);
                dag[earlier + 1].consumed.push(edge);
            }
        }
        dag
    })
}

fn delta(edges: &[usize], ids: &[EdgeId]) -> Delta {
    edges.iter().map(|&edge| ids[edge]).collect()
}

/// Independent ids, exactly: one bit each.
fn one_hot() -> Vec<EdgeId> {
    (0..64).map(|bit| EdgeId::new(1 << bit).unwrap()).collect()
}

fn generated(seed: u64) -> Vec<EdgeId> {
    let mut ids = IdGen::from_seed(seed, 0);
    (0..64).map(|_| ids.next_id()).collect()
}

fn tracker(timeout: Timeout, generations: u8, seed: u64) -> Tracker {
    Tracker::new(TrackerConfig { timeout, generations, seed }).unwrap()
}

proptest! {
    #![proptest_config(config())]

    /// The closure lemma: of all sets of messages, only none and all have the sum zero. As
    /// every prefix of every order of arrival is such a set, no order is done early.
    #[test]
    fn xor_zero_iff_all_acked(dag in dag()) {
        let ids = one_hot();
        let sums: Vec<u64> = dag
            .iter()
            .map(|step| {
                delta(&step.consumed, &ids).merge(delta(&step.produced, &ids)).bits()
            })
            .collect();
        let all = (1u32 << dag.len()) - 1;
        let mut sum = 0;
        // In the order of a Gray code each set differs from the last in one message.
        for n in 1..=all {
            sum ^= sums[n.trailing_zeros() as usize];
            let set = n ^ n >> 1;
            prop_assert_eq!(sum == 0, set == all, "set {:b}", set);
        }
    }

    #[test]
    fn every_order_of_arrival_is_done_with_its_last_message(
        (dag, order) in dag().prop_flat_map(|dag| {
            let order: Vec<_> = (0..dag.len()).collect();
            (Just(dag), Just(order).prop_shuffle())
        }),
        seed in any::<u64>(),
    ) {
        let root = RootId::new(seed | 1).unwrap();
        for ids in [one_hot(), generated(seed)] {
            let mut tracker = tracker(Timeout::Never, 3, seed);
            for (nth, &at) in order.iter().enumerate() {
                let consumed = delta(&dag[at].consumed, &ids);
                let produced = delta(&dag[at].produced, &ids);
                let applied = match at {
                    0 => tracker.init(root, 8, produced).unwrap(),
                    _ => tracker.ack(root, consumed, produced),
                };
                let done = Applied::Verdict(Verdict { root, task: 8, outcome: Outcome::Done });
                prop_assert_eq!(applied == done, nth + 1 == order.len());
            }
            prop_assert_eq!((tracker.len(), tracker.orphans()), (0, 0));
        }
    }

    /// The negative of the lemma: a message torn in two can be done early.
    #[test]
    fn tearing_consumed_from_produced_is_done_early(dag in dag()) {
        let ids = one_hot();
        let root = RootId::new(1).unwrap();
        let mut tracker = tracker(Timeout::Never, 3, 0);
        // All consumed ids are told before any product is: zero once the init's are gone.
        let mut early = tracker.init(root, 0, delta(&dag[0].produced, &ids)) != Ok(Applied::Pending);
        for step in &dag[1..] {
            let known: Vec<_> =
                step.consumed.iter().copied().filter(|e| dag[0].produced.contains(e)).collect();
            early |= matches!(tracker.ack(root, delta(&known, &ids), Delta::EMPTY), Applied::Verdict(_));
        }
        prop_assert!(early);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Init { root: u64, task: u32, set: u8 },
    Ack { root: u64, set: u8 },
    Fail { root: u64 },
    Touch { root: u64 },
    Advance { ticks: u64 },
    Clear,
}

fn op() -> impl Strategy<Value = Op> {
    let root = || 1..12u64;
    // Four ids only, so that sums meet zero often.
    let set = || 0..16u8;
    prop_oneof![
        8 => (root(), 0..5u32, set()).prop_map(|(root, task, set)| Op::Init { root, task, set }),
        12 => (root(), set()).prop_map(|(root, set)| Op::Ack { root, set }),
        2 => root().prop_map(|root| Op::Fail { root }),
        2 => root().prop_map(|root| Op::Touch { root }),
        6 => (0..30u64).prop_map(|ticks| Op::Advance { ticks }),
        1 => Just(Op::Clear),
    ]
}

/// What the tracker must do, with the ids themselves and the time of birth.
#[derive(Default)]
struct Oracle {
    records: HashMap<u64, Naive>,
    now: u64,
}

#[derive(Clone, Default)]
struct Naive {
    task: Option<u32>,
    open: HashSet<u8>,
    failed: bool,
    born: u64,
    /// When its time-out started.
    started: u64,
}

impl Oracle {
    fn change(&mut self, root: u64, set: u8) -> &mut Naive {
        let now = self.now;
        let naive = self.records.entry(root).or_insert_with(|| Naive {
            born: now,
            started: now,
            ..Naive::default()
        });
        for id in (0..8).filter(|id| set >> id & 1 == 1) {
            if !naive.open.remove(&id) {
                naive.open.insert(id);
            }
        }
        naive
    }

    fn settle(&mut self, root: u64) -> Applied {
        let Some(naive) = self.records.get(&root).cloned() else { return Applied::Orphan };
        let Some(task) = naive.task else { return Applied::Orphan };
        let outcome = match (naive.failed, naive.open.is_empty()) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Done,
            (false, false) => return Applied::Pending,
        };
        self.records.remove(&root);
        Applied::Verdict(Verdict { root: RootId::new(root).unwrap(), task, outcome })
    }

    fn init(&mut self, root: u64, task: u32, set: u8) -> Result<Applied, Error> {
        if self.records.get(&root).is_some_and(|naive| naive.task.is_some()) {
            return Err(Error::DuplicateRoot { root: RootId::new(root).unwrap() });
        }
        let now = self.now;
        let naive = self.change(root, set);
        (naive.task, naive.born, naive.started) = (Some(task), now, now);
        Ok(self.settle(root))
    }

    fn advance(&mut self, ticks: u64, timeout: Timeout, generations: u8) -> Vec<Verdict> {
        self.now += ticks;
        let (limit, roots, cap) = match timeout {
            Timeout::Never => return Vec::new(),
            Timeout::OrphansAfter(limit) => (limit, false, None),
            Timeout::After(limit) => (limit, true, None),
            Timeout::Progress { idle, cap } => (idle, true, Some(cap)),
        };
        let now = self.now;
        let over = |limit: u64, start: u64| {
            let width = (limit - 1).div_ceil(u64::from(generations) - 1).max(1);
            start / width * width + width - 1 + limit <= now
        };
        let mut out = Vec::new();
        self.records.retain(|&root, naive| {
            let idle = over(limit, naive.started) && (roots || naive.task.is_none());
            let capped = naive.task.is_some() && cap.is_some_and(|cap| over(cap, naive.born));
            let ends = idle || capped;
            if let (true, Some(task)) = (ends, naive.task) {
                let root = RootId::new(root).unwrap();
                out.push(Verdict { root, task, outcome: Outcome::TimedOut });
            }
            !ends
        });
        out.sort_by_key(|verdict| verdict.root);
        out
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tracker_equals_sets_of_ids(
        ops in prop::collection::vec(op(), 1..80),
        timeout in prop_oneof![
            1 => Just(Timeout::Never),
            1 => (1..60u64).prop_map(Timeout::OrphansAfter),
            4 => (1..60u64).prop_map(Timeout::After),
            4 => (1..60u64, 1..150u64).prop_map(|(idle, cap)| Timeout::Progress { idle, cap }),
        ],
        generations in 3..=8u8,
        seed in any::<u64>(),
    ) {
        let ids = one_hot();
        let set_of = |set: u8| -> Delta { (0..8).filter(|id| set >> id & 1 == 1).map(|id| ids[id]).collect() };
        let id = |root| RootId::new(root).unwrap();
        let mut tracker = tracker(timeout, generations, seed);
        let mut oracle = Oracle::default();
        let (mut inits, mut verdicts, mut cleared) = (0, 0, 0);
        for op in ops {
            let applied = match op {
                Op::Init { root, task, set } => {
                    let got = tracker.init(id(root), task, set_of(set));
                    prop_assert_eq!(got, oracle.init(root, task, set));
                    inits += u64::from(got.is_ok());
                    got.unwrap_or(Applied::Pending)
                }
                Op::Ack { root, set } => {
                    let got = tracker.ack(id(root), Delta::EMPTY, set_of(set));
                    if set != 0 || oracle.records.contains_key(&root) {
                        oracle.change(root, set);
                    }
                    let now = oracle.now;
                    let progress = matches!(timeout, Timeout::Progress { .. });
                    if let Some(naive) = oracle.records.get_mut(&root)
                        && naive.task.is_some()
                        && progress
                    {
                        naive.started = now;
                    }
                    prop_assert_eq!(got, oracle.settle(root));
                    got
                }
                Op::Fail { root } => {
                    let got = tracker.fail(id(root));
                    oracle.change(root, 0).failed = true;
                    prop_assert_eq!(got, oracle.settle(root));
                    got
                }
                Op::Touch { root } => {
                    let now = oracle.now;
                    let armed = oracle.records.get_mut(&root).filter(|naive| naive.task.is_some());
                    let known = armed.map(|naive| naive.started = now).is_some();
                    prop_assert_eq!(tracker.touch(id(root)), known);
                    Applied::Pending
                }
                Op::Advance { ticks } => {
                    let mut out = Vec::new();
                    let expected = oracle.advance(ticks, timeout, generations);
                    tracker.advance(oracle.now, &mut out);
                    verdicts += out.len() as u64;
                    prop_assert_eq!(out, expected);
                    Applied::Pending
                }
                Op::Clear => {
                    cleared += tracker.len() as u64;
                    tracker.clear();
                    oracle.records.clear();
                    Applied::Pending
                }
            };
            verdicts += u64::from(matches!(applied, Applied::Verdict(_)));
            let armed = oracle.records.values().filter(|naive| naive.task.is_some()).count();
            prop_assert_eq!(tracker.len(), armed);
            prop_assert_eq!(tracker.orphans(), oracle.records.len() - armed);
        }
        // One verdict for each accepted init that is not pending.
        let stats = tracker.stats();
        prop_assert_eq!(stats.inits, inits);
        prop_assert_eq!(stats.done + stats.failed + stats.timed_out, verdicts);
        prop_assert_eq!(inits, verdicts + cleared + tracker.len() as u64);
    }

    /// The table under churn at its full load, against a set.
    #[test]
    fn no_record_is_lost_or_left(
        ops in prop::collection::vec((1..400u64, any::<bool>()), 1..400),
        seed in any::<u64>(),
    ) {
        let mut tracker = tracker(Timeout::After(10), 3, seed);
        let mut live = HashSet::new();
        let open = Delta::of(&one_hot()[..1]);
        for (root, add) in ops {
            let id = RootId::new(root).unwrap();
            if add {
                prop_assert_eq!(tracker.init(id, 0, open).is_ok(), live.insert(root));
            } else {
                prop_assert_eq!(tracker.touch(id), live.contains(&root));
                if live.remove(&root) {
                    prop_assert!(matches!(tracker.ack(id, open, Delta::EMPTY), Applied::Verdict(_)));
                }
            }
        }
        let mut out = Vec::new();
        tracker.advance(15, &mut out);
        let ended: HashSet<_> = out.iter().map(|verdict| verdict.root.get()).collect();
        prop_assert_eq!(out.len(), ended.len());
        prop_assert_eq!(ended, live);
        prop_assert_eq!((tracker.len(), tracker.orphans()), (0, 0));
    }
}

/// Messages that meet often.
fn message() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => op(),
        1 => (0..3u64).prop_map(|ticks| Op::Advance { ticks }),
    ]
}

proptest! {
    #![proptest_config(config())]

    /// A batch does what its messages would do one by one, refusals included; and
    /// roots that are carried from one tracker to another and back on the way change nothing.
    #[test]
    fn batches_and_hand_overs_equal_single_messages(
        ops in prop::collection::vec(message(), 1..150),
        progress in any::<bool>(),
        generations in 3..=8u8,
        seed in any::<u64>(),
        cut in any::<u64>(),
    ) {
        let timeout = if progress {
            Timeout::Progress { idle: 20, cap: 60 }
        } else {
            Timeout::After(20)
        };
        let ids = one_hot();
        let set_of = |set: u8| -> Delta { (0..8).filter(|id| set >> id & 1 == 1).map(|id| ids[id]).collect() };
        let id = |root| RootId::new(root).unwrap();
        let mut single = tracker(timeout, generations, seed);
        // The roots of `cut` are with the second of these at every other batch.
        let mut pair = [tracker(timeout, generations, seed), tracker(timeout, generations, !seed)];
        let ours = |root: RootId| cut >> (root.get() % 64) & 1 == 1;
        let (mut now, mut split, mut refusals) = (0, false, 0);
        let mut batch = Vec::new();
        for op in ops {
            let message = match op {
                Op::Init { root, task, set } => acker::Op::init(id(root), task, set_of(set)),
                Op::Ack { root, set } => acker::Op::ack(id(root), Delta::EMPTY, set_of(set)),
                Op::Fail { root } => acker::Op::fail(id(root)),
                Op::Touch { root } => acker::Op::touch(id(root)),
                Op::Clear => continue,
                Op::Advance { ticks } => {
                    now += ticks;
                    let (mut verdicts, mut refused, mut expected) = (vec![], vec![], vec![]);
                    let before = single.stats().duplicate_inits;
                    for op in &batch {
                        let acker::Op { root, message } = *op;
                        let applied = match message {
                            acker::Message::Init { task, produced } => {
                                single.init(root, task, produced).unwrap_or(Applied::Pending)
                            }
                            acker::Message::Update(update) => single.update(root, update),
                            acker::Message::Fail => single.fail(root),
                            acker::Message::Touch => {
                                single.touch(root);
                                Applied::Pending
                            }
                        };
                        if let Applied::Verdict(verdict) = applied {
                            expected.push(verdict);
                        }
                    }
                    let mine = |op: &acker::Op| usize::from(split && ours(op.root));
                    for (which, tracker) in pair.iter_mut().enumerate() {
                        let part: Vec<_> =
                            batch.iter().copied().filter(|op| mine(op) == which).collect();
                        tracker.apply(&part, &mut verdicts, &mut refused);
                    }
                    refusals += refused.len();
                    prop_assert_eq!(refused.len() as u64, single.stats().duplicate_inits - before);
                    single.advance(now, &mut expected);
                    pair.iter_mut().for_each(|tracker| tracker.advance(now, &mut verdicts));
                    for list in [&mut verdicts, &mut expected] {
                        list.sort_by_key(|verdict| (verdict.root, verdict.task));
                    }
                    prop_assert_eq!(verdicts, expected);
                    batch.clear();
                    // Same clocks: the generations stay as they are.
                    let [first, second] = &mut pair;
                    let (from, to) = if split { (second, first) } else { (first, second) };
                    let carried = from.extract(ours);
                    let mut none = Vec::new();
                    prop_assert_eq!(to.absorb(&carried, &mut none), Ok(()));
                    prop_assert!(none.is_empty());
                    split = !split;
                    let sum = |f: fn(&Tracker) -> usize| pair.iter().map(f).sum::<usize>();
                    prop_assert_eq!(sum(Tracker::len), single.len());
                    prop_assert_eq!(sum(Tracker::orphans), single.orphans());
                    continue;
                }
            };
            batch.push(message);
        }
        let duplicates: u64 = pair.iter().map(|tracker| tracker.stats().duplicate_inits).sum();
        prop_assert_eq!(refusals as u64, duplicates);
    }
}

/// Two inits of one root in two trackers, merged: one verdict for each.
#[test]
fn two_inits_that_meet_in_a_merge_both_fail() {
    let root = RootId::new(1).unwrap();
    let open = Delta::of(&one_hot()[..1]);
    let mut trackers = [0, 1].map(|_| tracker(Timeout::After(10), 3, 0));
    for (tracker, task) in trackers.iter_mut().zip([5, 6]) {
        assert_eq!(tracker.init(root, task, open), Ok(Applied::Pending));
    }
    let [first, second] = &mut trackers;
    let mut verdicts = Vec::new();
    assert_eq!(second.absorb(&first.extract(|_| true), &mut verdicts), Ok(()));
    let failed = |task| Verdict { root, task, outcome: Outcome::Failed };
    assert_eq!(verdicts, [failed(6), failed(5)]);
    assert_eq!((first.len(), second.len(), second.orphans()), (0, 0, 0));
}

/// Parts of one tree in two trackers: whichever is merged into the other, the sum is whole.
#[test]
fn parts_of_a_tree_merge_into_its_verdict() {
    let root = RootId::new(1).unwrap();
    let ids = one_hot();
    let mut trackers = [0, 1].map(|_| tracker(Timeout::After(10), 3, 0));
    let [first, second] = &mut trackers;
    assert_eq!(first.init(root, 5, Delta::of(&ids[..2])), Ok(Applied::Pending));
    assert_eq!(second.ack(root, Delta::of(&ids[..1]), Delta::EMPTY), Applied::Orphan);
    assert_eq!(second.ack(root, Delta::of(&ids[1..2]), Delta::EMPTY), Applied::Orphan);
    let mut verdicts = Vec::new();
    assert_eq!(first.absorb(&second.extract(|_| true), &mut verdicts), Ok(()));
    assert_eq!(verdicts, [Verdict { root, task: 5, outcome: Outcome::Done }]);
    assert!(first.is_empty() && second.orphans() == 0);
}

/// Records of a tracker whose tasks have 27 bits do not fit one where they have 24.
#[test]
fn a_carried_task_that_does_not_fit_is_refused() {
    let (root, task) = (RootId::new(1).unwrap(), 1 << 24);
    let mut first = tracker(Timeout::After(10), 3, 0);
    let mut second = tracker(Timeout::Progress { idle: 10, cap: 20 }, 3, 0);
    let open = Delta::of(&one_hot()[..1]);
    assert_eq!(second.max_task(), task - 1);
    let refused = Error::TaskTooLarge { task, largest: task - 1 };
    assert_eq!(second.init(root, task, open), Err(refused));
    assert_eq!(first.init(root, task, open), Ok(Applied::Pending));
    let mut verdicts = Vec::new();
    assert_eq!(second.absorb(&first.records(), &mut verdicts), Err(refused));
    assert!(second.is_empty() && verdicts.is_empty());
}
