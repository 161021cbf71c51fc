//! Cloned plates: the job over `rtmr`'s store, in memory and at a quarter of it, beside a plain
//! map of vectors that makes the same check, and drops the same window.

use rtmr::job::{Job, Timed};
use rtmr::plates::{ByPlate, CloneSearch, Roads, Sighting, Traffic};
use rtmr::store::{Blocks, Folder, Modulo, NoSpill, Place, Spill, Store};

use super::{folder, median, timed};

const CARS: u32 = 400_000;
const WARM: usize = 4_000_000;
const MEASURED: usize = 1_000_000;
const WINDOW: u64 = 86_400;

/// Sightings tested and suspects found by each.
fn plain(
    roads: Roads,
    seen: &[Sighting],
    map: &mut hashbrown::HashMap<u64, Vec<Timed<u32>>>,
) -> u64 {
    let (mut found, mut horizon) = (0, 0);
    for batch in seen.chunks(1000) {
        for new in batch {
            let list = map.entry(new.plate).or_default();
            let gone = list.partition_point(|old| old.time < horizon);
            list.drain(..gone);
            let from = new.time.saturating_sub(roads.longest());
            for old in &list[list.partition_point(|old| old.time < from)..] {
                if old.time > new.time + roads.longest() {
                    break;
                }
                found += u64::from(roads.impossible((old.value, old.time), (new.site, new.time)));
            }
            let at = list.partition_point(|old| old.time <= new.time);
            list.insert(at, Timed { time: new.time, value: new.site });
        }
        horizon =
            horizon.max(batch.iter().map(|new| new.time).min().unwrap().saturating_sub(WINDOW));
    }
    found
}

fn feed<S: Spill, P: Place<u64>>(
    job: &mut Job<ByPlate, CloneSearch, S, P>,
    seen: &[Sighting],
) -> u64 {
    let mut found = 0;
    for batch in seen.chunks(1000) {
        job.feed(batch, |_, _| found += 1).unwrap();
        job.advance(batch.iter().map(|new| new.time).min().unwrap().saturating_sub(WINDOW));
    }
    found
}

pub fn run() {
    let roads = Roads::new(50, 2_000.0, 50.0).unwrap();
    let seen: Vec<_> =
        Traffic::new(roads, CARS, 100, 2_000, 42).unwrap().take(WARM + MEASURED).collect();
    let (warm, measured) = seen.split_at(WARM);
    let mut map = hashbrown::HashMap::new();
    let before = plain(roads, warm, &mut map);
    let mut memory = Job::new(
        ByPlate,
        CloneSearch(roads),
        Store::with(18, usize::MAX, NoSpill, Modulo).unwrap(),
    );
    assert_eq!(feed(&mut memory, warm), before);
    let held = memory.store().used();
    let bits = std::env::var("BITS").map_or(18, |bits| bits.parse().unwrap());
    let path = folder("plates");
    let spill = Blocks::open(Folder::buffered(&path).unwrap()).unwrap();
    let small = Store::with(bits, held / 4, spill, Modulo).unwrap();
    let mut spilled = Job::new(ByPlate, CloneSearch(roads), small);
    assert_eq!(feed(&mut spilled, warm), before);
    println!(
        "\ncloned plates, {MEASURED} sightings after {WARM}, {CARS} cars; {held} bytes, and a budget of a quarter"
    );
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for part in measured.chunks(MEASURED / 5) {
        let mut found = [0; 3];
        times[0].push(timed(|| found[0] = plain(roads, part, &mut map)));
        times[1].push(timed(|| found[1] = feed(&mut memory, part)));
        times[2].push(timed(|| found[2] = feed(&mut spilled, part)));
        assert!(found.iter().all(|&each| each == found[0]), "{found:?}");
    }
    let each = times.map(|times| median(times) / (MEASURED / 5) as f64);
    for (name, nanos) in
        ["hashbrown of vectors", "rtmr, in memory", "rtmr, a quarter"].iter().zip(each)
    {
        println!(
            "{name:<22} {nanos:>8.1} ns  {:>9.0} records/s  {:.3}",
            1e9 / nanos,
            each[0] / nanos
        );
    }
    println!("{:?}", spilled.store().traffic());
    drop(spilled);
    std::fs::remove_dir_all(path).unwrap();
}
