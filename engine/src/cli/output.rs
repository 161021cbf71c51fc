//! Standard output: written whole, by the error it ends with, never by a macro that panics.

use std::io::{self, ErrorKind, Write};

use super::console;
use super::exit::Exit;

/// Writes all of `bytes` to standard output; `exit` where that works.
///
/// A reader that has gone is nobody to complain to: no word, [`Exit::BrokenPipe`]. Any other error
/// (a full disk) is said and is [`Exit::Failed`], so that no run is lost in silence.
pub(super) fn print(bytes: &[u8], exit: Exit) -> Exit {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => exit,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Exit::BrokenPipe,
        Err(error) => {
            console::write_stderr(&format!("error: cannot write the report: {error}\n"));
            Exit::Failed
        }
    }
}

/// Whether standard output is a pipe or a socket that nobody reads any more. It is asked during
/// the run, which writes nothing until its end: otherwise it would work on for nobody.
#[cfg(unix)]
pub(super) fn reader_has_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    // POLLERR is told whether asked for or not; asking for nothing else, nothing else is told
    // but a hang-up, which a terminal has too.
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&at_once)).is_ok_and(|n| n > 0)
        && asked[0].revents().contains(PollFlags::ERR)
}

/// Elsewhere it shows only as the report is written.
#[cfg(not(unix))]
pub(super) fn reader_has_gone() -> bool {
    false
}
