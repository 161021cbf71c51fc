//! A copy of the workspace to seed bugs in, and how its tests are built and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A test that takes longer has not caught the bug: no deadlock may hang the check.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the workspace is made of.
const PARTS: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "acker",
    "benches",
    "engine",
    "flownet",
    "keywindow",
    "rtmr",
    "tsaw",
];

/// The copy. It stays, so that the next check builds only what has changed.
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
    log: PathBuf,
}

impl Workspace {
    /// Copies the workspace that this package is in.
    pub fn copy() -> Self {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR"));
        let from = engine.parent().unwrap();
        assert!(
            from.join("acker/Cargo.toml").is_file(),
            "mutants are run in the repository: a package alone has no workspace"
        );
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
        let (root, target) = (place.join("workspace"), place.join("target"));
        fs::create_dir_all(&root).unwrap();
        for part in PARTS {
            mirror(&from.join(part), &root.join(part));
        }
        Workspace { root, target, log: place.join("output") }
    }

    /// The path of a file of the core.
    pub fn core(&self, file: &str) -> PathBuf {
        self.root.join("engine/src/core").join(file)
    }

    /// Builds a test target and gives its program, or what the compiler said.
    pub fn build(&self, target: &str) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["test", "--locked", "--no-run", "-p", "streamwright", "--no-default-features"])
            .args(["--test", target])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            // Built some dozen times and run for seconds: half optimised, and in parts.
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // A bug may leave a variable without use.
            .env("RUSTFLAGS", "--cap-lints=warn")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let program = said
            .lines()
            .filter(|line| line.trim().starts_with("Executable"))
            .find_map(|line| Some(line.split_once(" (")?.1.trim().strip_suffix(')')?.to_owned()));
        match program.filter(|_| output.status.success()) {
            Some(program) => Ok(self.root.join(program)),
            None => Err(said),
        }
    }

    /// Runs tests of a program by their full names; what it says, and how it ended: `None` where
    /// it took too long.
    pub fn run(&self, program: &Path, tests: &[&str]) -> (Option<ExitStatus>, String) {
        let said = fs::File::create(&self.log).unwrap();
        let mut child = Command::new(program)
            .arg("--exact")
            .args(tests)
            .current_dir(self.root.join("engine"))
            .env_remove("STREAMWRIGHT_SEED")
            .env_remove("STREAMWRIGHT_SEEDS")
            .env_remove("STREAMWRIGHT_CASES")
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = PATIENCE * u32::try_from(tests.len()).unwrap_or(u32::MAX);
        let start = Instant::now();
        let mut in_time = true;
        while in_time && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
            in_time = start.elapsed() < patience;
        }
        if !in_time {
            child.kill().unwrap();
        }
        let status = Some(child.wait().unwrap()).filter(|_| in_time);
        (status, String::from_utf8_lossy(&fs::read(&self.log).unwrap()).into_owned())
    }
}

/// Makes `to` what `from` is. A file that is so already is not touched: it need not be built anew.
fn mirror(from: &Path, to: &Path) {
    if from.is_file() {
        let wanted = fs::read(from).unwrap();
        if fs::read(to).ok().as_ref() != Some(&wanted) {
            fs::write(to, wanted).unwrap();
        }
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        if name != "target" {
            mirror(&from.join(&name), &to.join(&name));
        }
    }
    for entry in fs::read_dir(to).unwrap() {
        let path = entry.unwrap().path();
        if !from.join(path.file_name().unwrap()).exists() {
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
}
