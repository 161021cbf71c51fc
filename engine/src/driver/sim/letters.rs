//! Dead letters: into the report, or to a handler, which is called in the middle of the run.

use core::fmt;

use crate::component::BoxError;
use crate::core::guarded;
use crate::report::{DeadLetter, Report, RunError, chain};

/// Takes dead letters as they are written. An error or a panic ends the run.
pub(super) type Handler = Box<dyn FnMut(DeadLetter) -> Result<(), BoxError> + Send>;

/// Where dead letters go.
#[derive(Default)]
pub(super) struct Letters {
    handler: Option<Handler>,
    pub(super) kept: Vec<DeadLetter>,
    pub(super) count: u64,
    pub(super) failed: Option<RunError>,
}

impl fmt::Debug for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Letters").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Letters {
    pub(super) fn new(handler: Option<Handler>) -> Self {
        Letters { handler, ..Letters::default() }
    }

    pub(super) fn take(&mut self, letter: DeadLetter) {
        self.count += 1;
        let Some(handler) = &mut self.handler else {
            if self.kept.len() < Report::LETTERS {
                self.kept.push(letter);
            } else {
                // An item's drop may panic; that is nobody's business here.
                let gone = guarded(|| drop(letter));
                drop(gone);
            }
            return;
        };
        // The error's own text may panic as well.
        match guarded(|| handler(letter).map_err(|error| chain(&*error))) {
            Ok(Ok(())) => {}
            Ok(Err(message)) | Err(message) => {
                self.failed.get_or_insert(RunError::DeadLetters { message });
            }
        }
    }
}
