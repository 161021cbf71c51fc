//! Dead letters on their way to their handler: on a thread of its own, so that a slow handler
//! holds up nothing; bounded, so that it does not pile up without end.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use super::office::Office;
use crate::component::BoxError;
use crate::report::{DeadLetter, RunError, chain};

/// Takes dead letters, on a thread of its own. An error or a panic ends the run, and so do 4096
/// letters that wait.
pub type LetterHandler = Box<dyn FnMut(DeadLetter) -> Result<(), BoxError> + Send>;

/// Letters that may wait for the handler.
const BACKLOG: usize = 4096;

/// Where dead letters go.
#[derive(Debug)]
pub(crate) enum Letters {
    /// Into the report, the first of them.
    Kept { letters: Vec<DeadLetter>, limit: usize },
    /// To a handler's thread.
    Handled { to: SyncSender<DeadLetter>, thread: JoinHandle<()> },
}

impl Letters {
    pub(crate) fn start(
        handler: Option<LetterHandler>,
        limit: usize,
        office: &Arc<Office>,
    ) -> Result<Self, RunError> {
        let Some(mut handler) = handler else {
            return Ok(Letters::Kept { letters: Vec::new(), limit });
        };
        let (to, from) = sync_channel::<DeadLetter>(BACKLOG);
        let office = Arc::clone(office);
        let work = move || {
            for letter in from {
                // The error's own text may panic as well.
                let outcome = crate::core::guarded(|| handler(letter).map_err(|e| chain(&*e)));
                let message = match outcome {
                    Ok(Ok(())) => continue,
                    Ok(Err(message)) | Err(message) => message,
                };
                office.desk().fail(RunError::DeadLetters { message });
                return;
            }
        };
        let thread = std::thread::Builder::new().name("dead-letters".to_owned()).spawn(work);
        let thread = thread.map_err(|e| RunError::DeadLetters { message: e.to_string() })?;
        Ok(Letters::Handled { to, thread })
    }

    pub(crate) fn take(&mut self, letter: DeadLetter, office: &Office) {
        match self {
            Letters::Kept { letters, limit } => {
                if letters.len() < *limit {
                    letters.push(letter);
                } else {
                    // An item's drop may panic; that is nobody's business here.
                    let gone = crate::core::guarded(|| drop(letter));
                    drop(gone);
                }
            }
            Letters::Handled { to, .. } => {
                let message = match to.try_send(letter) {
                    Ok(()) => return,
                    Err(TrySendError::Full(_)) => format!("{BACKLOG} letters wait for it"),
                    // It has said why; this is for the case that it could not.
                    Err(TrySendError::Disconnected(_)) => "it has ended".to_owned(),
                };
                office.desk().fail(RunError::DeadLetters { message });
            }
        }
    }

    /// Waits for the handler to have taken all, at most for `time`; gives back the letters kept.
    pub(crate) fn finish(self, time: std::time::Duration) -> Result<Vec<DeadLetter>, RunError> {
        match self {
            Letters::Kept { letters, .. } => Ok(letters),
            Letters::Handled { to, thread } => {
                drop(to);
                let start = std::time::Instant::now();
                while !thread.is_finished() {
                    if start.elapsed() > time {
                        let message = format!("it is not done {time:?} after the end");
                        return Err(RunError::DeadLetters { message });
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Ok(Vec::new())
            }
        }
    }
}
