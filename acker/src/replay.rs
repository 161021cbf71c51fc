//! When a root is sent again, and when it is given up: apart from the tracker, by its verdicts.

use alloc::collections::BTreeSet;
use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::vec::Vec;

use crate::mixing::scramble;
use crate::{Error, Outcome, RootId, Ticks, mix};

/// How often to try, and how long to wait between two tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayPolicy {
    /// Attempts at a root, the first one included; at least 1.
    pub attempts: u32,
    /// Ticks from the first failure to the second attempt; doubled after each further one.
    pub backoff: Ticks,
    /// The most that the backoff grows to.
    pub longest: Ticks,
    /// Up to this many thousandths of the backoff are added, by chance, so that roots which
    /// failed together do not come back together.
    pub jitter: u16,
    /// The seed of that chance.
    pub seed: u64,
}

/// An attempt at a root of a spring (a source of roots; a spout).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attempt {
    /// The root, as its spring calls it.
    pub spring: u64,
    /// Which attempt it is, from 1 on.
    pub number: u32,
}

impl Attempt {
    /// The id under which trackers know it: [`mix`] of both. O(1).
    #[must_use]
    pub const fn root(self) -> RootId {
        mix(self.spring, self.number)
    }
}

/// What comes of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The root is done and forgotten.
    Forget,
    /// The attempt that [`Replay::due`] returns from this time on.
    Retry {
        /// The next attempt.
        attempt: Attempt,
        /// When it is due.
        at: Ticks,
    },
    /// All attempts are spent: the root is forgotten, and to be kept elsewhere.
    DeadLetter {
        /// The last attempt.
        attempt: Attempt,
    },
    /// The verdict is of no attempt that is under way, and is to be ignored.
    Unknown,
}

/// The attempts that are under way and those that wait, by spring and attempt.
///
/// ```
/// use acker::{Next, Outcome, Replay, ReplayPolicy};
///
/// let policy = ReplayPolicy { attempts: 2, backoff: 100, longest: 1_000, jitter: 0, seed: 1 };
/// let mut replay = Replay::new(policy)?;
/// let first = replay.begin(7).ok_or("already under way")?;
/// let Next::Retry { attempt, at: 150 } = replay.on(first.root(), Outcome::TimedOut, 50) else {
///     return Err("one attempt is left".into());
/// };
/// let mut due = Vec::new();
/// replay.due(150, &mut due);
/// assert_eq!(due, [attempt]);
/// assert_eq!(replay.on(attempt.root(), Outcome::Failed, 200), Next::DeadLetter { attempt });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Replay {
    policy: ReplayPolicy,
    /// By the id that a verdict names.
    running: BTreeMap<RootId, Attempt>,
    waiting: BTreeSet<(Ticks, Attempt)>,
    springs: BTreeSet<u64>,
}

impl Replay {
    /// Nothing is under way. O(1).
    ///
    /// # Errors
    ///
    /// [`Error::NoAttempts`] if the policy allows no attempt.
    pub const fn new(policy: ReplayPolicy) -> Result<Self, Error> {
        if policy.attempts == 0 {
            return Err(Error::NoAttempts);
        }
        Ok(Self {
            policy,
            running: BTreeMap::new(),
            waiting: BTreeSet::new(),
            springs: BTreeSet::new(),
        })
    }

    /// The first attempt at a root; `None` while another is under way, or an attempt at another
    /// root with the same track id, which is no more likely than [`mix`] says. O(log roots).
    pub fn begin(&mut self, spring: u64) -> Option<Attempt> {
        let attempt = Attempt { spring, number: 1 };
        if self.running.contains_key(&attempt.root()) || !self.springs.insert(spring) {
            return None;
        }
        self.running.insert(attempt.root(), attempt);
        Some(attempt)
    }

    /// Hears the verdict on an attempt, by the id of [`Attempt::root`]. O(log roots).
    pub fn on(&mut self, root: RootId, outcome: Outcome, now: Ticks) -> Next {
        let Some(attempt) = self.running.remove(&root) else { return Next::Unknown };
        if outcome == Outcome::Done {
            self.springs.remove(&attempt.spring);
            return Next::Forget;
        }
        if attempt.number >= self.policy.attempts {
            self.springs.remove(&attempt.spring);
            return Next::DeadLetter { attempt };
        }
        let next = Attempt { number: attempt.number + 1, ..attempt };
        let at = now.saturating_add(self.backoff(next));
        self.waiting.insert((at, next));
        Next::Retry { attempt: next, at }
    }

    /// The ticks between a failure and this attempt, which depend on nothing else. O(1).
    #[must_use]
    pub fn backoff(&self, attempt: Attempt) -> Ticks {
        let ReplayPolicy { backoff, longest, jitter, seed, .. } = self.policy;
        let doublings = attempt.number.saturating_sub(2);
        let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        let wait = backoff.saturating_mul(factor).min(longest);
        let most = u128::from(wait) * u128::from(jitter) / 1_000;
        let chance = scramble(scramble(seed ^ attempt.spring) ^ u64::from(attempt.number));
        // chance · (most + 1) / 2⁶⁴, by halves: the product may have more than 128 bits.
        let (high, low) = ((most + 1) >> 64, u128::from((most + 1) as u64));
        let added = u128::from(chance) * high + ((u128::from(chance) * low) >> 64);
        wait.saturating_add(u64::try_from(added).unwrap_or(u64::MAX))
    }

    /// Appends the attempts that are due by `now`, in the order of their times, and counts them
    /// as under way. One whose track id is taken waits until that attempt has ended. O(log roots)
    /// each.
    pub fn due(&mut self, now: Ticks, out: &mut Vec<Attempt>) {
        let Self { waiting, running, .. } = self;
        let last = Attempt { spring: u64::MAX, number: u32::MAX };
        let ready: Vec<_> = waiting.range(..=(now, last)).copied().collect();
        for (at, attempt) in ready {
            if let Entry::Vacant(vacant) = running.entry(attempt.root()) {
                vacant.insert(attempt);
                waiting.remove(&(at, attempt));
                out.push(attempt);
            }
        }
    }

    /// When the next attempt is due. O(log roots).
    #[must_use]
    pub fn next_due(&self) -> Option<Ticks> {
        self.waiting.first().map(|&(at, _)| at)
    }

    /// The attempts that have no verdict, in the order of their track ids: what fails when the
    /// acker that knew them is lost.
    pub fn running(&self) -> impl Iterator<Item = (RootId, Attempt)> + '_ {
        self.running.iter().map(|(&root, &attempt)| (root, attempt))
    }

    /// The number of roots that have begun and not ended. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.springs.len()
    }

    /// Whether no root has begun that has not ended. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.springs.is_empty()
    }
}
