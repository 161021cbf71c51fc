//! The hand-over of arcs: every order of everything, at small sizes.
//!
//! A state is all ackers, all that is on its way, and what has been told. From each state every
//! message or parcel on its way may arrive next, and every acker may hear of its next epoch. The
//! search visits every state that can be reached, for every choice of the epochs by which the
//! messages of the tree are sent.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{HashSet, VecDeque};

use acker::handover::{Acker, Out, Parcel};
use acker::{
    Active, Delta, EdgeId, Error, Message, Moves, Op, Outcome, Ring, RingHash, RootId, Timeout,
    Tracker, TrackerConfig, Verdict,
};

/// Member 0 at place 100, member 1 at 200, and so on; a root at its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Places;

impl RingHash for Places {
    fn key(&self, root: RootId) -> u32 {
        root.get() as u32
    }

    fn point(&self, member: u32, _: u32) -> u32 {
        100 + 100 * member
    }
}

/// On the arc of member 1.
const ROOT: RootId = RootId::new(150).unwrap();

fn ids<const N: usize>(bits: [u64; N]) -> Delta {
    Delta::of(&bits.map(|bits| EdgeId::new(bits).unwrap()))
}

/// An init and three acks: two tuples, of which the first has a child. One-hot ids.
fn tree() -> Vec<Op> {
    vec![
        Op::init(ROOT, 7, ids([1, 2])),
        Op::ack(ROOT, ids([1]), ids([4])),
        Op::ack(ROOT, ids([2]), Delta::EMPTY),
        Op::ack(ROOT, ids([4]), Delta::EMPTY),
    ]
}

/// An init and two acks: a tuple with a child, and the join of that with another.
fn join() -> Vec<Op> {
    vec![
        Op::init(ROOT, 7, ids([1, 2])),
        Op::ack(ROOT, ids([1]), ids([4])),
        Op::ack(ROOT, ids([2, 4]), Delta::EMPTY),
    ]
}

/// One epoch after another: the ring, what moves, and who has crashed.
type Epochs = Vec<(Ring<Places>, Moves, Option<u32>)>;

enum Change {
    Add(u32),
    Drain(u32),
    Crash(u32),
}

fn epochs(changes: &[Change]) -> (Ring<Places>, Epochs) {
    let mut ring = Ring::with_hasher(1, Places);
    ring.add(0).unwrap();
    let first = ring.clone();
    let mut all = Vec::new();
    for change in changes {
        let (moves, dead) = match *change {
            Change::Add(member) => (ring.add(member).unwrap(), None),
            Change::Drain(member) => (ring.remove(member).unwrap(), None),
            Change::Crash(member) => {
                (ring.set_active(member, Active::Crashed).unwrap(), Some(member))
            }
        };
        all.push((ring.clone(), moves, dead));
    }
    (first, all)
}

/// Something on its way.
#[derive(Clone, Debug)]
enum Mail {
    Op { to: u32, epoch: u64, op: Op },
    Parcel(Parcel),
}

#[derive(Clone)]
struct World {
    ackers: Vec<Acker<Places>>,
    /// How many epochs each acker has heard of.
    heard: Vec<usize>,
    mail: Vec<Mail>,
    verdicts: Vec<Verdict>,
    refused: usize,
    lost: bool,
    /// Something was on its way to the dead.
    dropped: bool,
}

impl World {
    fn new(ackers: u32, ring: &Ring<Places>, ops: &[(u64, Op)], rings: &Epochs) -> Self {
        let tracker = || {
            let timeout = Timeout::After(1_000);
            Tracker::new(TrackerConfig { timeout, generations: 4, seed: 1 }).unwrap()
        };
        let mail = |&(epoch, op): &(u64, Op)| {
            let place = ROOT.get() as u32;
            let ring = if epoch == 1 { ring } else { &rings[epoch as usize - 2].0 };
            Mail::Op { to: ring.at(place).unwrap(), epoch, op }
        };
        World {
            ackers: (0..ackers).map(|id| Acker::new(id, tracker(), ring.clone())).collect(),
            heard: vec![0; ackers as usize],
            mail: ops.iter().map(mail).collect(),
            verdicts: Vec::new(),
            refused: 0,
            lost: false,
            dropped: false,
        }
    }

    /// Whether everything that an acker sees or has seen is the same: two such worlds have the
    /// same future.
    fn key(&self) -> String {
        let mut mail: Vec<_> = self.mail.iter().map(|mail| format!("{mail:?}")).collect();
        mail.sort();
        let ackers: Vec<_> = self.ackers.iter().map(|a| (a, a.tracker().records())).collect();
        format!(
            "{ackers:?} {:?} {mail:?} {:?} {} {} {}",
            self.heard, self.verdicts, self.refused, self.lost, self.dropped
        )
    }

