//! All in memory: a million pairs of 8 and 100 bytes. Contenders take turns within each round.

use std::collections::BTreeMap;
use std::hint::black_box;

use rtmr::store::Store;

use super::zipf::{Random, scattered};
use super::{median, timed};

const KEYS: u64 = 1_000_000;
const ROUNDS: usize = 5;
type Value = [u8; 100];

fn value(key: u64) -> Value {
    [key as u8; 100]
}

trait Map {
    fn put(&mut self, key: u64, value: Value);
    fn get(&mut self, key: u64) -> u8;
}

struct Ours(Store<u64, Value>);
struct Brown(hashbrown::HashMap<u64, Value>);
struct Tree(BTreeMap<u64, Value>);

impl Map for Ours {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value).unwrap();
    }

    fn get(&mut self, key: u64) -> u8 {
        self.0.get(&key).unwrap().unwrap()[7]
    }
}

impl Map for Brown {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value);
    }

    fn get(&mut self, key: u64) -> u8 {
        self.0[&key][7]
    }
}

impl Map for Tree {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value);
    }

    fn get(&mut self, key: u64) -> u8 {
        self.0[&key][7]
    }
}

/// Nanoseconds of a put of a new key, of one that is there, and of a get.
fn measure<M: Map>(mut map: M, keys: &[u64], again: &[u64]) -> [f64; 3] {
    let each = |nanos: f64| nanos / keys.len() as f64;
    let put = timed(|| keys.iter().for_each(|&key| map.put(key, value(key))));
    let over = timed(|| again.iter().for_each(|&key| map.put(key, value(key + 1))));
    let mut sum = 0_u64;
    let get =
        timed(|| again.iter().rev().for_each(|&key| sum += u64::from(map.get(black_box(key)))));
    let expected: u64 = again.iter().map(|&key| u64::from(value(key + 1)[7])).sum();
    assert_eq!(sum, expected);
    [each(put), each(over), each(get)]
}

pub fn run() {
    let mut r = Random(7);
    let keys: Vec<u64> = (0..KEYS).map(scattered).collect();
    let again: Vec<u64> = (0..KEYS).map(|_| keys[(r.next() % KEYS) as usize]).collect();
    let names = [
        "rtmr, 2^18 entries",
        "rtmr, 2^20 entries",
        "hashbrown",
        "hashbrown, presized",
        "BTreeMap",
    ];
    let mut seen = vec![[Vec::new(), Vec::new(), Vec::new()]; names.len()];
    for _ in 0..ROUNDS {
        for (at, times) in seen.iter_mut().enumerate() {
            let measured = match at {
                0 => measure(Ours(Store::new(18, usize::MAX).unwrap()), &keys, &again),
                1 => measure(Ours(Store::new(20, usize::MAX).unwrap()), &keys, &again),
                2 => measure(Brown(hashbrown::HashMap::new()), &keys, &again),
                3 => measure(Brown(hashbrown::HashMap::with_capacity(keys.len())), &keys, &again),
                _ => measure(Tree(BTreeMap::new()), &keys, &again),
            };
            times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
        }
    }
    println!(
        "\nin memory, {KEYS} pairs of 8 and 100 bytes: ns, and the speed over hashbrown's (over presized)"
    );
    let medians: Vec<[f64; 3]> = seen.into_iter().map(|times| times.map(median)).collect();
    for (name, times) in names.iter().zip(&medians) {
        print!("{name:<22}");
        for (at, what) in ["put new", "put", "get"].into_iter().enumerate() {
            let over = |at: usize, base: usize| medians[base][at] / times[at];
            print!("  {what} {:>6.1} {:>5.2} ({:.2})", times[at], over(at, 2), over(at, 3));
        }
        println!();
    }
}
