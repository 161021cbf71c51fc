//! Checks the log of a run with exact sets of ids, sharing no code with the tracker.
//!
//! Write down every message that a tracker accepts, in the order in which it does, every
//! verdict at the moment it is handed out (so those of a batch stand after its messages), and
//! every time that it is told, before the verdicts that come of it. [`verify`] then replays the
//! log: it keeps all ids of all trees, in memory that the tracker exists to avoid.

mod tree;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;

use self::tree::{Known, Limit, Tree};
use crate::{EdgeId, Outcome, RootId, Ticks, Timeout, Verdict};

/// One line of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An init was accepted (one that was refused is not logged).
    Init {
        /// The root that was announced.
        root: RootId,
        /// The task that announced it.
        task: u32,
        /// The ids of its children.
        produced: Vec<EdgeId>,
    },
    /// A tuple was finished.
    Ack {
        /// The root of its tree.
        root: RootId,
        /// The ids it came by.
        consumed: Vec<EdgeId>,
        /// The ids of every copy it sent.
        produced: Vec<EdgeId>,
    },
    /// A tuple failed.
    Fail {
        /// The root of its tree.
        root: RootId,
    },
    /// The time-out of a root was restarted.
    Touch {
        /// The root in question.
        root: RootId,
    },
    /// The tracker was told the time.
    Advance {
        /// The time.
        now: Ticks,
    },
    /// The tracker handed out a verdict.
    Verdict(Verdict),
}

/// What is wrong with a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// A second init of the same root was accepted. A replay needs a new track id.
    InitTwice {
        /// The root in question.
        root: RootId,
    },
    /// An id was announced twice, so that XOR would cancel it.
    ProducedTwice {
        /// The root in question.
        root: RootId,
        /// The id in question.
        id: EdgeId,
    },
    /// An id was consumed twice, so that XOR would cancel it.
    ConsumedTwice {
        /// The root in question.
        root: RootId,
        /// The id in question.
        id: EdgeId,
    },
    /// A verdict without an init.
    VerdictBeforeInit {
        /// The root in question.
        root: RootId,
    },
    /// A second verdict for one init.
    VerdictTwice {
        /// The root in question.
        root: RootId,
    },
    /// A verdict that names another task than its init.
    WrongTask {
        /// The root in question.
        root: RootId,
        /// The task of the verdict.
        task: u32,
    },
    /// Done, though this id is announced and not consumed, or the other way round.
    DoneTooEarly {
        /// The root in question.
        root: RootId,
        /// The smallest id that is open.
        open: EdgeId,
    },
    /// Done, though a tuple had failed.
    DoneAfterFail {
        /// The root in question.
        root: RootId,
    },
    /// Failed, though no tuple had.
    FailedWithoutFail {
        /// The root in question.
        root: RootId,
    },
    /// A root timed out before its time, or where nothing times out.
    TimedOutTooEarly {
        /// The root in question.
        root: RootId,
        /// The ticks since its time-out started.
        age: Ticks,
    },
    /// A root timed out whose tree was complete, or had failed.
    TimedOutAfterEnd {
        /// The root in question.
        root: RootId,
    },
    /// Time went on, and a root whose tree was complete, or had failed, had no verdict.
    EndedTooLate {
        /// The smallest such root.
        root: RootId,
    },
    /// A root is still pending after its time.
    TimedOutTooLate {
        /// The root that has waited longest.
        root: RootId,
        /// The ticks since its time-out started.
        age: Ticks,
    },
    /// The log ends and an accepted init has no verdict.
    NoVerdict {
        /// The smallest such root.
        root: RootId,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InitTwice { root } => write!(f, "root {root} was announced twice"),
            Self::ProducedTwice { root, id } => write!(f, "root {root}: {id} was produced twice"),
            Self::ConsumedTwice { root, id } => write!(f, "root {root}: {id} was consumed twice"),
            Self::VerdictBeforeInit { root } => write!(f, "root {root} ended before its init"),
            Self::VerdictTwice { root } => write!(f, "root {root} ended twice"),
            Self::WrongTask { root, task } => {
                write!(f, "root {root} did not come from task {task}")
            }
            Self::DoneTooEarly { root, open } => {
                write!(f, "root {root} was done while {open} was open")
            }
            Self::DoneAfterFail { root } => write!(f, "root {root} was done after a failure"),
            Self::FailedWithoutFail { root } => write!(f, "root {root} failed without a failure"),
            Self::TimedOutTooEarly { root, age } => {
                write!(f, "root {root} timed out after {age} ticks, before its time")
            }
            Self::TimedOutAfterEnd { root } => {
                write!(f, "root {root} timed out though its tree had come to an end")
            }
            Self::EndedTooLate { root } => {
                write!(f, "root {root} had no verdict when time went on after its end")
            }
            Self::TimedOutTooLate { root, age } => {
                write!(f, "root {root} is pending after {age} ticks, past its time")
            }
            Self::NoVerdict { root } => write!(f, "root {root} never ended"),
        }
    }
}

