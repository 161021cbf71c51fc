//! The few calls of a file system that a spill needs, so that a test can stand in for it.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A file of a spill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// The checkpoint.
    Manifest,
    /// A checkpoint that is being written.
    NewManifest,
    /// A file of blocks.
    Data(u32),
    /// A file of blocks that is being made.
    NewData,
}

impl FileName {
    /// From the name in a folder.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "manifest.rtmr" => Some(Self::Manifest),
            "manifest.new" => Some(Self::NewManifest),
            "data.new" => Some(Self::NewData),
            _ => {
                let number = name.strip_prefix("data-")?.strip_suffix(".rtmr")?;
                let parsed = Self::Data(number.parse().ok()?);
                (parsed.to_string() == name).then_some(parsed)
            }
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest => write!(f, "manifest.rtmr"),
            Self::NewManifest => write!(f, "manifest.new"),
            Self::Data(number) => write!(f, "data-{number:06}.rtmr"),
            Self::NewData => write!(f, "data.new"),
        }
    }
}

/// Files that are read and written at any place.
pub trait Disk {
    /// The files that are there, in any order.
    ///
    /// # Errors
    /// When the system refuses.
    fn list(&mut self) -> io::Result<Vec<FileName>>;

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// When there is none, or the system refuses.
    fn len(&mut self, file: FileName) -> io::Result<u64>;

    /// Fills `into` from byte `at` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file ends before; or when the system refuses.
    fn read(&mut self, file: FileName, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes from byte `at` on, and makes the file if there is none. After an error any
    /// part of them may be there.
    ///
    /// # Errors
    /// When the system refuses.
    fn write(&mut self, file: FileName, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was written to a file durable.
    ///
    /// # Errors
    /// When the system refuses; the writes may be lost then.
    fn sync(&mut self, file: FileName) -> io::Result<()>;

    /// Gives a file another name, in place of the file that had it.
    ///
    /// # Errors
    /// When the system refuses.
    fn rename(&mut self, from: FileName, to: FileName) -> io::Result<()>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// When the system refuses.
    fn remove(&mut self, file: FileName) -> io::Result<()>;

    /// Makes renames and removals durable.
    ///
    /// # Errors
    /// When the system refuses.
    fn sync_names(&mut self) -> io::Result<()>;
}

/// A folder of the file system, of which one store at a time may have the use: a lock on the file
/// `lock.rtmr` sees to that, which ends with this value or its process.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
    /// Handles by number of the data file; opened at the first use.
    data: Vec<Option<File>>,
    /// Whether `sync` waits for the device.
    durable: bool,
}

impl Folder {
    /// The folder at `path`, which is made if it is not there. What a checkpoint holds survives
    /// the end of the process, and of the system as well.
    ///
    /// # Errors
    /// When it cannot be made; `ResourceBusy` when another `Folder` has it. On a file system
    /// without locks nothing tells.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        let made: Vec<_> =
            path.as_ref().ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(&path)?;
        // A folder that is made is an entry of the one above, which must be durable, too.
        for folder in made.iter().filter_map(|folder| folder.parent()) {
            let above = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            sync_folder(above)?;
        }
        let path = path.as_ref().to_path_buf();
        Ok(Self { _lock: lock(&path)?, path, data: Vec::new(), durable: true })
    }

    /// The same without waiting for the device: checkpoints survive the end of the process, by
    /// whatever cause, but not that of the system.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn buffered(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { durable: false, ..Self::new(path)? })
    }

    fn path(&self, file: FileName) -> PathBuf {
        self.path.join(file.to_string())
    }

    /// Runs `work` on a file, whose handle is kept if it is one of data.
    fn with<R>(
        &mut self,
        file: FileName,
        make: bool,
        work: impl FnOnce(&File) -> io::Result<R>,
    ) -> io::Result<R> {
        let Self { path, data, .. } = self;
        // Names are only made where a file is opened.
        let open = || {
            let path = path.join(file.to_string());
            OpenOptions::new().read(true).write(true).create(make).truncate(false).open(path)
        };
        let FileName::Data(number) = file else { return work(&open()?) };
        let number = number as usize;
        if number >= data.len() {
            data.resize_with(number + 1, || None);
        }
        match &mut data[number] {
            Some(held) => work(held),
            none => work(none.insert(open()?)),
        }
    }

    fn forget(&mut self, file: FileName) {
        if let FileName::Data(number) = file
            && let Some(handle) = self.data.get_mut(number as usize)
        {
            *handle = None;
        }
    }
}

impl Disk for Folder {
    fn list(&mut self) -> io::Result<Vec<FileName>> {
        let mut found = Vec::new();
        for item in fs::read_dir(&self.path)? {
            found.extend(item?.file_name().to_str().and_then(FileName::parse));
        }
        Ok(found)
    }

    fn len(&mut self, file: FileName) -> io::Result<u64> {
        Ok(fs::metadata(self.path(file))?.len())
    }

    fn read(&mut self, file: FileName, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.with(file, false, |handle| read_at(handle, at, into))
    }

    fn write(&mut self, file: FileName, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(file, true, |handle| write_at(handle, at, bytes))
    }

    fn sync(&mut self, file: FileName) -> io::Result<()> {
        if self.durable { self.with(file, false, File::sync_data) } else { Ok(()) }
    }

    fn rename(&mut self, from: FileName, to: FileName) -> io::Result<()> {
        self.forget(from);
        self.forget(to);
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&mut self, file: FileName) -> io::Result<()> {
        self.forget(file);
        match fs::remove_file(self.path(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn sync_names(&mut self) -> io::Result<()> {
        if self.durable { sync_folder(&self.path) } else { Ok(()) }
    }
}

fn lock(folder: &Path) -> io::Result<File> {
    let path = folder.join("lock.rtmr");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let why = format!("{}: another store has this folder", path.display());
            Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
        }
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Other systems cannot open a folder, and need not.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
fn read_at(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(unix)]
fn write_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    use io::{Read, Seek};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(into)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    use io::{Seek, Write};
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)
}
