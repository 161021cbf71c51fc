//! The greatest records.

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::Aggregate;

/// The k greatest records, greatest first; of equal ones the older first. Equal records count apart.
///
/// A merge takes O(k).
#[derive(Clone, Copy, Debug)]
pub struct TopK<T> {
    k: usize,
    records: PhantomData<fn(T)>,
}

impl<T> TopK<T> {
    /// Keeps the `k` greatest; none, for 0.
    #[must_use]
    pub const fn new(k: usize) -> Self {
        Self { k, records: PhantomData }
    }
}

impl<T: Ord + Clone> Aggregate for TopK<T> {
    type In = T;
    type Acc = Vec<T>;
    type Out = Vec<T>;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> Vec<T> {
        Vec::new()
    }
    fn add(&self, acc: &mut Vec<T>, record: &T) {
        let place = acc.partition_point(|kept| kept >= record);
        if place < self.k {
            acc.truncate(self.k - 1);
            acc.insert(place, record.clone());
        }
    }
    fn merge(&self, older: &Vec<T>, newer: &Vec<T>) -> Vec<T> {
        let (mut older, mut newer) = (older.iter().peekable(), newer.iter().peekable());
        let next = || match (older.peek(), newer.peek()) {
            (Some(old), Some(new)) if old < new => newer.next(),
            (Some(_), _) => older.next(),
            (None, _) => newer.next(),
        };
        core::iter::from_fn(next).take(self.k).cloned().collect()
    }
    fn get(&self, acc: &Vec<T>) -> Vec<T> {
        acc.clone()
    }
    fn same(&self, a: &Vec<T>, b: &Vec<T>) -> bool {
        a == b
    }
}
