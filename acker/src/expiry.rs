//! The clock of the generations: when a record may be given up.
//!
//! A record carries three bits of time, not a time stamp: the generation in which its
//! time-out last started. With `g` generations and a time-out of `T` ticks a generation
//! lasts `L = max(1, ⌈(T − 1)/(g − 1)⌉)` ticks; the one that starts at `a` expires at
//! `a + L − 1 + T`, which is `T` after its last tick. So a record is given up at an age
//! of `T` at the least and `T + L − 1` at the most. When a generation has yet to expire,
//! at most `g` of them are alive: the start of the `g`-th after it is at `a + gL`, and
//! `gL ≥ L − 1 + T`.

/// Time in whatever unit the caller counts: milliseconds, or calls.
pub type Ticks = u64;

/// When the tracker gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeout {
    /// Nothing expires. Early or late messages without an init ("orphans") stay until
    /// [`Tracker::clear`](crate::Tracker::clear): for runs that end.
    Never,
    /// Roots never time out, but orphans expire after this many ticks.
    OrphansAfter(Ticks),
    /// Roots expire this many ticks after their init, orphans after their first message.
    After(Ticks),
    /// Roots expire when nothing has been acked for `idle` ticks, and `cap` ticks after their
    /// init whatever happens; orphans `idle` ticks after their first message. Leaves 24 bits
    /// for the task.
    Progress {
        /// Ticks without an ack.
        idle: Ticks,
        /// Ticks since the init.
        cap: Ticks,
    },
}

impl Timeout {
    /// The number of ticks after which anything expires.
    pub(crate) const fn ticks(self) -> Option<Ticks> {
        match self {
            Self::Never => None,
            Self::OrphansAfter(ticks) | Self::After(ticks) => Some(ticks),
            Self::Progress { idle, .. } => Some(idle),
        }
    }

    /// The number of ticks that no progress can extend.
    pub(crate) const fn cap(self) -> Option<Ticks> {
        match self {
            Self::Progress { cap, .. } => Some(cap),
            _ => None,
        }
    }
}

/// Generations are numbered from 0 on; a record keeps the number modulo 8.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    timeout: Option<Ticks>,
    width: Ticks,
    now: Ticks,
    /// The oldest generation that has not expired.
    oldest: u64,
    /// The present generation modulo 8.
    slot: u32,
}

/// The number of residues that three bits can name.
pub(crate) const SLOTS: usize = 8;

impl Clock {
    /// `timeout` is at least 1 tick, `generations` in 3..=8; the caller has checked.
    pub(crate) const fn new(timeout: Option<Ticks>, generations: u8) -> Self {
        let width = match timeout {
            Some(ticks) => match (ticks - 1).div_ceil(generations as u64 - 1) {
                0 => 1,
                width => width,
            },
            None => 1,
        };
        Self { timeout, width, now: 0, oldest: 0, slot: 0 }
    }

    pub(crate) const fn slot(&self) -> u32 {
        self.slot
    }

    /// The ticks since the last moment at which a record of this slot may have started: an age
    /// that it surely has.
    pub(crate) const fn age(&self, slot: usize) -> Ticks {
        if self.timeout.is_none() {
            // All records are in the first generation, whenever they started.
            return 0;
        }
        let newest = self.now / self.width;
        let back = (newest % SLOTS as u64 + SLOTS as u64 - slot as u64) % SLOTS as u64;
        let Some(generation) = newest.checked_sub(back) else { return 0 };
        let last = generation.saturating_mul(self.width).saturating_add(self.width - 1);
        self.now.saturating_sub(last)
    }

    /// The slot of a record that started `age` ticks ago, or of the oldest generation alive.
    pub(crate) const fn slot_of_age(&self, age: Ticks) -> u32 {
        let generation = self.now.saturating_sub(age) / self.width;
        let alive = if generation < self.oldest { self.oldest } else { generation };
        // After a jump nothing need be alive before the present generation.
        let newest = self.now / self.width;
        ((if alive > newest { newest } else { alive }) % SLOTS as u64) as u32
    }

    /// Moves to `now` and returns the slots that expire by it, one bit each.
    pub(crate) fn advance(&mut self, now: Ticks) -> u8 {
        if now <= self.now {
            return 0;
        }
        let newest = self.now / self.width;
        self.now = now;
        let Some(timeout) = self.timeout else { return 0 };
        self.slot = (now / self.width % SLOTS as u64) as u32;
        let oldest = match now.checked_sub(timeout).and_then(|d| d.checked_sub(self.width - 1)) {
            Some(past) => past / self.width + 1,
            None => 0,
        };
        // No record is younger than `newest`, so that a jump costs `g` steps at most.
        let expired = (self.oldest..oldest.min(newest + 1))
            .fold(0u8, |slots, generation| slots | 1 << (generation % SLOTS as u64));
        self.oldest = oldest;
        expired
    }
}
