//! What lies between the workers: links, lanes, loss, repeats.

use std::collections::BTreeSet;

use super::calendar::{Calendar, Due};
use super::cluster::Cluster;
use super::dice::{Dice, Skips};
use super::faults::Faults;
use super::link::{Lanes, Pair};
use super::node::NodeState;
use super::outcome::{FaultStats, LinkStats, Traffic};
use super::post::{COORDINATOR, Count, Parcel, Post, Slot};
use super::queues::Queues;
use super::trace::Trace;
use crate::config::whole;
use crate::core::{ComponentId, Envelope, Loss, Nanos, Plan, WorkerId};

/// Longest time, beside the way there and back, after which a lost batch is known to be lost, and a
/// lost message is sent again.
const NOTICE: Nanos = 1_000_000;
/// Times that one message is lost at most before it arrives.
const RESENDS: u64 = 16;

/// The network of one run, and the rest of the world around the workers.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) now: Nanos,
    pub(super) calendar: Calendar,
    pub(super) trace: Trace,
    pub(super) dice: Dice,
    pub(super) nodes: Vec<NodeState>,
    /// The node of each seat.
    pub(super) node_of: Vec<u32>,
    /// The incarnation in force.
    pub(super) incarnation: u64,
    /// The incarnation of the worker that is or was last at each seat: places of queues are its own.
    pub(super) lives: Vec<u64>,
    /// By incarnation: the seat of each worker. An earlier one knows no later addresses.
    pub(super) addresses: Vec<Vec<Slot>>,
    pub(super) queues: Queues,
    /// Mail that each seat has not taken in yet.
    pub(super) inboxes: Vec<Vec<Parcel>>,
    /// When which seats will hear of a free place.
    pub(super) rooms: BTreeSet<(Nanos, Slot)>,
    pub(super) stats: FaultStats,
    pairs: Vec<Pair>,
    /// The way to and from the coordinator.
    office: Nanos,
    lanes: Lanes,
    faults: Faults,
    chances_until: Nanos,
    chancy: bool,
    delay: Nanos,
    lose: Option<Skips>,
    drop: Option<Skips>,
    /// Bytes a tuple of each component, where a model stands for the items' own size.
    pub(super) bytes: Vec<Option<u64>>,
}

impl Net {
    pub(super) fn new(
        cluster: &Cluster,
        faults: &Faults,
        node_of: Vec<u32>,
        plan: &Plan,
        seed: u64,
    ) -> Self {
        let n = cluster.nodes.len();
        let mut pairs = vec![Pair::new(&cluster.link); n * n];
        for &(a, b, ref link) in &cluster.links {
            pairs[a * n + b] = Pair::new(link);
            pairs[b * n + a] = Pair::new(link);
        }
        for node in 0..n {
            pairs[node * n + node] = Pair::new(&cluster.local);
        }
        let mut nodes: Vec<NodeState> =
            (0..).zip(&cluster.nodes).map(|(at, node)| NodeState::new(at, node, faults)).collect();
        for &node in &node_of {
            nodes[node as usize].workers += 1;
        }
        let delay = whole(faults.delay);
        let down = nodes.iter().any(|node| !node.windows.down().is_empty());
        let uneven = delay > 0 || faults.lose_control > 0 || down;
        let seats = node_of.len();
        let Faults { lose_tuples, lose_batches, repeat_batches, stale_batches, .. } = *faults;
        let Faults { lose_acks, repeat_acks, lose_control, repeat_control, .. } = *faults;
        let chances = [
            lose_tuples,
            lose_batches,
            repeat_batches,
            stale_batches,
            lose_acks,
            repeat_acks,
            lose_control,
            repeat_control,
        ];
        Net {
            now: 0,
            calendar: Calendar::default(),
            trace: Trace::default(),
            dice: Dice::new(seed),
            nodes,
            queues: Queues::new(plan.config.workers, plan.components.len(), plan.config.queue),
            inboxes: node_of.iter().map(|_| Vec::new()).collect(),
            rooms: BTreeSet::new(),
            stats: FaultStats::default(),
            addresses: vec![(0..).take(node_of.len()).collect()],
            incarnation: super::incarnation::FIRST,
            lives: vec![super::incarnation::FIRST; node_of.len()],
            node_of,
            pairs,
            office: whole(cluster.link.latency),
            lanes: Lanes::new(seats, uneven && !faults.reorder),
            chances_until: faults.until.map_or(Nanos::MAX, whole),
            chancy: delay > 0 || chances.iter().any(|&chance| chance > 0),
            delay,
            lose: Skips::new(faults.lose_tuples),
            drop: Skips::new(plan.config.drop_ppm),
            faults: faults.clone(),
            bytes: vec![None; plan.components.len()],
        }
    }

    fn node(&self, slot: Slot) -> usize {
        self.node_of[slot as usize] as usize
    }

    /// Where an incarnation has a worker.
    pub(super) fn address(&self, incarnation: u64, worker: WorkerId) -> Slot {
        let of = usize::try_from(incarnation).ok().and_then(|at| self.addresses.get(at));
        of.and_then(|slots| slots.get(worker as usize)).copied().unwrap_or(0)
    }

