//! What can go wrong with a store: the culprit, and what to do.

use std::io;

use super::disk::FileName;

/// Why a call of a store did nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The number of entries is no power that fits.
    #[error("2^{bits} entries: bits must be 1 to 31")]
    Bits {
        /// As asked for.
        bits: u32,
    },
    /// The budget is below what an empty store takes.
    #[error("a budget of {budget} bytes: the directory alone takes {least}; use fewer entries")]
    Budget {
        /// As asked for, in bytes.
        budget: usize,
        /// The least that works, in bytes.
        least: usize,
    },
    /// One entry alone would be larger than what the budget leaves for entries.
    #[error(
        "entry {entry} would take {bytes} bytes, {limit} are to be had: use more entries, a larger budget, or export it"
    )]
    EntryExceedsBudget {
        /// The entry.
        entry: u32,
        /// What it would take, in bytes.
        bytes: usize,
        /// What there is for one entry, in bytes.
        limit: usize,
    },
    /// The budget is spent, and there is nowhere to spill to.
    #[error(
        "{need} bytes more than the budget, and nothing can be spilled: give the store a `Spill`"
    )]
    OverBudget {
        /// What is missing, in bytes.
        need: usize,
    },
    /// No entry has this number.
    #[error("entry {entry} of {entries}")]
    NoEntry {
        /// As asked for.
        entry: u32,
        /// How many there are.
        entries: u32,
    },
    /// An entry that holds something already is not imported over.
    #[error("entry {entry} is not empty: remove it first, or merge")]
    Occupied {
        /// The entry.
        entry: u32,
    },
    /// Bytes of an entry that are not what this store writes.
    #[error("bytes of entry {entry}: {why}")]
    Entry {
        /// The entry.
        entry: u32,
        /// The rule that they break.
        why: &'static str,
    },
    /// A file, or a block of it, is not what was written.
    #[error("{file}, byte {at}: {why}")]
    Corrupt {
        /// The file.
        file: FileName,
        /// Where, in bytes from its start.
        at: u64,
        /// The rule that is broken.
        why: &'static str,
    },
    /// A file of another version of the format.
    #[error("{file} has format {found}, this library reads {known}")]
    Version {
        /// The file.
        file: FileName,
        /// Its version.
        found: u32,
        /// The version that is known.
        known: u32,
    },
    /// The disk is full. What was stored before stays; the call can be repeated.
    #[error("{file}: the disk is full")]
    Full {
        /// The file that could not grow.
        file: FileName,
    },
    /// The system refused to read or write.
    #[error("{file}: cannot {action}")]
    Io {
        /// The file.
        file: FileName,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The system could not make writes durable once, and may have lost them: no checkpoint can
    /// be trusted any more. Open the last one anew, or export the entries.
    #[error("{file} could not be synced before: checkpoints are refused; reopen the last one")]
    Unsynced {
        /// The file.
        file: FileName,
    },
}

impl StoreError {
    /// Of an error of the system.
    pub(crate) fn io(file: FileName, action: &'static str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { file },
            _ => Self::Io { file, action, source },
        }
    }
}
