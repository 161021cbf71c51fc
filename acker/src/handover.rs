//! Arcs of the ring change hands while messages are on their way.
//!
//! Every change of the ring is an epoch. Each acker hears of each epoch once, in order, but when
//! it will; so do those who send messages, and each message says by which epoch it was sent.
//!
//! * An acker that loses arcs sends the records on them to each new owner as one [`Parcel`], at
//!   once, and forwards whatever still comes for them.
//! * An acker that gains an arc holds the messages for it until the parcel has come. So failures,
//!   repeated inits and sums meet in one place before a verdict, which is the one that a single
//!   tracker would have given: what came before the parcel was sent is in the parcel.
//! * The sums of both merge by XOR, which does not mind the order.
//! * An epoch begins at an acker when all parcels of the one before have come.
//!
//! A member that leaves in good order is *drained*: [`Acker::begin`] without it on the ring. One
//! that has crashed has lost its records; then the rest *fail fast*: [`Acker::crash`] waits for
//! nothing of it, and tells the arcs ([`Out::Lost`]) whose roots have to fail at their springs.
//! Parcels and forwarded messages arrive in any order, as long as both ends live, and messages
//! once; a parcel that is repeated is dropped. What is on its way to an acker that crashes is lost with it: a root whose ack this was ends by its
//! time-out, and an init has to be sent again, to the new owner.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use crate::{
    Applied, Arc, Carried, Error, Message, Move, Moves, Op, Ring, RingHash, RootId, Ticks, Tracker,
    Verdict,
};

/// The records of all arcs that one acker has to hand over to another, on their way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parcel {
    /// The epoch in which the arcs move.
    pub epoch: u64,
    /// The acker that had them.
    pub from: u32,
    /// The acker that gets them.
    pub to: u32,
    /// All that was known of the roots on them.
    pub records: Vec<Carried>,
}

/// What an acker has to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Out {
    /// Send this message on, as one of this epoch.
    Forward {
        /// The acker that it goes to.
        to: u32,
        /// The epoch by which it is sent.
        epoch: u64,
        /// The message.
        op: Op,
    },
    /// Send this parcel to the acker that it names.
    Parcel(Parcel),
    /// A root has ended.
    Verdict(Verdict),
    /// A message was refused.
    Refused {
        /// The root in question.
        root: RootId,
        /// Why.
        error: Error,
    },
    /// All that was known of the roots on this arc may be lost: their springs must fail those
    /// that have no verdict.
    Lost {
        /// The arc.
        arc: Arc,
    },
}

/// An epoch that is to begin.
#[derive(Clone, Debug)]
struct Epoch<H> {
    ring: Ring<H>,
    moves: Moves,
}

/// One acker of a ring: a tracker that can hand over arcs. No clock, no thread, no I/O: what
/// it has to say is appended to a list.
#[derive(Clone)]
pub struct Acker<H> {
    id: u32,
    tracker: Tracker,
    /// As of the present epoch.
    ring: Ring<H>,
    epoch: u64,
    /// The moves by which the present epoch began.
    moves: Moves,
    /// The ackers whose parcels of this epoch have not come.
    awaited: Vec<u32>,
    /// Messages that have to wait, with the epochs by which they were sent.
    held: Vec<(u64, Op)>,
    /// Parcels of epochs that have not begun here.
    early: Vec<Parcel>,
    /// Epochs that wait for parcels.
    queue: VecDeque<Epoch<H>>,
    dead: Vec<u32>,
}

impl<H: RingHash + Clone> Acker<H> {
    /// The acker `id` of a ring on which nothing has happened yet, or which it has just joined:
    /// then the change that added it is its first epoch.
    #[must_use]
    pub const fn new(id: u32, tracker: Tracker, ring: Ring<H>) -> Self {
        let epoch = ring.epoch();
        Self {
            id,
            tracker,
            ring,
            epoch,
            moves: Moves { epoch, arcs: Vec::new() },
            awaited: Vec::new(),
            held: Vec::new(),
            early: Vec::new(),
            queue: VecDeque::new(),
            dead: Vec::new(),
        }
    }

