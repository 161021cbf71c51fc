//! A sink that writes a file, many records at a time.

use core::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use crate::{Batch, Bolt, BoxError, Emitter, Epoch, Execute, Ticket};

/// Appends records to a file. Records gather in memory and are written together as the engine flushes;
/// their roots are acked once they are on the disk.
///
/// At least once: every acked record is in the file, whole, and synced (`fsync`). If a write or a sync
/// fails, all that it held fails by that reason and comes again, and the file is cut back to what was
/// synced. A record may stand there twice: after a root failed elsewhere, and after a crash.
///
/// Exactly once is the same: a file keeps no state in the engine, and what a sink writes may be written
/// again at a replay. Where that matters, let a keyed [`fold`](super::fold) come before, and make what
/// reads the file drop repeats by key and epoch.
///
/// Give each task a file of its own. A sync may take some milliseconds, once a flush.
///
/// What is no regular file, a device or a pipe, can neither be cut back nor, mostly, be synced: there a
/// record is acked once it is written, and a write that fails may leave part of what it held. To open a
/// pipe waits for who reads it.
///
/// ```
/// use std::path::PathBuf;
/// use streamwright::{BoxError, Config, Grouping, Poll, Spout, SpoutEmitter, Topology, ops, threads};
/// # struct Numbers(u64);
/// # impl Spout for Numbers {
/// #     type Out = Vec<u64>;
/// #     fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
/// #         self.0 += 1;
/// #         out.emit(self.0);
/// #         Ok(if self.0 < 9 { Poll::More } else { Poll::End })
/// #     }
/// # }
///
/// let dir = std::env::temp_dir().join(format!("streamwright-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&dir)?;
/// let mut builder = Topology::builder();
/// let numbers = builder.spout("numbers", 1, |_| Ok(Numbers(0))); // 1 to 9
/// let folder: PathBuf = dir.clone();
/// builder
///     .bolt("file", 2, move |task| {
///         let path = folder.join(format!("numbers-{}.txt", task.index()));
///         ops::FileSink::append(&path, |n: &u64, to: &mut Vec<u8>| {
///             to.extend_from_slice(format!("{n}\n").as_bytes());
///             Ok(())
///         })
///     })
///     .input(numbers, Grouping::fields(|n: &u64| *n))
///     .done();
/// let report = threads::run(builder.build(Config::default())?)?;
/// assert_eq!(report.acked, 9);
/// let mut all = String::new();
/// for task in 0..2 {
///     all += &std::fs::read_to_string(dir.join(format!("numbers-{task}.txt")))?;
/// }
/// let mut lines: Vec<&str> = all.lines().collect();
/// lines.sort();
/// assert_eq!(lines, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), BoxError>(())
/// ```
pub struct FileSink<F> {
    file: File,
    /// Whether it is a regular file: one that can be cut back and synced.
    regular: bool,
    format: F,
    /// Bytes that are synced: what is behind them is of no acked record.
    synced: u64,
    buffer: Vec<u8>,
    tickets: Vec<Ticket>,
}

impl<F> fmt::Debug for FileSink<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSink")
            .field("file", &self.file)
            .field("synced", &self.synced)
            .field("held", &self.tickets.len())
            .finish_non_exhaustive()
    }
}

impl<F> FileSink<F> {
    /// Opens a file to append to, and makes it where there is none. `format` appends one record's bytes,
    /// with a line's end or whatever parts records; its `Err` fails that record alone.
    ///
    /// # Errors
    /// The file cannot be opened; the message names it.
    pub fn append(path: &Path, format: F) -> Result<Self, BoxError> {
        let open = || -> std::io::Result<(File, bool, u64)> {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            let regular = file.metadata()?.is_file();
            let end = match file.seek(SeekFrom::End(0)) {
                // A pipe has no end.
                Err(_) if !regular => 0,
                end => end?,
            };
            Ok((file, regular, end))
        };
        let (file, regular, synced) =
            open().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(FileSink { file, regular, format, synced, buffer: Vec::new(), tickets: Vec::new() })
    }

    fn write(&mut self) -> std::io::Result<()> {
        if self.regular {
            // What a failed write may have left goes first.
            self.file.set_len(self.synced)?;
            self.file.seek(SeekFrom::Start(self.synced))?;
        }
        self.file.write_all(&self.buffer)?;
        match self.file.sync_data() {
            // There is nothing to sync.
            Err(error) if !self.regular && error.kind() == ErrorKind::InvalidInput => {}
            synced => synced?,
        }
        self.synced += self.buffer.len() as u64;
        Ok(())
    }
}

impl<F: Send + 'static> Bolt for FileSink<F> {
    type Out = ();

    fn flush(&mut self, _: Epoch, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        if self.tickets.is_empty() {
            return Ok(());
        }
        let written = self.write();
        self.buffer.clear();
        for ticket in self.tickets.drain(..) {
            match &written {
                Ok(()) => out.release(ticket),
                Err(error) => out.fail(ticket, format_args!("cannot write: {error}")),
            }
        }
        if written.is_err() && self.regular {
            // Best effort: the next write begins with it too.
            let _ = self.file.set_len(self.synced);
        }
        Ok(())
    }
}

impl<B, F> Execute<B> for FileSink<F>
where
    B: Batch,
    F: for<'a> FnMut(B::Item<'a>, &mut Vec<u8>) -> Result<(), BoxError> + Send + 'static,
{
    fn execute(&mut self, item: B::Item<'_>, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        let before = self.buffer.len();
        let mut guard = Cut { buffer: &mut self.buffer, at: before };
        (self.format)(item, guard.buffer)?;
        guard.at = guard.buffer.len();
        drop(guard);
        let ticket = out.defer();
        self.tickets.push(ticket);
        Ok(())
    }
}

/// Takes back what a format appended that failed or panicked.
struct Cut<'a> {
    buffer: &'a mut Vec<u8>,
    at: usize,
}

impl Drop for Cut<'_> {
    fn drop(&mut self) {
        self.buffer.truncate(self.at);
    }
}
