//! An input without a length: read from its start to its end, once.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::{InputError, Source, bom};

/// Pause before an input that another process has made non-blocking is asked again.
const RETRY: Duration = Duration::from_millis(10);

/// A stream of bytes; drops the byte order mark at its head.
pub(super) struct Stream {
    origin: Origin,
    at: u64,
}

enum Origin {
    /// Not open yet: opening waits until someone writes, so it is left to the reader thread.
    Fifo(PathBuf),
    File(File),
    Stdin,
}

impl Stream {
    pub(super) fn fifo(path: PathBuf) -> Self {
        Self { origin: Origin::Fifo(path), at: 0 }
    }

    pub(super) fn file(file: File) -> Self {
        Self { origin: Origin::File(file), at: 0 }
    }

    pub(super) fn stdin() -> Self {
        Self { origin: Origin::Stdin, at: 0 }
    }

    /// Waits until a FIFO has a writer; anything else is open already.
    pub(super) fn open(&mut self) -> Result<(), InputError> {
        if let Origin::Fifo(path) = &self.origin {
            let file =
                File::open(path).map_err(|cause| InputError::Open { path: path.clone(), cause })?;
            self.origin = Origin::File(file);
        }
        Ok(())
    }

    /// The next bytes, as soon as there are any; 0 at the end. The `buffer` has room for a mark.
    pub(super) fn read(&mut self, input: &Source, buffer: &mut [u8]) -> Result<usize, InputError> {
        let fail = |at, cause| InputError::Read { input: input.clone(), at, cause };
        if self.at > 0 {
            return self.read_some(buffer).map_err(|cause| fail(self.at, cause));
        }
        let mut head = 0;
        while bom::undecided(&buffer[..head]) {
            match self.read_some(&mut buffer[head..]).map_err(|cause| fail(self.at, cause))? {
                0 => break,
                read => head += read,
            }
        }
        let mark = bom::skip(input, &buffer[..head])?;
        if mark > 0 && mark == head {
            return self.read_some(buffer).map_err(|cause| fail(self.at, cause));
        }
        buffer.copy_within(mark..head, 0);
        Ok(head - mark)
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match &mut self.origin {
                // Not open, nothing to read.
                Origin::Fifo(_) => Ok(0),
                Origin::File(file) => file.read(buffer),
                Origin::Stdin => io::stdin().read(buffer),
            };
            match read {
                Ok(read) => {
                    self.at += read as u64;
                    return Ok(read);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => thread::sleep(RETRY),
                    _ => return Err(error),
                },
            }
        }
    }
}