    fn take(&mut self, outs: Vec<Out>) {
        for out in outs {
            match out {
                Out::Forward { to, epoch, op } => self.mail.push(Mail::Op { to, epoch, op }),
                Out::Parcel(parcel) => self.mail.push(Mail::Parcel(parcel)),
                Out::Verdict(verdict) => self.verdicts.push(verdict),
                Out::Refused { root, error } => {
                    assert_eq!(error, Error::DuplicateRoot { root });
                    self.refused += 1;
                }
                Out::Lost { arc } => self.lost |= arc.contains(ROOT.get() as u32),
            }
        }
    }

    fn deliver(&mut self, at: usize, dead: &[bool]) {
        let mut out = Vec::new();
        match self.mail.swap_remove(at) {
            Mail::Op { to, .. } if dead[to as usize] => return self.dropped = true,
            Mail::Parcel(parcel) if dead[parcel.to as usize] => return self.dropped = true,
            Mail::Op { to, epoch, op } => {
                self.ackers[to as usize].deliver(epoch, op, &mut out);
            }
            Mail::Parcel(parcel) => self.ackers[parcel.to as usize].receive(parcel, &mut out),
        }
        self.take(out);
    }

    fn hear(&mut self, id: usize, (ring, moves, dead): &(Ring<Places>, Moves, Option<u32>)) {
        let mut out = Vec::new();
        self.heard[id] += 1;
        match dead {
            Some(dead) => self.ackers[id].crash(*dead, ring.clone(), moves.clone(), &mut out),
            None => self.ackers[id].begin(ring.clone(), moves.clone(), &mut out),
        }
        .unwrap();
        self.take(out);
    }
}

/// What must hold in a state, and in one from which nothing can happen any more.
struct Rules<'a> {
    always: &'a dyn Fn(&World),
    at_the_end: &'a dyn Fn(&World),
}

/// Visits every state that can be reached; returns how many there are.
fn explore(start: World, rings: &Epochs, rules: &Rules<'_>) -> usize {
    // A crashed acker does nothing from the moment that anybody hears of it.
    let crash = rings.iter().position(|epoch| epoch.2.is_some());
    let dead = |world: &World| -> Vec<bool> {
        (0u32..)
            .zip(&world.ackers)
            .map(|(id, _)| {
                crash.is_some_and(|crash| {
                    rings[crash].2 == Some(id) && world.heard.iter().any(|&heard| heard > crash)
                })
            })
            .collect()
    };
    let mut seen = HashSet::from([start.key()]);
    let mut queue = VecDeque::from([start]);
    while let Some(world) = queue.pop_front() {
        (rules.always)(&world);
        let dead = dead(&world);
        let mut next = Vec::new();
        for at in 0..world.mail.len() {
            let mut new = world.clone();
            new.deliver(at, &dead);
            next.push(new);
        }
        for (id, &heard) in world.heard.iter().enumerate() {
            let crashes = rings.get(heard).is_some_and(|epoch| epoch.2 == Some(id as u32));
            if heard < rings.len() && !dead[id] && !crashes {
                let mut new = world.clone();
                new.hear(id, &rings[heard]);
                next.push(new);
            }
        }
        if next.is_empty() {
            (rules.at_the_end)(&world);
        }
        for new in next {
            if seen.insert(new.key()) {
                queue.push_back(new);
            }
        }
    }
    seen.len()
}

/// Every choice of the epochs by which the messages are sent, out of `1..=last`.
fn choices(ops: &[Op], last: u64) -> impl Iterator<Item = Vec<(u64, Op)>> + '_ {
    (0..last.pow(ops.len() as u32)).map(move |mut choice| {
        ops.iter()
            .map(|&op| {
                let epoch = choice % last + 1;
                choice /= last;
                (epoch, op)
            })
            .collect()
    })
}

fn verdict(outcome: Outcome) -> Verdict {
    Verdict { root: ROOT, task: 7, outcome }
}

/// Whether the init was sent to member 0, by the first ring.
fn init_by_1(ops: &[(u64, Op)]) -> bool {
    ops.iter().any(|(epoch, op)| *epoch == 1 && matches!(op.message, Message::Init { .. }))
}

/// The sums that are on their way, held or kept add up to the ids that are open: zero at the end.
fn nothing_is_left(world: &World) {
    assert!(world.mail.is_empty() && world.ackers.iter().all(Acker::is_settled));
    for acker in &world.ackers {
        assert_eq!(acker.tracker().records(), []);
    }
}