    /// Its tracker.
    #[must_use]
    pub const fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// The epoch that it is in. O(1).
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether it waits for nothing: no parcel, no epoch. O(1).
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.awaited.is_empty() && self.held.is_empty() && self.early.is_empty()
    }

    /// A message that was sent by `epoch`: it is applied, held or sent on. Expected O(1), and
    /// O(log arcs) while arcs change hands.
    pub fn deliver(&mut self, epoch: u64, op: Op, out: &mut Vec<Out>) {
        let place = self.ring.key(op.root);
        if epoch > self.epoch || self.is_awaited(place) {
            // Held in order, and looked at again as epochs begin and parcels come.
            return self.held.push((epoch, op));
        }
        match self.ring.at(place) {
            Some(owner) if owner != self.id => {
                out.push(Out::Forward { to: owner, epoch: self.epoch, op });
            }
            _ => self.apply(op, out),
        }
    }

    /// Whether the parcel with what is known of this place is on its way here.
    fn is_awaited(&self, place: u32) -> bool {
        let awaited = |from| self.awaited.contains(&from);
        let to_here = |moved: &&Move| moved.to == Some(self.id);
        !self.awaited.is_empty()
            && self.moves.at(place).filter(to_here).and_then(|m| m.from).is_some_and(awaited)
    }

    fn apply(&mut self, op: Op, out: &mut Vec<Out>) {
        let root = op.root;
        let applied = match op.message {
            Message::Init { task, produced } => match self.tracker.init(root, task, produced) {
                Ok(applied) => applied,
                Err(error) => return out.push(Out::Refused { root, error }),
            },
            Message::Update(update) => self.tracker.update(root, update),
            Message::Fail => self.tracker.fail(root),
            Message::Touch => {
                self.tracker.touch(root);
                return;
            }
        };
        if let Applied::Verdict(verdict) = applied {
            out.push(Out::Verdict(verdict));
        }
    }

    /// The next epoch: `ring` after the change, and the moves that the change returned. Where
    /// parcels of the epoch before are awaited, it begins once they have come. O(arcs); if an
    /// arc is lost O(slots), and for k records on such arcs O(k log k + k log arcs).
    ///
    /// # Errors
    ///
    /// [`Error::EpochOutOfTurn`] unless it is the one after the last that was heard of, and the
    /// ring and the moves are of one change. Then nothing has changed.
    pub fn begin(&mut self, ring: Ring<H>, moves: Moves, out: &mut Vec<Out>) -> Result<(), Error> {
        self.enqueue(ring, moves)?;
        self.proceed(out);
        Ok(())
    }

    /// As [`begin`](Self::begin), where the change is that the member `dead` has crashed or was
    /// taken off for it: nothing is awaited of it from now on, and what comes is dropped.
    /// It may come back, but as another member: what it once sent may still be on its way.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    pub fn crash(
        &mut self,
        dead: u32,
        ring: Ring<H>,
        moves: Moves,
        out: &mut Vec<Out>,
    ) -> Result<(), Error> {
        self.enqueue(ring, moves)?;
        self.dead.push(dead);
        self.early.retain(|parcel| parcel.from != dead);
        self.give_up(out);
        self.proceed(out);
        Ok(())
    }

    fn enqueue(&mut self, ring: Ring<H>, moves: Moves) -> Result<(), Error> {
        let last = self.queue.back().map_or(self.epoch, |epoch| epoch.moves.epoch);
        let (epoch, next) = (moves.epoch, last.saturating_add(1));
        if epoch != next || ring.epoch() != next {
            return Err(Error::EpochOutOfTurn { epoch, next });
        }
        self.queue.push_back(Epoch { ring, moves });
        Ok(())
    }

    /// A parcel has come. One that is for another acker is sent on, one that was here before or
    /// that comes from the dead is dropped. Expected O(its records).
    pub fn receive(&mut self, parcel: Parcel, out: &mut Vec<Out>) {
        if parcel.to != self.id {
            return out.push(Out::Parcel(parcel));
        }
        if self.dead.contains(&parcel.from) {
            return;
        }
        if parcel.epoch > self.epoch {
            return self.early.push(parcel);
        }
        self.open(&parcel, out);
        self.proceed(out);
    }

    /// Moves the clock, and tells who has timed out; see [`Tracker::advance`].
    pub fn advance(&mut self, now: Ticks, out: &mut Vec<Out>) {
        let mut verdicts = Vec::new();
        self.tracker.advance(now, &mut verdicts);
        out.extend(verdicts.into_iter().map(Out::Verdict));
    }

    /// Gives up waiting for the dead.
    fn give_up(&mut self, out: &mut Vec<Out>) {
        for &dead in &self.dead {
            let waits = self.awaited.len();
            self.awaited.retain(|&from| from != dead);
            if self.awaited.len() < waits {
                let lost = |m: &&Move| m.from == Some(dead) && m.to == Some(self.id);
                let arcs = self.moves.arcs.iter().filter(lost);
                out.extend(arcs.map(|moved| Out::Lost { arc: moved.arc }));
            }
        }
    }

    fn open(&mut self, parcel: &Parcel, out: &mut Vec<Out>) {
        let waits = self.awaited.len();
        self.awaited.retain(|&from| from != parcel.from || parcel.epoch != self.epoch);
        if self.awaited.len() == waits {
            // Each is awaited once: its sums would cancel, its inits be taken for repeats.
            return;
        }
        let mut verdicts = Vec::new();
        for carried in &parcel.records {
            let absorbed = self.tracker.absorb(core::slice::from_ref(carried), &mut verdicts);
            if let Err(error) = absorbed {
                out.push(Out::Refused { root: carried.root, error });
            }
        }
        out.extend(verdicts.into_iter().map(Out::Verdict));
    }

    /// Begins the epochs that need not wait, and lets go what was held for them.
    fn proceed(&mut self, out: &mut Vec<Out>) {
        self.release(out);
        while self.awaited.is_empty() {
            let Some(epoch) = self.queue.pop_front() else { return };
            self.enter(epoch, out);
            self.release(out);
        }
    }

    fn enter(&mut self, epoch: Epoch<H>, out: &mut Vec<Out>) {
        (self.ring, self.moves) = (epoch.ring, epoch.moves);
        self.epoch = self.moves.epoch;
        let me = Some(self.id);
        let gained = self.moves.arcs.iter().filter(|moved| moved.to == me);
        self.awaited = gained.filter_map(|moved| moved.from).collect();
        self.awaited.sort_unstable();
        self.awaited.dedup();
        self.hand_over(out);
        self.give_up(out);
        let (due, early) = core::mem::take(&mut self.early)
            .into_iter()
            .partition(|parcel: &Parcel| parcel.epoch <= self.epoch);
        self.early = early;
        let due: Vec<Parcel> = due;
        due.iter().for_each(|parcel| self.open(parcel, out));
    }

    /// Sends away what is known of the arcs that are lost.
    fn hand_over(&mut self, out: &mut Vec<Out>) {
        let Self { id, ring, moves, tracker, epoch, .. } = self;
        let lost = |moved: &&Move| moved.from == Some(*id);
        let mut heirs: Vec<_> = moves.arcs.iter().filter(lost).filter_map(|m| m.to).collect();
        heirs.sort_unstable();
        heirs.dedup();
        let parcel = |to| Parcel { epoch: *epoch, from: *id, to, records: Vec::new() };
        let mut parcels: Vec<_> = heirs.into_iter().map(parcel).collect();
        let heir = |root| moves.at(ring.key(root)).filter(lost).map(|moved| moved.to);
        if moves.arcs.iter().any(|moved| lost(&moved)) {
            for carried in tracker.extract(|root| heir(root).is_some()) {
                if let Some(to) = heir(carried.root).flatten()
                    && let Ok(at) = parcels.binary_search_by_key(&to, |parcel| parcel.to)
                {
                    parcels[at].records.push(carried);
                }
            }
        }
        out.extend(parcels.into_iter().map(Out::Parcel));
        // The last acker has left the ring.
        let nobodys = moves.arcs.iter().filter(lost).filter(|moved| moved.to.is_none());
        out.extend(nobodys.map(|moved| Out::Lost { arc: moved.arc }));
    }

    /// Looks again at what was held.
    fn release(&mut self, out: &mut Vec<Out>) {
        for (epoch, op) in core::mem::take(&mut self.held) {
            self.deliver(epoch, op, out);
        }
    }
}

impl<H> fmt::Debug for Acker<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue: Vec<_> = self.queue.iter().map(|epoch| epoch.moves.epoch).collect();
        f.debug_struct("Acker")
            .field("id", &self.id)
            .field("epoch", &self.epoch)
            .field("awaited", &self.awaited)
            .field("held", &self.held)
            .field("early", &self.early)
            .field("queue", &queue)
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}