    /// A new seat on `node`; its number.
    pub(super) fn new_slot(&mut self, node: u32) -> Slot {
        let slot = self.node_of.len();
        self.node_of.push(node);
        self.inboxes.push(Vec::new());
        // Of no incarnation yet: its first word begins it.
        self.lives.push(super::incarnation::FIRST);
        self.queues.grow(self.node_of.len());
        self.nodes[node as usize].workers += 1;
        self.lanes.grow();
        Slot::try_from(slot).unwrap_or(Slot::MAX)
    }

    fn pair(&mut self, from: Slot, to: Slot) -> &mut Pair {
        let at = self.node(from) * self.nodes.len() + self.node(to);
        &mut self.pairs[at]
    }

    /// The time that a message is on its way, beside waiting for the wire.
    pub(super) fn latency(&mut self, from: Slot, to: Slot) -> Nanos {
        if from == COORDINATOR || to == COORDINATOR {
            self.office
        } else {
            self.pair(from, to).latency
        }
    }

    /// The time until one seat hears of what happens at another.
    pub(super) fn way(&mut self, from: Slot, to: Slot) -> Nanos {
        if from == to { 0 } else { self.latency(from, to) }
    }

    /// A seat will hear at `at` of a place that is free.
    pub(super) fn room(&mut self, slot: Slot, at: Nanos) {
        // It may be refused more than once until then.
        if self.rooms.insert((at, slot)) {
            self.calendar.put(at, Due::Room(slot));
        }
    }

    fn chances(&self, at: Nanos) -> bool {
        self.chancy && at < self.chances_until
    }

    /// Sends a batch at `leave`; `count` says whether it has its place.
    pub(super) fn batch(
        &mut self,
        (mut envelope, count): (Envelope, Count),
        (from, to): (Slot, Slot),
        sender: ComponentId,
        leave: Nanos,
    ) {
        let tuples = envelope.body.len() as u64;
        let payload = match self.bytes.get(sender as usize) {
            Some(&Some(each)) => each.saturating_mul(tuples),
            _ => envelope.body.size() as u64,
        };
        let bytes = payload.saturating_add(super::post::HEADER);
        let traffic = &mut self.pair(from, to).traffic;
        traffic.batches += 1;
        traffic.tuples += tuples;
        traffic.bytes = traffic.bytes.saturating_add(bytes);
        if count == Count::Full || from == to {
            let node = self.node(from);
            self.nodes[node].hold(bytes);
        }
        let (component, epoch) = (envelope.component, envelope.epoch);
        self.trace.words(&[leave, 1 << 32 | u64::from(from), u64::from(to)]);
        self.trace.words(&[u64::from(component), epoch, tuples, bytes]);
        for run in envelope.body.tracks() {
            self.trace.word(run.track.get());
        }
        if let Some(drop) = &self.drop {
            let dice = &mut self.dice;
            self.stats.lost_tuples += envelope.body.lose(&mut || drop.draw(dice));
        }
        let parcel = |envelope, count| {
            let post = Post::Batch(envelope);
            Parcel { from, to, leave, bytes, count, post }
        };
        if from == to {
            // It has no way to go: the worker takes it in at its next step.
            self.inboxes[to as usize].push(parcel(envelope, count));
            return;
        }
        if self.chances(leave) {
            if let Some(lose) = &self.lose {
                let dice = &mut self.dice;
                self.stats.lost_tuples += envelope.body.lose(&mut || lose.draw(dice));
            }
            if envelope.incarnation > super::incarnation::FIRST
                && self.dice.chance(self.faults.stale_batches)
                && let Some(body) = envelope.body.repeat()
            {
                self.stats.stale_batches += 1;
                let incarnation = envelope.incarnation - 1;
                let stale = Envelope { body, incarnation, ..envelope };
                self.send(parcel(stale, Count::Extra), leave);
            }
            let lost = self.dice.chance(self.faults.lose_batches);
            if self.dice.chance(self.faults.repeat_batches)
                && let Some(body) = envelope.body.repeat()
            {
                self.stats.repeated_batches += 1;
                // Where one of the two is lost, the other takes its place.
                let count = if lost { count } else { Count::Extra };
                self.send(parcel(Envelope { body, ..envelope }, count), leave);
                if lost {
                    self.stats.lost_batches += 1;
                    return;
                }
            } else if lost {
                self.lose(parcel(envelope, count), leave);
                return;
            }
        }
        self.send(parcel(envelope, count), leave);
    }