#[test]
fn an_arc_that_moves_and_comes_back_gives_one_verdict_after_the_last_message() {
    let mut states = 0;
    for (changes, ops) in [
        (vec![Change::Add(1)], tree()),
        (vec![Change::Add(1), Change::Drain(1)], join()),
        (vec![Change::Add(1), Change::Drain(0)], join()),
    ] {
        let (ring, rings) = epochs(&changes);
        for ops in choices(&ops, rings.len() as u64 + 1) {
            let rules = Rules {
                always: &|world| {
                    assert!(
                        world.verdicts.is_empty() || world.verdicts == [verdict(Outcome::Done)]
                    );
                    // Not while a message has not been applied anywhere.
                    let on_its_way = |m: &Mail| matches!(m, Mail::Op { .. });
                    assert!(world.verdicts.is_empty() || !world.mail.iter().any(on_its_way));
                },
                at_the_end: &|world| {
                    nothing_is_left(world);
                    assert_eq!(world.verdicts, [verdict(Outcome::Done)]);
                },
            };
            states += explore(World::new(2, &ring, &ops, &rings), &rings, &rules);
        }
    }
    assert!(states > 5_000, "{states}");
}

#[test]
fn three_ackers_pass_an_arc_on() {
    // Member 2 is at 300: the arc of 150 goes 0, 2, 1.
    let (ring, rings) = epochs(&[Change::Add(2), Change::Add(1)]);
    let ops = &tree()[..3];
    for ops in choices(ops, 3) {
        let rules = Rules {
            always: &|world| assert!(world.verdicts.is_empty()),
            at_the_end: &|world| {
                // One ack is missing: the new owner knows all else.
                let records = world.ackers[1].tracker().records();
                assert_eq!(records.len(), 1);
                assert_eq!((records[0].sum.bits(), records[0].task), (4, Some(7)));
                assert!(world.ackers.iter().all(Acker::is_settled));
                assert!([0, 2].iter().all(|&id| world.ackers[id].tracker().records().is_empty()));
            },
        };
        explore(World::new(3, &ring, &ops, &rings), &rings, &rules);
    }
}

#[test]
fn a_failure_fails_the_root_once_wherever_it_comes() {
    let (ring, rings) = epochs(&[Change::Add(1), Change::Drain(1)]);
    let mut ops = join();
    ops[2] = Op::fail(ROOT);
    for ops in choices(&ops, 3) {
        let rules = Rules {
            always: &|world| assert!(world.verdicts.len() <= 1),
            at_the_end: &|world| assert_eq!(world.verdicts, [verdict(Outcome::Failed)]),
        };
        explore(World::new(2, &ring, &ops, &rings), &rings, &rules);
    }
}

/// The sum of the four messages is zero; a failure that came before the last of them beats it.
#[test]
fn a_failure_before_the_init_beats_zero_across_a_move() {
    let (ring, rings) = epochs(&[Change::Add(1)]);
    let ops = [Op::fail(ROOT), Op::init(ROOT, 7, ids([1])), Op::ack(ROOT, ids([1]), Delta::EMPTY)];
    for ops in choices(&ops, 2) {
        let rules = Rules {
            always: &|world| {
                assert!(world.verdicts.len() <= 1);
                // Done only if both messages overtook the failure.
                let failure =
                    |m: &Mail| matches!(m, Mail::Op { op, .. } if op.message == Message::Fail);
                if world.verdicts == [verdict(Outcome::Done)]
                    && world.ackers.iter().all(Acker::is_settled)
                {
                    let orphan = world.ackers.iter().any(|a| a.tracker().orphans() == 1);
                    let parcel = world
                        .mail
                        .iter()
                        .any(|m| matches!(m, Mail::Parcel(p) if !p.records.is_empty()));
                    assert!(orphan || parcel || world.mail.iter().any(failure));
                }
            },
            at_the_end: &|world| assert_eq!(world.verdicts.len(), 1),
        };
        explore(World::new(2, &ring, &ops, &rings), &rings, &rules);
    }
}

/// A second init of a pending root would cancel the first: it is refused, wherever both come.
#[test]
fn a_second_init_is_refused_across_a_move() {
    let (ring, rings) = epochs(&[Change::Add(1)]);
    // The tree stays open, so that both inits find it pending.
    let ops = [tree()[0], tree()[0], tree()[1]];
    for ops in choices(&ops, 2) {
        let rules = Rules {
            always: &|world| assert!(world.verdicts.is_empty() && world.refused <= 1),
            at_the_end: &|world| {
                assert_eq!(world.refused, 1);
                let records: Vec<_> =
                    world.ackers.iter().flat_map(|a| a.tracker().records()).collect();
                assert_eq!(records.len(), 1);
                assert_eq!(records[0].sum.bits(), 0b110);
            },
        };
        explore(World::new(2, &ring, &ops, &rings), &rings, &rules);
    }
}

