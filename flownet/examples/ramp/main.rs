//! The paper's ramps (section 4.3), over clusters of M/M/1 queues.
//!
//! ```sh
//! cargo run -p flownet --example ramp
//! ```
//!
//! The paper gives no capacities of its machines. Ours are chosen: ten workers in the stage that
//! counts, some of them slow, so that shuffle, which gives each worker a tenth, is held to what the
//! paper measured for Flink, and so that what all workers bear together is what the paper reached:
//! the gains are largely built in. The rest is found: capacities under the latency bound by
//! `detect`, flows by `Warm`, shares by `Planner`. What is carried is what keeps every latency
//! within the bound.

mod cluster;

use cluster::{Cluster, stages};
use flownet::{
    DetectConfig, Network, NodeId, Place, Planner, Policy, Probe, Split, Warm, bottlenecks, detect,
    plan,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Job {
    name: &'static str,
    /// The latency bound in seconds.
    theta: f64,
    /// What each worker bears within the bound: the first stage, and the second.
    bears: [Vec<f64>; 2],
    rates: Vec<f64>,
}

/// `slow` workers of one capacity and fast ones of another, ten in all.
fn ten(slow: usize, bears: f64, fast: f64) -> Vec<f64> {
    (0..10).map(|worker| if worker < slow { bears } else { fast }).collect()
}

/// Up by 10 000 a minute, three minutes at the top, down again.
fn ramp(from: u32, to: u32) -> Vec<f64> {
    let up = (from..=to).step_by(10_000);
    let down: Vec<u32> = (from..to).step_by(10_000).collect();
    up.chain([to, to]).chain(down.into_iter().rev()).map(f64::from).collect()
}

/// The share of each node in turn: what shuffle deals.
fn shuffle(net: &Network<f64>, rate: f64) -> Result<flownet::Plan> {
    let mut planner = Planner::new(net);
    for node in (0..net.node_count() as u32).map(NodeId) {
        let arcs = net.arcs().filter(|arc| arc.from == node).count();
        if arcs > 1 {
            planner = planner.split(node, Split::Fixed(vec![1.0 / arcs as f64; arcs]));
        }
    }
    Ok(planner.plan(rate)?)
}

fn run(job: &Job) -> Result<()> {
    // An M/M/1 queue that bears `c` within the bound serves `c + 1 / theta`.
    let serve = |stage: &Vec<f64>| stage.iter().map(|c| c + 1.0 / job.theta).collect();
    let mut cluster: Cluster = stages(&job.bears.each_ref().map(serve));
    let config = DetectConfig { tolerance: 0.001, ..DetectConfig::new(job.theta, 10_000.0, 1.0e6) };
    let net = cluster.net.clone();
    let found = detect(&net, &mut cluster, &config)?;
    println!("\n{}: theta {:.2} ms", job.name, job.theta * 1e3);
    println!(
        "{} capacities in {} windows; the cut of {:.0} tuples/s is {}",
        found.found.len(),
        found.windows,
        found.answer.value,
        if found.unproved.is_empty() { "proved" } else { "not proved" },
    );
    println!("expected | carried | by shuffle | slow, fast share | worst ms | held up by");
    let mut warm = Warm::new(found.network)?;
    let mut best = (0.0, 0.0);
    for &rate in &job.rates {
        let _ = warm.solve_to(rate)?;
        let dealt = plan(warm.network(), rate, Policy::Balanced)?;
        let even = shuffle(warm.network(), rate)?;
        let seen = cluster.window(warm.value(), &dealt)?;
        let worst = seen.samples.iter().map(|sample| sample.latency).fold(0.0, f64::max);
        let shares: Vec<f64> = dealt.shares(NodeId(1)).map(|(_, share)| share).collect();
        let answer = warm.answer();
        let held_up = bottlenecks(warm.network(), &answer);
        let cut = match held_up.first().map(|limit| limit.at) {
            Some(Place::Rate) => "the rate alone".to_string(),
            Some(_) => format!("{} workers", held_up.len()),
            None => "more than one limit".to_string(),
        };
        println!(
            "{rate:8.0} | {:7.0} | {:10.0} | {:.4}, {:.4}   | {:8.3} | {cut}",
            warm.value(),
            even.value(),
            shares[0],
            shares[9],
            worst * 1e3,
        );
        best = (f64::max(best.0, even.value()), f64::max(best.1, warm.value()));
    }
    let more = (best.1 / best.0 - 1.0) * 100.0;
    println!("at most {:.0} by shuffle and {:.0} here: {more:.2} % more", best.0, best.1);
    Ok(())
}

fn main() -> Result<()> {
    let jobs = [
        Job {
            name: "WordCount",
            theta: 0.13e-3,
            bears: [ten(0, 0.0, 9_500.0), ten(2, 6_800.0, 9_300.0)],
            rates: ramp(40_000, 90_000),
        },
        Job {
            name: "TwitterSentiment",
            theta: 0.15e-3,
            bears: [ten(0, 0.0, 9_500.0), ten(2, 5_900.0, 7_087.5)],
            rates: ramp(20_000, 70_000),
        },
        Job {
            name: "TeraSort",
            theta: 0.17e-3,
            bears: [ten(0, 0.0, 9_500.0), ten(3, 3_300.0, 39_100.0 / 7.0)],
            rates: ramp(10_000, 50_000),
        },
    ];
    jobs.iter().try_for_each(run)
}
