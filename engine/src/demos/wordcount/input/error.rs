//! What can go wrong with an input.

use std::path::PathBuf;
use std::{error, fmt, io};

use super::Source;

/// Why an input cannot be read, with its name.
#[derive(Debug)]
#[non_exhaustive]
pub enum InputError {
    /// The file is missing or may not be read.
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The path is a directory, which has no lines.
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The input begins with the byte order mark of an encoding that is not UTF-8.
    Encoding {
        /// The input.
        input: Source,
        /// The encoding, such as `UTF-16LE`.
        found: &'static str,
    },
    /// Reading failed part-way.
    Read {
        /// The input.
        input: Source,
        /// Bytes of the input before the failure.
        at: u64,
        /// What the system said.
        cause: io::Error,
    },
    /// No thread could be started to read the input.
    Thread {
        /// The input.
        input: Source,
        /// What the system said.
        cause: io::Error,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, cause } => write!(f, "cannot open {}: {cause}", path.display()),
            Self::Directory { path } => {
                write!(f, "cannot read {}: it is a directory, name a file in it", path.display())
            }
            Self::Encoding { input, found } => {
                write!(f, "cannot read {input}: it is in {found}, convert it to UTF-8")
            }
            Self::Read { input, at, cause } => {
                write!(f, "cannot read {input} beyond byte {at}: {cause}")
            }
            Self::Thread { input, cause } => {
                write!(f, "cannot start a thread to read {input}: {cause}")
            }
        }
    }
}

impl error::Error for InputError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Open { cause, .. } | Self::Read { cause, .. } | Self::Thread { cause, .. } => {
                Some(cause)
            }
            Self::Directory { .. } | Self::Encoding { .. } => None,
        }
    }
}
