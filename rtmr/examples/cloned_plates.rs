//! Cars on a grid of cameras, some with a copied plate: who is where no one car can be?
//!
//! `cargo run --release -p rtmr --example cloned_plates [sightings [budget in MiB]]`

use std::collections::BTreeSet;

use rtmr::job::Job;
use rtmr::plates::{ByPlate, CloneSearch, Roads, Traffic};
use rtmr::store::{Blocks, Folder, Modulo, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let sightings = arguments.next().transpose()?.unwrap_or(400_000);
    let budget = arguments.next().transpose()?.unwrap_or(8) << 20;

    // 100 km square, a camera each 2 km, cars of at most 180 km/h; a day's window.
    let roads = Roads::new(50, 2_000.0, 50.0)?;
    let mut traffic = Traffic::new(roads, 50_000, 400, 2_000, 42)?;
    let folder = std::env::temp_dir().join(format!("cloned-plates-{}", std::process::id()));
    let spill = Blocks::open(Folder::new(&folder)?)?;
    let store = Store::with(12, budget, spill, Modulo)?;
    let mut job = Job::new(ByPlate, CloneSearch(roads), store);

    let (mut plates, mut suspects, mut left) = (BTreeSet::new(), 0, sightings);
    while left > 0 {
        let batch: Vec<_> = traffic.by_ref().take(left.min(10_000)).collect();
        left -= batch.len();
        let earliest = batch.iter().map(|seen| seen.time).min().unwrap_or(0);
        job.feed(&batch, |&plate, _| {
            plates.insert(plate);
            suspects += 1;
        })
        .map_err(|(_, error)| error)?;
        job.advance(earliest.saturating_sub(86_400));
        let _ = job.sweep(256).map_err(|(_, error)| error)?;
    }
    job.store().checkpoint(1)?;

    let (traffic_of, used) = (job.store().traffic(), job.store().used());
    println!("{sightings} sightings, {} copies injected", traffic.injected());
    println!("{suspects} impossible pairs of {} plates", plates.len());
    println!("{used} bytes in memory of {budget}; {traffic_of:?}");
    drop(job);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