/// Fail fast: the springs are told of every root that may be lost, and no root is done that is
/// not. What the springs fail themselves is not counted here.
#[test]
fn a_crash_loses_no_root_in_silence() {
    let mut states = 0;
    for changes in [vec![Change::Add(1), Change::Crash(1)], vec![Change::Add(1), Change::Crash(0)]]
    {
        let (ring, rings) = epochs(&changes);
        for ops in choices(&join(), 3) {
            let rules = Rules {
                always: &|world| {
                    assert!(
                        world.verdicts.is_empty() || world.verdicts == [verdict(Outcome::Done)]
                    );
                },
                at_the_end: &|world| {
                    assert!(world.mail.is_empty());
                    let survivor = world.heard.iter().position(|&heard| heard == 2).unwrap();
                    assert!(world.ackers[survivor].is_settled());
                    // Without a loss that was told, all is as without a crash; but what was on
                    // its way to the dead is lost, and its root ends by its time-out.
                    let records = world.ackers[survivor].tracker().records();
                    let waits = records.iter().any(|record| record.task.is_some());
                    let told = world.lost || world.verdicts.len() == 1;
                    assert!(told || (world.dropped && (waits || init_by_1(&ops))));
                },
            };
            states += explore(World::new(2, &ring, &ops, &rings), &rings, &rules);
        }
    }
    assert!(states > 2_000, "{states}");
}

/// The search notices what is wrong: here a transport that loses parcels.
#[test]
fn a_parcel_that_is_lost_leaves_a_root_without_a_verdict() {
    let (ring, rings) = epochs(&[Change::Add(1)]);
    let ops: Vec<_> = tree().into_iter().map(|op| (1, op)).collect();
    let mut world = World::new(2, &ring, &ops, &rings);
    let dead = [false; 2];
    world.deliver(0, &dead);
    world.hear(0, &rings[0]);
    world.hear(1, &rings[0]);
    let parcel = world.mail.iter().position(|mail| matches!(mail, Mail::Parcel(_))).unwrap();
    world.mail.remove(parcel);
    while !world.mail.is_empty() {
        world.deliver(0, &dead);
    }
    assert!(world.verdicts.is_empty() && !world.ackers[1].is_settled());
}

/// A network may repeat itself, or deliver to the wrong door.
#[test]
fn a_parcel_that_comes_twice_or_to_another_is_no_harm() {
    let (ring, rings) = epochs(&[Change::Add(1), Change::Add(2)]);
    let mut world = World::new(3, &ring, &[], &rings);
    let mut out = Vec::new();
    world.ackers[0].deliver(1, tree()[0], &mut out);
    world.hear(0, &rings[0]);
    let Some(Mail::Parcel(parcel)) = world.mail.pop() else { unreachable!("an arc is lost") };
    world.ackers[2].receive(parcel.clone(), &mut out);
    assert_eq!(out, [Out::Parcel(parcel.clone())]);
    out.clear();

    // Twice before its epoch, once in it, once after.
    world.ackers[1].receive(parcel.clone(), &mut out);
    world.ackers[1].receive(parcel.clone(), &mut out);
    world.hear(1, &rings[0]);
    world.ackers[1].receive(parcel.clone(), &mut out);
    world.hear(1, &rings[1]);
    world.ackers[1].receive(parcel, &mut out);
    assert_eq!((out, world.verdicts.len()), (vec![], 0));
    assert!(world.ackers[1].is_settled());
    let records = world.ackers[1].tracker().records();
    assert_eq!((records.len(), records[0].task, records[0].sum.bits()), (1, Some(7), 3));
}

#[test]
fn an_epoch_out_of_turn_is_refused() {
    let (ring, rings) = epochs(&[Change::Add(1), Change::Drain(1)]);
    let mut acker = World::new(1, &ring, &[], &rings).ackers.remove(0);
    let mut out = Vec::new();
    let refused = |epoch, next| Err(Error::EpochOutOfTurn { epoch, next });
    let [(first, moves, _), (second, later, _)] = &rings[..] else { unreachable!("two epochs") };
    assert_eq!(acker.begin(second.clone(), later.clone(), &mut out), refused(3, 2));
    assert_eq!(acker.crash(1, second.clone(), moves.clone(), &mut out), refused(2, 2));
    assert_eq!((acker.epoch(), out.len()), (1, 0));
    assert_eq!(acker.begin(first.clone(), moves.clone(), &mut out), Ok(()));
    assert_eq!(acker.begin(first.clone(), moves.clone(), &mut out), refused(2, 3));
    assert_eq!((acker.epoch(), out.len()), (2, 1));
    let text = Error::EpochOutOfTurn { epoch: 2, next: 3 }.to_string();
    assert_eq!(text, "epoch 2 is out of turn: epoch 3 with its own ring is next");
}
