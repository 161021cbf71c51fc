//! Balancing plans: bytes over the bound and time, beside the sort of the same entries, beside
//! searches without a bound, and beside rules that count entries.
//!
//! Prints Markdown. Times are CPU times, medians of several runs; those of a plan begin with the
//! bare entries, and so have the summing of loads in them. `-- --small` leaves out 2¹⁴ entries a
//! node and more, `-- gaps`, `-- rivals` and `-- counts` print one table, and `-- --write FOLDER`
//! writes the instances and our plans for `peers/balance.py` instead.

#[path = "balance/counts.rs"]
mod counts;
#[path = "balance/gaps.rs"]
mod gaps;
#[path = "balance/rivals.rs"]
mod rivals;
#[path = "balance/write.rs"]
mod write;

use std::error::Error;
use std::path::Path;

use benches::timing::median;
use cpu_time::ProcessTime;
use rtmr::balance::{Options, Plan, plan, verify};
use rtmr::instances::{Instance, Shape};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SHAPES: [(&str, Shape, usize); 3] =
    [("1-1", Shape::OneToOne, 2), ("1-n", Shape::OneToMany, 4), ("n-n", Shape::ManyToMany, 7)];

const SIGMAS: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 2.5];

/// What `work` gives, and its CPU time in milliseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e3)
}

/// A plan that was checked, and the median of its times.
fn planned(instance: &Instance, options: &Options<'_>, runs: usize) -> Outcome<(Plan, f64)> {
    let once =
        || -> Result<Plan, rtmr::Error> { plan(&instance.cluster()?, instance.band, options) };
    let (made, first) = timed(once);
    let made = made?;
    let mut times = vec![first];
    for _ in 1..runs {
        times.push(timed(once).1);
    }
    let _ = verify(&instance.cluster()?, instance.band, &made)?;
    Ok((made, median(times)))
}

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| args.iter().any(|arg| arg == name);
    // `cargo test` runs benches without a harness too: it is enough that they start.
    if has("--test") {
        return Ok(());
    }
    if let Some(at) = args.iter().position(|arg| arg == "--write") {
        let folder = args.get(at + 1).ok_or("--write needs a folder")?;
        return write::write(Path::new(folder));
    }
    let all = !["gaps", "rivals", "counts"].into_iter().any(has);
    if all || has("gaps") {
        gaps::print(if has("--small") { 12 } else { 16 })?;
    }
    if all || has("rivals") {
        rivals::print(if has("--small") { 12 } else { 16 })?;
    }
    if all || has("counts") {
        counts::print()?;
    }
    Ok(())
}
