//! Settings as people read them: one field a line, with its unit; what is the default says so.

use core::fmt;
use core::time::Duration;

use super::{Config, EpochEnd, Exhausted, Guarantee};

/// Width of a field's name, and of its value.
const NAME: usize = 18;
const VALUE: usize = 22;

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Guarantee::AtMostOnce => "at most once",
            Guarantee::AtLeastOnce => "at least once",
            Guarantee::ExactlyOnce => "exactly once",
        })
    }
}

impl fmt::Display for EpochEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EpochEnd::Every(time) => write!(f, "every {time:?}"),
            EpochEnd::Records(records) => write!(f, "every {records} records"),
        }
    }
}

/// The settings in force: a line a field, `name value unit`, and `(default)` where the value is that
/// of [`Config::default`].
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let defaults = lines(&Config::default());
        for ((name, value), (_, default)) in lines(self).iter().zip(&defaults) {
            if value == default {
                writeln!(f, "{name:<NAME$} {value:<VALUE$} (default)")?;
            } else {
                writeln!(f, "{name:<NAME$} {value}")?;
            }
        }
        Ok(())
    }
}

fn changes(changes: &[(u64, u32)]) -> String {
    let one = |(epoch, ackers): &(u64, u32)| format!("{ackers} from epoch {epoch}");
    if changes.is_empty() {
        return "none".to_owned();
    }
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Every field with its value. Taken apart whole, so that no field can be forgotten.
fn lines(config: &Config) -> Vec<(&'static str, String)> {
    let Config {
        workers,
        ackers,
        acker_changes,
        guarantee,
        epoch,
        window,
        queue,
        batch,
        batch_bytes,
        linger,
        max_pending,
        max_pending_bytes,
        timeout,
        ticket_limit,
        attempts,
        exhausted,
        check_ppm,
        backoff,
        max_backoff,
        record_limit,
        slot_bits,
        turn,
        stall_after,
        overrun,
        drain,
        drop_ppm,
        restarts,
        seed,
    } = config;
    let time = |time: &Duration| format!("{time:?}");
    vec![
        ("workers", format!("{workers} threads")),
        ("ackers", ackers.to_string()),
        ("acker_changes", changes(acker_changes)),
        ("guarantee", guarantee.to_string()),
        ("epoch", epoch.to_string()),
        ("window", format!("{window} epochs")),
        ("queue", format!("{queue} batches")),
        ("batch", format!("{batch} tuples")),
        ("batch_bytes", format!("{batch_bytes} bytes")),
        ("linger", time(linger)),
        ("max_pending", format!("{max_pending} roots")),
        ("max_pending_bytes", format!("{max_pending_bytes} bytes")),
        ("timeout", time(timeout)),
        ("ticket_limit", time(ticket_limit)),
        ("attempts", attempts.to_string()),
        (
            "exhausted",
            match exhausted {
                Exhausted::Stop => "stop".to_owned(),
                Exhausted::Skip => "skip".to_owned(),
            },
        ),
        ("check_ppm", format!("{check_ppm} in a million")),
        ("backoff", time(backoff)),
        ("max_backoff", time(max_backoff)),
        ("record_limit", format!("{record_limit} bytes")),
        ("slot_bits", slot_bits.map_or_else(|| "by the tasks".to_owned(), |bits| bits.to_string())),
        ("turn", format!("{turn} steps")),
        ("stall_after", time(stall_after)),
        ("overrun", time(overrun)),
        ("drain", time(drain)),
        ("drop_ppm", format!("{drop_ppm} in a million")),
        ("restarts", restarts.to_string()),
        ("seed", seed.to_string()),
    ]
}