impl core::error::Error for Violation {}

/// A log in the making: a plain list of [`Event`]s, and the time-outs by which to judge them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ledger {
    events: Vec<Event>,
    limits: Option<(Timeout, u8)>,
}

impl Ledger {
    /// An empty log without times: a time-out is legal at any moment.
    #[must_use]
    pub const fn new() -> Self {
        Self { events: Vec::new(), limits: None }
    }

    /// An empty log of a tracker with these time-outs and generations.
    #[must_use]
    pub const fn timed(timeout: Timeout, generations: u8) -> Self {
        Self { events: Vec::new(), limits: Some((timeout, generations)) }
    }

    /// Writes one line. O(1), amortised.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// The lines so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The lines so far, to be changed.
    pub const fn events_mut(&mut self) -> &mut Vec<Event> {
        &mut self.events
    }

    /// [`verify`] of the lines so far.
    ///
    /// # Errors
    ///
    /// The first [`Violation`].
    pub fn verify(&self) -> Result<(), Violation> {
        verify(self)
    }
}

impl From<Vec<Event>> for Ledger {
    /// A log without times.
    fn from(events: Vec<Event>) -> Self {
        Self { events, limits: None }
    }
}

/// The log as far as it has been read.
#[derive(Default)]
struct Replay {
    trees: BTreeMap<RootId, Tree>,
    now: Ticks,
    /// Since the last restart, and since the init.
    idle: Option<Limit>,
    cap: Option<Limit>,
    /// Since the first message of a root without an init.
    orphans: Option<Limit>,
    acks_restart: bool,
    /// Pending roots by when their time-outs started, and by their inits.
    by_start: BTreeSet<(Ticks, RootId)>,
    by_birth: BTreeSet<(Ticks, RootId)>,
    /// Roots that must have their verdicts before time goes on.
    due: BTreeSet<RootId>,
    timed: bool,
}

impl Replay {
    fn new(limits: Option<(Timeout, u8)>) -> Self {
        let Some((timeout, generations)) = limits else {
            // Orphans may be forgotten whenever time goes on.
            let orphans = Some(Limit { least: 1, most: None });
            return Self { orphans, ..Self::default() };
        };
        let limit = |ticks| Some(Limit::new(ticks, generations));
        let (idle, cap, orphans) = match timeout {
            Timeout::Never => (None, None, None),
            Timeout::OrphansAfter(ticks) => (None, None, limit(ticks)),
            Timeout::After(ticks) => (limit(ticks), None, limit(ticks)),
            Timeout::Progress { idle, cap } => (limit(idle), limit(cap), limit(idle)),
        };
        Self { idle, cap, orphans, acks_restart: cap.is_some(), timed: true, ..Self::default() }
    }

    /// The tree to which a message belongs.
    fn tree(&mut self, root: RootId) -> &mut Tree {
        let tree = self.trees.entry(root).or_default();
        if tree.task.is_none() {
            tree.forget(self.now, self.orphans);
        }
        tree
    }

    /// A message has been added to its tree.
    fn settle(&mut self, root: RootId) {
        let now = self.now;
        let Some(tree) = self.trees.get_mut(&root) else { return };
        tree.settle(now);
        if tree.end.is_some() && tree.is_pending() {
            self.due.insert(root);
        }
    }

