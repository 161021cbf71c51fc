//! Standard error: lines for people, and the progress line where there is a terminal for it.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use streamwright::threads::Status;

use super::harmless::harmless;
use super::{color, duration};

/// Writes to standard error; if nobody reads it, there is nobody to be told so.
pub(super) fn write_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Standard error during a run. Clones share one progress line.
#[derive(Clone, Debug)]
pub(super) struct Console(Option<Arc<ProgressBar>>);

impl Console {
    /// A console; its progress line exists only on a terminal that is not dumb.
    pub(super) fn new() -> Self {
        let shown =
            io::stderr().is_terminal() && color::capable(std::env::var_os("TERM").as_deref());
        Console(shown.then(|| {
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                line.set_style(style);
            }
            Arc::new(line)
        }))
    }

    /// Whether there is a progress line to keep up to date.
    pub(super) fn has_progress(&self) -> bool {
        self.0.is_some()
    }

    /// Writes one line, above the progress line if there is one.
    pub(super) fn say(&self, line: &str) {
        let line = harmless(line.as_bytes());
        let write = || write_stderr(&format!("{}\n", String::from_utf8_lossy(&line)));
        match &self.0 {
            Some(progress) if !progress.is_finished() => progress.suspend(write),
            _ => write(),
        }
    }

    /// Shows how things stand.
    pub(super) fn progress(&self, status: &Status) {
        if let Some(progress) = &self.0 {
            progress.set_message(describe(status));
        }
    }

    /// Removes the progress line.
    pub(super) fn finish(&self) {
        if let Some(progress) = &self.0 {
            progress.finish_and_clear();
        }
    }
}

/// One line: records, their rate, epochs, and what holds them up.
fn describe(status: &Status) -> String {
    let seconds = status.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { status.records as f64 / seconds } else { 0.0 };
    let mut line = format!("{} lines, {rate:.0}/s, epoch {}", status.records, status.epochs);
    if let Some((component, task, time)) = status.overrunning.first() {
        let millis = Duration::from_millis(time.as_millis().try_into().unwrap_or(u64::MAX));
        line += &format!(", {component}[{task}] busy for {}", duration::format(millis));
    } else if let Some(stall) = &status.stall {
        line += &format!(", {stall}");
    }
    line
}
