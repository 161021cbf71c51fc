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
    fn get(&mut self, key: u64) -> &Value;
}

struct Ours(Store<u64, Value>);
struct Brown(hashbrown::HashMap<u64, Value>);
struct Tree(BTreeMap<u64, Value>);

impl Map for Ours {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value).unwrap();
    }

    fn get(&mut self, key: u64) -> &Value {
        self.0.get(&key).unwrap().unwrap()
    }
}

impl Map for Brown {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value);
    }

    fn get(&mut self, key: u64) -> &Value {
        &self.0[&key]
    }
}

impl Map for Tree {
    fn put(&mut self, key: u64, value: Value) {
        self.0.insert(key, value);
    }

    fn get(&mut self, key: u64) -> &Value {
        &self.0[&key]
    }
}

const PHASES: [&str; 4] = ["put new", "put", "get", "read"];

/// Nanoseconds of a put of a new key, of one that is there, of a get that looks at one byte of the
/// value, and of one that reads all of it.
fn measure<M: Map>(mut map: M, keys: &[u64], again: &[u64]) -> [f64; PHASES.len()] {
    let each = |nanos: f64| nanos / keys.len() as f64;
    let put = timed(|| keys.iter().for_each(|&key| map.put(key, value(key))));
    let over = timed(|| again.iter().for_each(|&key| map.put(key, value(key + 1))));
    let mut sum = 0_u64;
    let get =
        timed(|| again.iter().rev().for_each(|&key| sum += u64::from(map.get(black_box(key))[7])));
    let mut all = 0_u64;
    let read = timed(|| {
        for &key in again {
            let value = map.get(black_box(key));
            all += value.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        }
    });
    let expected: u64 = again.iter().map(|&key| u64::from(value(key + 1)[7])).sum();
    assert_eq!((sum, all), (expected, 100 * expected));
    [put, over, get, read].map(each)
}

pub fn run() {
    let mut r = Random(7);
    let keys: Vec<u64> = (0..KEYS).map(scattered).collect();
    let again: Vec<u64> = (0..KEYS).map(|_| keys[(r.next() % KEYS) as usize]).collect();
    let bits = std::env::var("MEMORY_BITS").unwrap_or("18 19".to_string());
    let bits: Vec<u32> = bits.split(' ').map(|bits| bits.parse().unwrap()).collect();
    let others = ["hashbrown, growing", "hashbrown, presized", "BTreeMap"].map(str::to_string);
    let ours = bits.iter().map(|bits| format!("rtmr, 2^{bits} entries"));
    let names: Vec<String> = others.into_iter().chain(ours).collect();
    let mut seen = vec![PHASES.map(|_| Vec::new()); names.len()];
    for _ in 0..ROUNDS {
        for (at, times) in seen.iter_mut().enumerate() {
            let measured = match at {
                0 => measure(Brown(hashbrown::HashMap::new()), &keys, &again),
                1 => measure(Brown(hashbrown::HashMap::with_capacity(keys.len())), &keys, &again),
                2 => measure(Tree(BTreeMap::new()), &keys, &again),
                _ => measure(Ours(Store::new(bits[at - 3], usize::MAX).unwrap()), &keys, &again),
            };
            times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
        }
    }
    println!(
        "\nin memory, {KEYS} pairs of 8 and 100 bytes: ns, and the speed over a hashbrown map that grows (over a presized one)"
    );
    let medians: Vec<_> = seen.into_iter().map(|times| times.map(median)).collect();
    for (name, times) in names.iter().zip(&medians) {
        print!("{name:<22}");
        for (at, what) in PHASES.into_iter().enumerate() {
            let over = |base: usize| medians[base][at] / times[at];
            print!("  {what} {:>6.1} {:>5.2} ({:.2})", times[at], over(0), over(1));
        }
        println!();
    }
}
