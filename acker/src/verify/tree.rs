//! What the log tells of one tree, id by id.

use alloc::collections::BTreeSet;

use super::Violation;
use crate::{EdgeId, Outcome, RootId, Ticks, Verdict};

/// One tree, id by id.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) task: Option<u32>,
    produced: BTreeSet<EdgeId>,
    consumed: BTreeSet<EdgeId>,
    /// Announced and not consumed, or the other way round.
    open: BTreeSet<EdgeId>,
    pub(super) failed: Known,
    /// Whether there was a moment after the init at which no id was open.
    closed: bool,
    /// How it must end, from the first moment on at which that is certain.
    pub(super) end: Option<Outcome>,
    ended: bool,
    early: Early,
    pub(super) born: Ticks,
    /// When its time-out last started.
    pub(super) started: Ticks,
}

/// Whether a failure is known to a tracker that forgets.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Known {
    #[default]
    No,
    Maybe,
    Yes,
}

/// The messages that came before the init, which a tracker keeps for one time-out.
#[derive(Default)]
struct Early {
    /// When the first and the last came of those that may be kept together.
    span: Option<(Ticks, Ticks)>,
    /// Whether some may have been forgotten.
    lossy: bool,
}

impl Tree {
    pub(super) const fn is_pending(&self) -> bool {
        self.task.is_some() && !self.ended
    }

    pub(super) fn produce(&mut self, root: RootId, ids: &[EdgeId]) -> Result<(), Violation> {
        let twice = add(ids, &mut self.produced, &mut self.open);
        twice.map_or(Ok(()), |id| Err(Violation::ProducedTwice { root, id }))
    }

    pub(super) fn consume(&mut self, root: RootId, ids: &[EdgeId]) -> Result<(), Violation> {
        let twice = add(ids, &mut self.consumed, &mut self.open);
        twice.map_or(Ok(()), |id| Err(Violation::ConsumedTwice { root, id }))
    }

    /// What came before the init, and how long ago, decides what is left of it now.
    pub(super) fn forget(&mut self, now: Ticks, limit: Option<Limit>) {
        let (Some((first, last)), Some(limit)) = (self.early.span, limit) else { return };
        if now - first < limit.least {
            return; // surely kept
        }
        self.early.lossy = true;
        if limit.is_over(now - last) {
            self.failed = Known::No;
            self.early.span = None;
        } else if self.failed == Known::Yes {
            self.failed = Known::Maybe;
        }
    }

    /// A message has come.
    pub(super) fn settle(&mut self, now: Ticks) {
        if self.task.is_none() {
            let first = self.early.span.map_or(now, |span| span.0);
            self.early.span = Some((first, now));
        } else if self.end.is_none() {
            self.closed |= self.open.is_empty();
            if self.failed == Known::Yes {
                self.end = Some(Outcome::Failed);
            } else if self.closed && !self.early.lossy {
                self.end = Some(Outcome::Done);
            }
        }
    }

    pub(super) fn end(
        &mut self,
        Verdict { root, task, outcome }: Verdict,
    ) -> Result<(), Violation> {
        let Some(announced_by) = self.task else {
            return Err(Violation::VerdictBeforeInit { root });
        };
        if core::mem::replace(&mut self.ended, true) {
            return Err(Violation::VerdictTwice { root });
        }
        if task != announced_by {
            return Err(Violation::WrongTask { root, task });
        }
        let lossy = self.early.lossy;
        match outcome {
            Outcome::Done if self.end == Some(Outcome::Done) || (self.closed && lossy) => Ok(()),
            Outcome::Done => Err(match self.open.first() {
                Some(&open) if self.end.is_none() => Violation::DoneTooEarly { root, open },
                _ => Violation::DoneAfterFail { root },
            }),
            Outcome::Failed if self.end == Some(Outcome::Failed) => Ok(()),
            Outcome::Failed if self.failed == Known::Maybe => Ok(()),
            Outcome::Failed => Err(Violation::FailedWithoutFail { root }),
            Outcome::TimedOut if self.end.is_some() => Err(Violation::TimedOutAfterEnd { root }),
            Outcome::TimedOut => Ok(()),
        }
    }
}

/// Adds ids to a set, each of them once, and tells which was there; one that both sets have is no
/// longer open.
fn add(
    ids: &[EdgeId],
    known: &mut BTreeSet<EdgeId>,
    open: &mut BTreeSet<EdgeId>,
) -> Option<EdgeId> {
    for &id in ids {
        if !known.insert(id) {
            return Some(id);
        }
        if !open.remove(&id) {
            open.insert(id);
        }
    }
    None
}

/// One time-out: an age that must be reached, and one that must not be outlived, if time goes on
/// for so long.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) least: Ticks,
    pub(super) most: Option<Ticks>,
}

impl Limit {
    pub(super) fn new(timeout: Ticks, generations: u8) -> Self {
        let width = (timeout.max(1) - 1).div_ceil(u64::from(generations.max(2)) - 1).max(1);
        Self { least: timeout, most: timeout.checked_add(width - 1) }
    }

    pub(super) fn is_over(self, age: Ticks) -> bool {
        self.most.is_some_and(|most| age >= most)
    }
}