    fn init(&mut self, root: RootId, task: u32, produced: &[EdgeId]) -> Result<(), Violation> {
        let now = self.now;
        let tree = self.tree(root);
        if tree.task.replace(task).is_some() {
            return Err(Violation::InitTwice { root });
        }
        (tree.born, tree.started) = (now, now);
        tree.produce(root, produced)?;
        self.by_start.insert((now, root));
        self.by_birth.insert((now, root));
        Ok(())
    }

    fn advance(&mut self, now: Ticks) -> Result<(), Violation> {
        if now <= self.now {
            return Ok(());
        }
        self.now = now;
        self.due.first().map_or(Ok(()), |&root| Err(Violation::EndedTooLate { root }))
    }

    fn restart(&mut self, root: RootId) {
        if let Some(tree) = self.trees.get_mut(&root).filter(|tree| tree.is_pending()) {
            self.by_start.remove(&(tree.started, root));
            tree.started = self.now;
            self.by_start.insert((self.now, root));
        }
    }

    fn end(&mut self, verdict: Verdict) -> Result<(), Violation> {
        let root = verdict.root;
        let tree = self.trees.entry(root).or_default();
        tree.end(verdict)?;
        self.due.remove(&root);
        self.by_start.remove(&(tree.started, root));
        self.by_birth.remove(&(tree.born, root));
        let (age, since_init) = (self.now - tree.started, self.now - tree.born);
        let reached = |limit: Option<Limit>, age| limit.is_some_and(|limit| age >= limit.least);
        let may = reached(self.idle, age) || reached(self.cap, since_init);
        if self.timed && verdict.outcome == Outcome::TimedOut && !may {
            return Err(Violation::TimedOutTooEarly { root, age });
        }
        Ok(())
    }

    /// Nobody may be pending who must have timed out by now.
    fn nobody_is_late(&self) -> Result<(), Violation> {
        let late = |limit: Option<Limit>, roots: &BTreeSet<(Ticks, RootId)>| {
            let (&(start, root), limit) = (roots.first()?, limit?);
            let age = self.now - start;
            limit.is_over(age).then_some(Violation::TimedOutTooLate { root, age })
        };
        match late(self.idle, &self.by_start).or(late(self.cap, &self.by_birth)) {
            Some(violation) => Err(violation),
            None => Ok(()),
        }
    }
}

/// Replays a finished run and checks every verdict.
///
/// The rules: a root is announced once and ends once, at its own task; it is done only
/// when every id announced has been consumed and no tuple has failed before (paper section 2, "one
/// complete processing"); it fails only if a tuple has; it does either before time goes on; every
/// id is produced once and consumed once in its tree. Messages after the end and messages whose
/// init never came are legal, and what came before an init may be forgotten after one time-out.
/// With time-outs of `T` ticks and generations of `L`, a root times out at an age of `T` at the
/// least, and none is pending at an age of `T + L − 1` once the verdicts of that moment have
/// been told. O(ids · log ids) time, O(ids) space.
///
/// # Errors
///
/// The first [`Violation`] in the order of the log; then [`Violation::NoVerdict`].
pub fn verify(ledger: &Ledger) -> Result<(), Violation> {
    let mut replay = Replay::new(ledger.limits);
    for event in &ledger.events {
        if !matches!(event, Event::Verdict(_)) {
            replay.nobody_is_late()?;
        }
        match event {
            Event::Init { root, task, produced } => {
                replay.init(*root, *task, produced)?;
                replay.settle(*root);
            }
            Event::Ack { root, consumed, produced } => {
                let tree = replay.tree(*root);
                tree.consume(*root, consumed)?;
                tree.produce(*root, produced)?;
                replay.settle(*root);
                if replay.acks_restart {
                    replay.restart(*root);
                }
            }
            Event::Fail { root } => {
                replay.tree(*root).failed = Known::Yes;
                replay.settle(*root);
            }
            Event::Touch { root } => replay.restart(*root),
            Event::Advance { now } => replay.advance(*now)?,
            Event::Verdict(verdict) => replay.end(*verdict)?,
        }
    }
    replay.nobody_is_late()?;
    match replay.trees.iter().find(|(_, tree)| tree.is_pending()) {
        Some((&root, _)) => Err(Violation::NoVerdict { root }),
        None => Ok(()),
    }
}
