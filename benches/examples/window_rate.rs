//! Records a second of `keywindow`, for `peers/windows.py`: size and slide in milliseconds, keys,
//! records a second, records to warm up with, records to measure.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use keywindow::aggregates::Sum;
use keywindow::{KeyWindows, WindowSpec};

fn main() {
    let arguments: Vec<i64> = std::env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let &[size, slide, keys, rate, warm, measured] = arguments.as_slice() else {
        panic!("size slide keys rate warm measured");
    };
    let mut windows =
        KeyWindows::<u32, _>::new(Sum::<i32>::new(), WindowSpec::sliding(size, slide).unwrap());
    let (mut random, mut results, mut start) = (42_u64, 0_u64, Instant::now());
    // Drawn as they go, as the peers do.
    for i in 0..warm + measured {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let drawn = random.wrapping_mul(0x2545_f491_4f6c_dd1d);
        if i == warm {
            start = Instant::now();
        }
        let key = (((drawn >> 32) * keys.cast_unsigned()) >> 32) as u32;
        let value = (drawn & 1_023) as i32;
        let _ = windows.push(&key, i * 1_000 / rate, &value, |_, _| results += 1).unwrap();
    }
    println!("{} {results}", measured as f64 / start.elapsed().as_secs_f64());
}
