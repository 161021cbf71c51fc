//! Sixteen nodes, four of them overloaded: a plan, its certificate, and its steps.

use std::error::Error;

use rtmr::balance::{Costs, Options, plan, verify};
use rtmr::instances::{Shape, shaped};
use rtmr::measures::measure;
use rtmr::schedule::{Migration, schedule};

fn main() -> Result<(), Box<dyn Error>> {
    let instance = shaped(Shape::OneToMany, 16, 1 << 12, 1.0, 1)?;
    let cluster = instance.cluster()?;
    let plan = plan(&cluster, instance.band, &Options::default())?;
    let report = verify(&cluster, instance.band, &plan)?;
    println!("{:?} by {} moves in {} groups", plan.outcome, plan.moves.len(), plan.groups.len());
    println!("{} bytes, {:.4} % over the bound", report.bytes, 100.0 * report.gap);
    let measures = measure(&cluster, instance.band, &plan, &Costs::default());
    println!("B = {:.3}, ν = {:.3} s", measures.balance, measures.reaction);
    let steps = schedule(&plan.moves, Migration::Batched);
    println!("{} batches of at most {} moves", steps.len(), steps.first().map_or(0, Vec::len));
    Ok(())
}