    /// Sends anything but a batch at `leave`.
    pub(super) fn message(&mut self, from: Slot, to: Slot, post: Post, leave: Nanos) {
        let bytes = post.control_bytes();
        if from != COORDINATOR && to != COORDINATOR {
            let traffic = &mut self.pair(from, to).traffic;
            traffic.messages += 1;
            traffic.bytes = traffic.bytes.saturating_add(bytes);
        }
        let kind = 2 + post.lane() as u64;
        self.trace.words(&[leave, kind << 32 | u64::from(from), u64::from(to), bytes]);
        let parcel = |post| Parcel { from, to, leave, bytes, count: Count::Full, post };
        let mut late = 0;
        if self.chances(leave) {
            let lossy = post.lossy();
            let Faults { lose_acks, repeat_acks, lose_control, repeat_control, .. } = self.faults;
            let (lose, repeat) =
                if lossy { (lose_acks, repeat_acks) } else { (lose_control, repeat_control) };
            if self.dice.chance(repeat)
                && let Some(again) = post.again()
            {
                self.stats.repeated_messages += 1;
                self.send(parcel(again), leave);
            }
            if lossy && self.dice.chance(lose) {
                self.stats.lost_messages += 1;
                return;
            }
            let mut lost = 0;
            while !lossy && lost < RESENDS && self.dice.chance(lose) {
                lost += 1;
            }
            self.stats.resent_messages += lost;
            let once = self.latency(from, to).saturating_mul(2);
            let once = once.saturating_add(self.delay).saturating_add(NOTICE);
            late = lost.saturating_mul(once);
        }
        self.send(parcel(post), leave.saturating_add(late));
    }

    /// Something is lost on its way. The receiver of a batch learns of it later, and only then its
    /// place is free.
    fn lose(&mut self, parcel: Parcel, leave: Nanos) {
        let Parcel { from, to, bytes, count, post, .. } = parcel;
        let Post::Batch(envelope) = post else {
            self.stats.lost_messages += 1;
            return;
        };
        let node = self.node(from);
        self.nodes[node].release(bytes, count);
        self.stats.lost_batches += 1;
        if count == Count::Extra {
            return;
        }
        let loss = Loss::of(&envelope);
        self.stats.lost_in_batches += loss.tuples;
        let most = self.latency(from, to).saturating_mul(2);
        let most = most.saturating_add(self.delay).saturating_add(NOTICE);
        let at = leave.saturating_add(1 + self.dice.below(most));
        let at = self.reachable(from, to, at, false).unwrap_or(at);
        let parcel = Parcel { from, to, leave, bytes: 0, count, post: Post::Lost(loss) };
        self.calendar.parcel(at, parcel, Due::Arrive);
    }

    /// Brings a parcel to its link at `leave`.
    fn send(&mut self, mut parcel: Parcel, leave: Nanos) {
        let Parcel { from, to, .. } = parcel;
        parcel.leave = leave;
        let wire =
            from != COORDINATOR && to != COORDINATOR && { self.pair(from, to).bandwidth.is_some() };
        if wire && leave > self.now {
            // Others may come first: the link is looked at when it is there.
            self.calendar.parcel(leave, parcel, Due::Depart);
        } else {
            self.depart(parcel, leave);
        }
    }

    /// Puts a parcel on its link.
    pub(super) fn depart(&mut self, parcel: Parcel, leave: Nanos) {
        let Parcel { from, to, bytes, .. } = parcel;
        let lossy = parcel.post.lossy();
        let Some(leave) = self.reachable(from, to, leave, lossy) else {
            self.lose(parcel, leave);
            return;
        };
        let mut at = leave;
        if from != COORDINATOR && to != COORDINATOR {
            at = self.pair(from, to).transfer(bytes, leave);
        }
        at = at.saturating_add(self.latency(from, to));
        if self.chances(leave) {
            at = at.saturating_add(self.dice.below(self.delay.saturating_add(1)));
        }
        let Some(at) = self.reachable(from, to, at, lossy) else {
            self.lose(parcel, leave);
            return;
        };
        let at = self.lanes.in_order(from, to, parcel.post.lane(), at);
        self.calendar.parcel(at, parcel, Due::Arrive);
    }

    /// When a message that is underway at `at` goes on: at once, or when both nodes are reachable;
    /// `None` where it is lost instead.
    fn reachable(&self, from: Slot, to: Slot, at: Nanos, lossy: bool) -> Option<Nanos> {
        let ends = [from, to].map(|w| (w != COORDINATOR).then(|| self.node(w)));
        if ends[0] == ends[1] {
            return Some(at);
        }
        let mut at = at;
        loop {
            let back = ends
                .into_iter()
                .flatten()
                .filter_map(|node| self.nodes[node].windows.down_until(at))
                .max();
            match back {
                None => return Some(at),
                Some(_) if lossy => return None,
                Some(back) => at = back,
            }
        }
    }

    /// Figures of all links that carried anything.
    pub(super) fn links(&self) -> Vec<LinkStats> {
        let n = self.nodes.len();
        let pairs = self.pairs.iter().enumerate();
        pairs
            .filter(|(_, pair)| pair.traffic != Traffic::default())
            .map(|(at, pair)| LinkStats {
                from: at / n,
                to: at % n,
                traffic: pair.traffic,
                busy: std::time::Duration::from_nanos(pair.busy),
            })
            .collect()
    }
}
