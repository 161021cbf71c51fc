//! Searches that know load, on the same instances: bytes, time, and both as reaction ν.

use rtmr::balance::{Anneal, Costs, GroupRule, Options, Plan, Search, Start};
use rtmr::instances::{Instance, Shape, shaped};
use rtmr::rivals::{Order, annealing, greedy, moves};

use crate::{Outcome, planned, timed};

/// Gigabits a second as bytes a second.
const LINKS: [(&str, f64); 3] = [("0.1", 12.5e6), ("1", 125e6), ("10", 1250e6)];

struct Row {
    name: String,
    bytes: u64,
    ms: f64,
    relieved: bool,
}

fn row(plan: &Plan, name: &str, ms: f64) -> Row {
    Row { name: name.to_owned(), bytes: plan.bytes, ms, relieved: plan.left_over.is_empty() }
}

/// A rival's owners as a row.
fn judged(instance: &Instance, name: &str, work: impl Fn() -> Outcome<Vec<u32>>) -> Outcome<Row> {
    let (owners, ms) = timed(work);
    let owners = owners?;
    let cluster = instance.cluster()?;
    let mut loads = cluster.loads().to_vec();
    let mut bytes = 0;
    for step in moves(&cluster, &owners) {
        let load = instance.entries[step.entry as usize].load;
        loads[step.from as usize] -= load;
        loads[step.to as usize] += load;
        bytes += step.bytes;
    }
    let relieved =
        loads.iter().zip(&instance.capacity).all(|(&s, &p)| !instance.band.is_over(p, s));
    Ok(Row { name: name.to_owned(), bytes, ms, relieved })
}

pub(crate) fn print(largest: u32) -> Outcome {
    for power in (6..=largest).step_by(2) {
        let instance = shaped(Shape::ManyToMany, 16, 1 << power, 1.0, 1)?;
        let cluster = instance.cluster()?;
        let (ours, ms) = planned(&instance, &Options::default(), 5)?;
        let bound = ours.lower_bound;
        let mut rows = vec![row(&ours, "rtmr", ms)];
        let paper = |start| Anneal { start, ..Anneal::default() };
        for (name, start) in [("load first", Start::LoadFirst), ("ratio", Start::Ratio)] {
            let search = Search::Anneal(paper(start));
            let options = Options { search, ..Options::default() };
            let (plan, ms) = planned(&instance, &options, 3)?;
            rows.push(row(&plan, &format!("Algorithm 2, L_m = 2k, {name}"), ms));
        }
        let pairs = Options { groups: GroupRule::Pairwise, ..Options::default() };
        let (plan, ms) = planned(&instance, &pairs, 3)?;
        rows.push(row(&plan, "1-1 decomposition", ms));
        for (name, order) in
            [("greedy, load first", Order::LoadFirst), ("greedy, bytes first", Order::BytesFirst)]
        {
            let work = || Ok(greedy(&instance.cluster()?, instance.band, order));
            rows.push(judged(&instance, name, work)?);
        }
        for (name, steps) in
            [("annealing, 10^5 steps", 100_000), ("annealing, 10^7 steps", 10_000_000)]
        {
            let work = || Ok(annealing(&instance.cluster()?, instance.band, steps, 1));
            rows.push(judged(&instance, name, work)?);
        }
        drop(cluster);
        println!("\n### n-n, 16 nodes × 2^{power}, σ = 1\n");
        println!("| | bytes / bound | none over | CPU ms | ν at 0.1 Gbit/s | 1 | 10 |");
        println!("|---|---|---|---|---|---|---|");
        for row in rows {
            let over = row.bytes as f64 / bound;
            let relieved = if row.relieved { "yes" } else { "no" };
            print!("| {} | {over:.4} | {relieved} | {:.3} |", row.name, row.ms);
            for (_, bytes_per_second) in LINKS {
                let costs = Costs { bytes_per_second, ..Costs::default() };
                print!(" {:.4} |", row.ms / 1e3 + row.bytes as f64 / costs.bytes_per_second);
            }
            println!();
        }
    }
    Ok(())
}
