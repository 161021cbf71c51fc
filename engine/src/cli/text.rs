//! The report as text: the same bytes whatever the terminal, but for colour where that is allowed.

use std::fmt::{Display, Write};
use std::time::Duration;

use super::color::Paint;
use super::duration;
use super::harmless::harmless;
use super::summary::{Settings, Summary};

/// Width of a label.
const LABEL: usize = 18;

/// The text. Words are in it byte for byte, so it need not be UTF-8.
pub(super) fn render(summary: &Summary, paint: Paint) -> Vec<u8> {
    let mut out = Vec::new();
    words(summary, paint, &mut out);
    let mut text = String::new();
    figures(summary, paint, &mut text);
    tracking(summary, paint, &mut text);
    simulated(summary, paint, &mut text);
    components(summary, paint, &mut text);
    settings(summary, paint, &mut text);
    out.extend_from_slice(text.as_bytes());
    out
}

fn words(summary: &Summary, paint: Paint, out: &mut Vec<u8>) {
    if summary.top.is_empty() {
        return;
    }
    out.extend_from_slice(paint.heading("     count  word\n").as_bytes());
    for word in &summary.top {
        out.extend_from_slice(format!("{:>10}  ", word.count).as_bytes());
        out.extend_from_slice(&harmless(&word.raw));
        out.push(b'\n');
    }
    out.push(b'\n');
}

fn figures(summary: &Summary, paint: Paint, text: &mut String) {
    line(text, "lines", dash(summary.lines));
    line(text, "words", summary.words);
    line(text, "distinct words", summary.distinct_words);
    line(text, "bytes read", dash(summary.input.bytes));
    line(text, "cut lines", dash(summary.input.cut_lines));
    let time = if summary.sim.is_some() { "virtual time" } else { "time" };
    line(text, time, dash(summary.elapsed_us.map(micros)));
    line(text, "words/s", dash(summary.words_per_s.map(|rate| format!("{rate:.0}"))));
    line(text, "epochs", dash(summary.epochs));
    let lost: u64 = summary.streams.iter().map(|stream| stream.lost).sum();
    line(text, "lost tuples", lost);
    if !summary.crashes.is_empty() {
        let epochs: u64 = summary.crashes.iter().map(|crash| crash.lost_epochs).sum();
        let crashes = format!("{} ({epochs} epochs lost)", summary.crashes.len());
        line(text, "crashes", paint.alarm(&crashes));
    }
    let complete = match (summary.complete, summary.interrupted) {
        (true, _) => "yes".to_owned(),
        (false, None) => paint.alarm("no"),
        (false, Some(signal)) => paint.alarm(&format!("no, {signal}")),
    };
    line(text, "complete", complete);
}

fn tracking(summary: &Summary, paint: Paint, text: &mut String) {
    let tracking = &summary.tracking;
    section(text, paint, "tracking");
    line(text, "acked", dash(tracking.acked));
    line(text, "failed", dash(tracking.failed));
    let replayed = match tracking.replayed {
        Some(replayed @ 1..) if summary.config.guarantee != "exactly-once" => {
            format!("{replayed}  (words of replayed lines may count twice)")
        }
        replayed => dash(replayed),
    };
    line(text, "replayed", replayed);
    let dead = dash(tracking.dead);
    let any_dead = tracking.dead.is_some_and(|dead| dead > 0);
    line(text, "dead", if any_dead { paint.alarm(&dead) } else { dead });
    line(text, "unfinished", dash(tracking.unfinished));
    line(text, "peak live records", dash(tracking.peak_live));
    line(text, "peak bytes", dash(tracking.peak_bytes));
    line(text, "false-ack bound", dash(tracking.false_ack_bound.map(|p| format!("{p:.1e}"))));
    for (label, of) in [("latency p50", 0), ("p90", 1), ("p99", 2), ("p99.9", 3), ("max", 4)] {
        let time = summary.latency_us.map(|l| micros([l.p50, l.p90, l.p99, l.p999, l.max][of]));
        line(text, &format!("{label:>11}"), dash(time));
    }
}

fn simulated(summary: &Summary, paint: Paint, text: &mut String) {
    let Some(sim) = &summary.sim else { return };
    section(text, paint, "simulation");
    line(text, "cluster", String::from_utf8_lossy(&harmless(sim.cluster.as_bytes())));
    line(text, "seed", sim.seed);
    line(text, "trace", &sim.trace);
    line(text, "events", sim.events);
    line(text, "between nodes", format!("{} tuples, {} bytes", sim.tuples, sim.bytes));
    for node in &sim.nodes {
        let name = String::from_utf8_lossy(&harmless(node.name.as_bytes())).into_owned();
        let share = dash(node.utilisation.map(|share| format!("{:.1} %", share * 100.0)));
        let peak = format!("{share} busy, {} bytes of batches at the most", node.peak_bytes);
        line(text, &name, peak);
    }
}

fn components(summary: &Summary, paint: Paint, text: &mut String) {
    let head = row(
        "component",
        ["tasks", "emitted", "executed", "acked", "failed", "cost", "capacity"].map(str::to_owned),
    );
    section(text, paint, &head);
    for component in &summary.components {
        *text += &row(
            &component.name,
            [
                component.tasks.to_string(),
                component.emitted.to_string(),
                dash(component.executed),
                component.acked.to_string(),
                component.failed.to_string(),
                micros(component.cost_us),
                dash(component.capacity.map(|share| format!("{share:.3}"))),
            ],
        );
        text.push('\n');
    }
}

fn settings(summary: &Summary, paint: Paint, text: &mut String) {
    section(text, paint, "settings");
    let Settings { workers, ackers, tasks, guarantee, .. } = &summary.config;
    let path = summary.input.path.as_deref().map(|path| harmless(path.as_bytes()));
    let input = path.map(|path| String::from_utf8_lossy(&path).into_owned());
    line(text, "input", input.as_deref().unwrap_or(summary.input.kind));
    line(text, "driver", summary.driver);
    line(text, "workers", workers);
    let by_component = format!("lines={},split={},count={}", tasks.lines, tasks.split, tasks.count);
    line(text, "tasks", by_component);
    line(text, "ackers", dash(ackers.as_ref()));
    line(text, "guarantee", guarantee);
    line(text, "time-out", exact(summary.config.timeout_us));
    line(text, "linger", exact(summary.config.linger_us));
    line(text, "max pending", summary.config.max_pending);
    line(text, "attempts", summary.config.attempts);
    if let Some(rate) = &summary.config.rate {
        line(text, "rate", format!("{rate} lines/s (latency from when a line was due)"));
    }
    line(text, "drop", format!("{} ppm", summary.config.drop_ppm));
    line(text, "seed", summary.seed);
    section(text, paint, "the same run again");
    text.push_str(&summary.command);
    text.push('\n');
}

fn section(text: &mut String, paint: Paint, title: &str) {
    text.push('\n');
    *text += &paint.heading(title);
    text.push('\n');
}

fn line(text: &mut String, label: &str, value: impl Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{label:<LABEL$} {value}");
}

fn row(name: &str, cells: [String; 7]) -> String {
    let widths = [6, 11, 11, 11, 9, 11, 9];
    let mut row = format!("{name:<10}");
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(row, " {cell:>width$}");
    }
    row
}

fn dash(figure: Option<impl Display>) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string())
}

fn micros(micros: u64) -> String {
    duration::measured(Duration::from_micros(micros))
}

fn exact(micros: u64) -> String {
    duration::format(Duration::from_micros(micros))
}
