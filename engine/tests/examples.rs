//! The examples run as they stand, end by themselves, and hold what they assert.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

#[path = "../examples/embed.rs"]
mod embed;
#[path = "../examples/sim_faults.rs"]
mod sim_faults;
#[path = "../examples/twenty_lines.rs"]
mod twenty_lines;

#[test]
fn twenty_lines_count_each_number() {
    twenty_lines::main().unwrap();
}

#[test]
fn an_embedded_run_finishes_what_it_accepted() {
    embed::main().unwrap();
}

#[test]
fn bad_days_break_no_promise() {
    sim_faults::main().unwrap();
}
