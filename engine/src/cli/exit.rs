//! Exit codes. The table of `--help` is this one.

use super::signals::Interrupt;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// All was done.
    Done,
    /// Dead letters were written, the run failed or lost state in a crash, or its report could not
    /// be written.
    Failed,
    /// The arguments or the cluster file make no sense.
    Usage,
    /// The input or the cluster file is missing, unreadable, a directory, or in another encoding.
    Input,
    /// A signal ended the run before its time.
    Interrupted(Interrupt),
    /// The reader of standard output has gone.
    BrokenPipe,
}

impl Exit {
    /// The code that the shell sees. Of signals: 128 and the signal's number, as shells have it.
    pub(super) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Input => 3,
            Exit::Interrupted(Interrupt::Int) => 130,
            Exit::Interrupted(Interrupt::Term) => 143,
            Exit::BrokenPipe => 141,
        }
    }
}

/// The table of codes, as `--help` shows it.
pub(super) const TABLE: &str = "\
Exit codes:
    0  done: every line ended acked (or was counted, where nothing is tracked)
    1  there are dead letters, the run failed, it lost state in a crash and went on without,
       or the report could not be written
    2  the arguments or the cluster file make no sense
    3  the input or the cluster file is missing, unreadable, a directory, or in UTF-16 or UTF-32
  130  interrupted by SIGINT; the report is partial, its JSON says \"complete\": false
  141  whoever read standard output has gone; the run was stopped, nothing is said about it
  143  interrupted by SIGTERM; as for 130";
