//! What ends a run before its time.

use crate::core::Epoch;

/// What ends a run before its time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A task could not be opened.
    #[error("{component}[{task}] could not be opened: {message}")]
    Open {
        /// The component.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// Why.
        message: String,
    },
    /// A spout returned an error or panicked.
    #[error("spout {component}[{task}] failed: {message}")]
    Spout {
        /// The spout.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// Why.
        message: String,
    },
    /// A spout could not go on after a crash.
    #[error("spout {component}[{task}] could not go on: {message} (a new start after: {cause})")]
    Seek {
        /// The spout.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// Why.
        message: String,
        /// What had crashed.
        cause: String,
    },
    /// `flush`, `close` or `timer` returned an error or panicked: there is no tuple to blame.
    #[error("{call} of {component}[{task}] failed at epoch {epoch}: {message}")]
    Callback {
        /// Which of the calls.
        call: &'static str,
        /// The bolt.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// The epoch.
        epoch: Epoch,
        /// Why.
        message: String,
    },
    /// Something that cannot be kept was emitted where replay asks for it.
    #[error(
        "{component}[{task}] emitted in {call} what cannot be repeated: declare it by `bolt`, \
         whose items can be cloned, or run at most once"
    )]
    NotRepeatable {
        /// Which call.
        call: &'static str,
        /// The bolt.
        component: String,
        /// The task's number, from 0.
        task: u32,
    },
    /// Exactly once: a root is out of attempts, and part of it may stand in some state and part of
    /// it not. Ends the run where [`Exhausted::Stop`](crate::Exhausted::Stop) is in force.
    #[error(
        "a root of {component}[{task}] at epoch {epoch} is out of its {attempts} attempts: {reason}; \
         exactly once cannot go on without it (say `Exhausted::Skip` to list it and go on)"
    )]
    Exhausted {
        /// The component that emitted it.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// The root's epoch.
        epoch: Epoch,
        /// Attempts made.
        attempts: u32,
        /// Why the last one failed.
        reason: String,
    },
    /// Exactly once: a bolt emitted where a replay could not repeat it, or would wrongly.
    #[error("{component}[{task}] emitted in {call} under exactly once: {}", misplaced(*.stateful))]
    Misplaced {
        /// The call that emitted.
        call: &'static str,
        /// The bolt.
        component: String,
        /// The task's number, from 0.
        task: u32,
        /// Whether it keeps state.
        stateful: bool,
    },
    /// The checking mode: a replay of a tuple led to other tuples than before, in number or by key.
    #[error(
        "{component} is not a function of the tuple alone: a replay at epoch {epoch} led to other \
         tuples than before, so exactly once cannot hold"
    )]
    NonDeterministic {
        /// The bolt.
        component: String,
        /// The epoch of the tuple.
        epoch: Epoch,
    },
    /// The dead-letter handler returned an error or panicked.
    #[error("the dead-letter handler failed: {message}")]
    DeadLetters {
        /// Why.
        message: String,
    },
    /// A panic as an item of a component was cloned or dropped, or in a `Batch` of one's own.
    #[error("an item of {component} panicked as it was cloned or dropped: {message}")]
    Items {
        /// The component that emits or takes it in.
        component: String,
        /// The panic's message.
        message: String,
    },
    /// The coordinator's thread panicked or could not be started.
    #[error("the coordinator failed: {message}")]
    Coordinator {
        /// Why.
        message: String,
    },
    /// A worker thread panicked in the engine's own code.
    #[error("worker {worker} panicked: {message}")]
    Worker {
        /// The worker.
        worker: u32,
        /// The panic's message.
        message: String,
    },
    /// A worker was lost: its process or its node is gone, or cannot be reached.
    #[error("worker {worker} was lost: {message}")]
    Crashed {
        /// The worker.
        worker: u32,
        /// How.
        message: String,
    },
    /// Something failed, and before all could start anew a worker did not come back.
    #[error("{cause}; nothing could start anew, since {who} did not come back")]
    Stuck {
        /// The task, or the worker, that did not come back.
        who: String,
        /// What had failed.
        cause: String,
    },
    /// A thread could not be started.
    #[error("no thread for worker {worker}: {message}")]
    Thread {
        /// The worker.
        worker: u32,
        /// Why.
        message: String,
    },
}

impl RunError {
    /// Whether a new incarnation may mend it.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            RunError::Callback { .. }
                | RunError::Items { .. }
                | RunError::Worker { .. }
                | RunError::Crashed { .. }
        )
    }

    /// Says why it ends the run, though it might have passed.
    pub(crate) fn note(&mut self, why: &str) {
        if let RunError::Callback { message, .. }
        | RunError::Items { message, .. }
        | RunError::Worker { message, .. }
        | RunError::Crashed { message, .. } = self
        {
            message.push_str(why);
        }
    }

    /// Keeps the first of several errors, but for one that may pass: any other hides behind it no
    /// longer than until it comes.
    pub(crate) fn keep_gravest(kept: &mut Option<RunError>, new: RunError) {
        let graver = kept.as_ref().is_none_or(|old| old.may_pass() && !new.may_pass());
        if graver {
            *kept = Some(new);
        }
    }
}

/// What the rule of [`RunError::Misplaced`] is.
fn misplaced(stateful: bool) -> &'static str {
    if stateful {
        "a bolt that keeps state may emit only in close, since it drops what is replayed"
    } else {
        "a bolt that keeps no state may emit only in execute; give it a keyed input, or declare it \
         `stateful`"
    }
}
