//! E11: no wake-up is lost, and an idle topology costs nothing.

use std::time::Duration;

use cpu_time::ProcessTime;
use streamwright::{Guarantee, Stop};

use super::common::{Idle, alone, builder, config, count, eventually, numbers, run, start};

/// `STREAMWRIGHT_RUNS=100000` for the long form.
fn runs() -> u32 {
    std::env::var("STREAMWRIGHT_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(2000)
}

#[test]
fn e11_many_runs_of_one_record_on_two_workers_all_end() {
    for i in 0..runs() {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 1, 1);
        let counts = count(&mut builder, "sink", 1, stream);
        let mut config = config();
        config.seed = u64::from(i);
        if i % 2 == 1 {
            config.guarantee = Guarantee::AtMostOnce;
        }
        let report = run(builder, config);
        assert!(report.complete);
        counts.assert_once(0..1);
    }
}

#[test]
fn e11_an_idle_topology_costs_next_to_no_time() {
    alone("wakeups::e11_an_idle_topology_costs_next_to_no_time", || {
        let mut builder = builder();
        let stream = builder.spout("idle", 2, |_| Ok(Idle));
        count(&mut builder, "sink", 2, stream);
        let handle = start(builder, config());
        eventually("it runs", || handle.status().elapsed > Duration::from_millis(200));
        let (before, since) = (ProcessTime::now(), handle.status().elapsed);
        std::thread::sleep(Duration::from_secs(2));
        let (cost, time) = (before.elapsed(), handle.status().elapsed - since);
        handle.stopper().stop(Stop::Drain);
        let _ = handle.wait().unwrap();
        let share = cost.as_secs_f64() / time.as_secs_f64();
        println!("idle: {:.2} % of a core", 100.0 * share);
        assert!(share <= 0.03, "{cost:?} in {time:?}");
    });
}
