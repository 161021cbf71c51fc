//! What takes the records of a stream.

use hashbrown::HashMap;
use keywindow::aggregates::Sum;
use keywindow::kernel::{Daba, Few, Kernel, SubtractOnEvict};
use keywindow::{KeyWindows, WindowSpec};

use crate::streams::Row;

/// What was told: how many results, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub results: u64,
    pub sum: i64,
}

impl Told {
    pub fn add(&mut self, value: i64) {
        self.results += 1;
        self.sum = self.sum.wrapping_add(value);
    }
}

pub trait Contender {
    fn push(&mut self, rows: &[Row]);
    fn told(&self) -> Told;
    /// Bytes on the heap, keys and slices, where it knows.
    fn memory(&self) -> Option<(usize, usize, usize)> {
        None
    }
}

pub type TwoStacksOfFew = Few<i64, ()>;
pub type DabaOfFew = Few<i64, (), Daba<i64, ()>>;
pub type SubtractOfFew = Few<i64, (), SubtractOnEvict<i64, ()>>;

pub struct Ours<Q> {
    windows: KeyWindows<u32, Sum<i32>, Q>,
    told: Told,
    /// Rows a batch, or one by one.
    batch: Option<usize>,
}

pub fn ours<Q: Kernel<Sum<i32>> + 'static>(
    spec: WindowSpec,
    batch: Option<usize>,
) -> Box<dyn Contender> {
    let windows = KeyWindows::with_kernel(Sum::<i32>::new(), spec);
    Box::new(Ours::<Q> { windows, told: Told::default(), batch })
}

impl<Q: Kernel<Sum<i32>>> Contender for Ours<Q> {
    fn push(&mut self, rows: &[Row]) {
        let told = &mut self.told;
        let mut sink = |_: &u32, change: keywindow::Change<Result<i32, _>>| {
            told.add(change.value.map_or(0, |sum| i64::from(sum.unwrap())));
        };
        if let Some(batch) = self.batch {
            for rows in rows.chunks(batch) {
                let outcome = self.windows.push_batch(rows, &mut sink);
                assert_eq!(outcome.accepted, rows.len());
            }
            return;
        }
        for (key, time, x) in rows {
            let _ = self.windows.push(key, *time, x, &mut sink).unwrap();
        }
    }

    fn told(&self) -> Told {
        self.told
    }

    fn memory(&self) -> Option<(usize, usize, usize)> {
        let stats = self.windows.stats();
        Some((stats.heap_bytes, stats.keys, stats.slices))
    }
}

/// The floor: one running sum a key that never leaves.
#[derive(Default)]
pub struct Floor(HashMap<u32, i64>);

impl Contender for Floor {
    fn push(&mut self, rows: &[Row]) {
        for &(key, _, x) in rows {
            *self.0.entry(key).or_insert(0) += i64::from(x);
        }
    }

    fn told(&self) -> Told {
        Told::default()
    }
}
