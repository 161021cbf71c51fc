//! Children that cannot outlive their time, temporary files, and terminals.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;
use streamwright::demos::wordcount::{generate::Generator, tokenize};

/// No child lives longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The binary under test, without the surroundings' wishes for colour.
pub(crate) fn streamwright<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_streamwright"));
    command.args(args).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env_remove("TERM");
    command
}

/// `run wordcount` with these arguments, separated by spaces.
pub(crate) fn wordcount(args: &str) -> Command {
    streamwright(["run", "wordcount"].into_iter().chain(args.split_whitespace()))
}

/// `run wordcount` of a file.
pub(crate) fn wordcount_of(path: &Path, args: &str) -> Command {
    let mut command = wordcount(args);
    command.arg("--input").arg(path);
    command
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
    pub(crate) took: Duration,
    /// Peak resident memory in KiB, as far as it was seen.
    pub(crate) peak_kib: u64,
}

impl Ended {
    /// The exit code; a child that a signal killed fails the test.
    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        let killed = || panic!("killed by signal {:?}: {}", self.status.signal(), self.err);
        self.status.code().unwrap_or_else(killed)
    }

    /// The report, of a run that must have ended with `code` and said nothing else.
    #[track_caller]
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code(), code, "{}", self.err);
        serde_json::from_slice(&self.out).expect("strict JSON")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// A running child; killed if it is dropped, or outlives its time.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    out: Option<JoinHandle<Vec<u8>>>,
    err: Option<JoinHandle<Vec<u8>>>,
    start: Instant,
}

/// Starts `command`; what it writes is read, unless the caller has said where it goes.
pub(crate) fn start(command: &mut Command) -> Running {
    start_to(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// Starts `command`, whose standard output and error the caller has set.
pub(crate) fn start_to(command: &mut Command) -> Running {
    let start = Instant::now();
    let mut child = command.spawn().expect("the binary starts");
    let out = child.stdout.take().map(read_all);
    let err = child.stderr.take().map(read_all);
    Running { child, out, err, start }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A terminal whose other side has gone ends with an error.
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the child can be signalled");
    }

    /// Waits until the child is a little way into reading the file at `path`.
    pub(crate) fn wait_for_reading(&self, path: &Path) {
        let fds = PathBuf::from(format!("/proc/{}/fd", self.id()));
        let reads = |fd: fs::DirEntry| fs::read_link(fd.path()).is_ok_and(|open| open == path);
        while fds.exists() && self.start.elapsed() < LIMIT {
            if fs::read_dir(&fds).is_ok_and(|mut all| all.any(|fd| fd.is_ok_and(reads))) {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(30));
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ended {
        let mut peak_kib = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            peak_kib = peak_kib.max(peak_memory(self.id()));
            assert!(self.start.elapsed() < LIMIT, "still running after {LIMIT:?}");
            thread::sleep(Duration::from_millis(2));
        };
        let took = self.start.elapsed();
        let read = |from: Option<JoinHandle<Vec<u8>>>| {
            from.map_or_else(Vec::new, |thread| thread.join().expect("a reader"))
        };
        let out = read(self.out.take());
        let err = String::from_utf8_lossy(&read(self.err.take())).into_owned();
        Ended { status, out, err, took, peak_kib }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `command` to its end.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Ended {
    start(command).wait()
}

fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// The words of a report with their counts, bytes as they are.
pub(crate) fn counts(report: &Value) -> BTreeMap<Vec<u8>, u64> {
    let word = |word: &Value| {
        let bytes = match word["bytes"].as_str() {
            Some(hex) => unhex(hex),
            None => word["word"].as_str().expect("a word").as_bytes().to_vec(),
        };
        (bytes, word["count"].as_u64().expect("a count"))
    };
    report["top"].as_array().expect("words").iter().map(word).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// The plain sequential count of the generator's lines.
pub(crate) fn truth_of_generator(seed: u64, lines: u64) -> BTreeMap<Vec<u8>, u64> {
    let mut text = Vec::new();
    let mut generator = Generator::new(seed, 0, 1, lines);
    while let Some(line) = generator.next_line() {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    tokenize::count(&text)
}

/// A folder of its own for a test, removed with all that is in it.
#[derive(Debug)]
pub(crate) struct Temp(PathBuf);

impl Temp {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("streamwright-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a temporary folder");
        Temp(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a temporary file");
        path
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a FIFO");
        path
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A terminal of so many columns: the side that a program sees, and what it has shown.
#[derive(Debug)]
pub(crate) struct Terminal {
    side: File,
    shown: JoinHandle<Vec<u8>>,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a terminal");
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
        let side = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).expect("a terminal");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&side, size).expect("a size");
        Terminal { side: side.into(), shown: read_all(File::from(master)) }
    }

    pub(crate) fn stdio(&self) -> Stdio {
        self.side.try_clone().expect("a terminal").into()
    }

    /// All that was shown, once every program has let go of the terminal.
    pub(crate) fn shown(self) -> String {
        drop(self.side);
        String::from_utf8_lossy(&self.shown.join().expect("a reader")).into_owned()
    }
}
