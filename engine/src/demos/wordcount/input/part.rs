//! The lines of one byte range of a plain file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

/// Cuts the bytes `base..len` into `parts` ranges. The last one has no end: the length is what
/// the file had a moment ago, good for cutting and not to be trusted beyond.
pub(super) fn cuts(base: u64, len: u64, parts: usize) -> impl Iterator<Item = Range<u64>> {
    let bytes = u128::from(len.saturating_sub(base));
    let cut = move |at: usize| base + (bytes * at as u128 / parts as u128) as u64;
    (0..parts).map(move |at| cut(at)..if at + 1 < parts { cut(at + 1) } else { u64::MAX })
}

/// Reads the lines that start in a range: from the first line start in it to the first one
/// behind it.
///
/// All parts read the same open file by position, so a file that is replaced under its name
/// cannot mix with the new one.
pub(super) struct Part {
    file: Arc<File>,
    at: u64,
    /// Lines that start here or later belong to the next part.
    end: u64,
    /// Length of the file when it was cut.
    len: u64,
    /// Still looking for the first line start of the range.
    seeking: bool,
    done: bool,
    shrank: bool,
}

impl Part {
    /// A part of a file whose first line starts at `base`.
    pub(super) fn new(file: Arc<File>, base: u64, len: u64, range: Range<u64>) -> Self {
        // A line starts at the start of the range if a line end lies before it.
        let seeking = range.start > base;
        let at = range.start - u64::from(seeking);
        Self { file, at, end: range.end, len, seeking, done: false, shrank: false }
    }

    /// The next bytes of the part; 0 at its end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.done {
            let read = read_at(&self.file, buffer, self.at)?;
            if read == 0 {
                self.done = true;
                self.shrank = self.at < self.len;
            } else if self.seeking {
                let start = memchr(b'\n', &buffer[..read]).map(|end| end + 1);
                self.at += start.unwrap_or(read) as u64;
                self.seeking = start.is_none();
                // However long the line that reaches in from before, look no further than needed.
                self.done = self.at >= self.end;
            } else {
                let own = self.own(&buffer[..read]);
                self.at += own as u64;
                return Ok(own);
            }
        }
        Ok(0)
    }

    /// How many of `bytes`, which lie at the position of the part, belong to it.
    fn own(&mut self, bytes: &[u8]) -> usize {
        // The line end before the next part's first line is the last byte of this one.
        let past = usize::try_from((self.end - 1).saturating_sub(self.at)).unwrap_or(usize::MAX);
        let end = bytes.get(past..).and_then(|bytes| memchr(b'\n', bytes));
        self.done = end.is_some();
        end.map_or(bytes.len(), |end| past + end + 1)
    }

    /// Position in the file.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// Whether the file ended before the length it had.
    pub(super) fn shrank(&self) -> bool {
        self.shrank
    }
}

/// Reads at a position, whatever other readers of the same file do.
pub(super) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, buffer, at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, at);
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
