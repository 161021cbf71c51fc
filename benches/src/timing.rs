//! The clock of the benches that are plain programs, whose contenders take turns.

use cpu_time::ThreadTime;

/// The middle one, the upper of two.
///
/// # Panics
/// Without values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU nanoseconds of this thread that `work` takes.
pub fn timed(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_nanos() as f64
}
