//! What a finished run has to say on standard error.

use std::time::Duration;

use super::console::Console;
use super::duration;
use super::summary::{Crash, Summary};

/// Dead letters that are listed; the JSON has more.
const LISTED: usize = 5;

/// Says, each in one line, what was not as it should be.
pub(super) fn tell(summary: &Summary, console: &Console) {
    let warn = |text: String| console.say(&format!("warning: {text}"));
    let name = summary.input.path.as_deref().unwrap_or("standard input");
    match summary.input.cut_lines {
        Some(1) => {
            warn(format!("{name}: 1 line over 1 MiB was cut at a word boundary, where it had one"));
        }
        Some(cut @ 2..) => {
            warn(format!(
                "{name}: {cut} lines over 1 MiB were cut at a word boundary, where they had one"
            ));
        }
        Some(0) | None => {}
    }
    if summary.input.shrank == Some(true) {
        warn(format!("{name} shrank while it was read: its words are counted to the new end"));
    }
    for crash in &summary.crashes {
        console.say(&crashed(crash));
    }
    if let Some(last) = summary.stalls.last() {
        warn(format!("{} times without progress; the last: {last}", summary.stalls.len()));
    }
    for overrun in &summary.overruns {
        let time = duration::measured(Duration::from_micros(overrun.time_us));
        warn(format!("{}[{}] was {time} in one step", overrun.component, overrun.task));
    }
    dead_letters(summary, console);
    if let Some(unfinished @ 1..) = summary.tracking.unfinished {
        warn(format!("{unfinished} roots were left without a verdict"));
    }
}

/// What failed, and what it cost.
fn crashed(crash: &Crash) -> String {
    let Crash { cause, resumed, lost_epochs, .. } = crash;
    match resumed.checked_sub(*lost_epochs) {
        Some(from) if from < *resumed => format!(
            "error: {cause}; all started anew at epoch {resumed}, and what was counted in epochs \
             {from} to {} was lost: counts are too small",
            resumed - 1
        ),
        _ => format!("warning: {cause}; all started anew at epoch {resumed}, and nothing was lost"),
    }
}

fn dead_letters(summary: &Summary, console: &Console) {
    let Some(dead @ 1..) = summary.tracking.dead else { return };
    console.say(&format!("error: {dead} dead letters"));
    for letter in summary.dead_letters.iter().take(LISTED) {
        let line = match &letter.item {
            Some(item) => format!("{item:?}"),
            None => "a line that cannot be shown".to_owned(),
        };
        console.say(&format!(
            "  {}[{}], epoch {}, {} attempts: {}: {line}",
            letter.component, letter.task, letter.epoch, letter.attempts, letter.reason
        ));
    }
    let more = dead.saturating_sub(summary.dead_letters.len().min(LISTED) as u64);
    if more > 0 {
        console.say(&format!(
            "  and {more} more; --json lists the first {}",
            streamwright::Report::LETTERS
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_says_what_it_cost() {
        let mut crash = Crash {
            cause: "close of count[1] failed at epoch 9: full".to_owned(),
            at_us: 7,
            incarnation: 0,
            resumed: 9,
            lost_epochs: 5,
        };
        let told = crashed(&crash);
        assert!(told.starts_with("error: close of count[1] failed at epoch 9: full; all"));
        assert!(told.ends_with("epochs 4 to 8 was lost: counts are too small"), "{told}");
        crash.lost_epochs = 0;
        assert!(crashed(&crash).starts_with("warning: close of"), "{}", crashed(&crash));
    }
}
