//! A word count under round robin is out of balance: the trigger fires, a plan is made within a
//! budget of moves, checked, and weighed against the pause.
//!
//! ```sh
//! cargo run -p tsaw-storm --example reschedule_wordcount
//! ```

use tsaw::{
    Decision, Options, Trigger, baseline, instances, loads, reschedule, traffic, verify, worth_it,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wc8 = instances::wc8()?;
    let cluster = tsaw::Cluster::uniform(wc8.nodes, 10_000)?;
    let standing = baseline::round_robin(&wc8.graph, &cluster)?;
    let before = loads(&wc8.graph, &cluster, &standing)?;
    let percent: Vec<f64> = before.iter().map(|&load| load as f64 / 100.0).collect();
    println!("round robin: {percent:.1?} % of CPU");
    println!("             {} tuples/s", traffic(&wc8.graph, &cluster, &standing)?.inter);

    let mut trigger = Trigger::new(20.0, 80)?.with_period(5)?;
    let fired = (0..).step_by(5).find_map(|now| match trigger.observe(now, &percent, 1) {
        Ok(Decision::Fire { spread, .. }) => Some((now, spread)),
        _ => None,
    });
    if let Some((now, spread)) = fired {
        println!("after {now} s the spread of {spread:.1} points fires the trigger");
    }

    for most in [4, 8, 40] {
        let options = Options::default().with_max_moves(most);
        match reschedule(&wc8.graph, &cluster, &standing, &options) {
            Err(error) => println!("{most} moves: {error}"),
            Ok(plan) => {
                verify(&wc8.graph, &cluster, &plan.placement, &plan.certificate)?;
                let of = &plan.certificate;
                let net = worth_it(&plan, 600.0, 5.0)?;
                println!(
                    "{most} moves: {} made, {} tuples/s, largest load {:.3} of the mean, net {:+.0}",
                    of.moves.len(),
                    of.cut_after,
                    of.load.imbalance,
                    net.net,
                );
            }
        }
    }
    Ok(())
}
