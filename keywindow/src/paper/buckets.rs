//! A process function over buckets (section 3.2).

use alloc::collections::VecDeque;

use super::Cost;
use crate::{Aggregate, Error};

/// Adds records up in buckets of one width, and merges the last size / width of them after each
/// record.
///
/// The oldest bucket goes whole: a result lacks the records of up to width − 1 instants that are
/// less than the size old, those before [`counts_from`](Self::counts_from).
#[derive(Clone, Debug)]
pub struct Buckets<A: Aggregate> {
    agg: A,
    width: i64,
    number: i64,
    /// With the time by the width, rounded down.
    buckets: VecDeque<(i64, A::Acc)>,
    cost: Cost,
}

impl<A: Aggregate> Buckets<A> {
    /// No record; `size / width` buckets count, the newest of them so far.
    ///
    /// # Errors
    ///
    /// [`Error::BadSize`] if the size is below 1, [`Error::BadWidth`] unless the width divides it.
    pub fn new(agg: A, size: i64, width: i64) -> Result<Self, Error> {
        if size < 1 {
            return Err(Error::BadSize { size });
        }
        if width < 1 || size % width != 0 {
            return Err(Error::BadWidth { width });
        }
        Ok(Self {
            agg,
            width,
            number: size / width,
            buckets: VecDeque::new(),
            cost: Cost::default(),
        })
    }

    /// The first instant whose records count in a result at `time`; at most width − 1 after the
    /// first that is less than the size old. Saturates at `i64::MIN`.
    #[must_use]
    pub const fn counts_from(&self, time: i64) -> i64 {
        time.div_euclid(self.width).saturating_sub(self.number - 1).saturating_mul(self.width)
    }

    /// Adds a record, and returns the result of the buckets.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfOrder`] if a record of a later bucket has come already.
    pub fn push(&mut self, time: i64, record: &A::In) -> Result<A::Out, Error> {
        let bucket = time.div_euclid(self.width);
        match self.buckets.back_mut() {
            Some(&mut (last, _)) if bucket < last => {
                return Err(Error::OutOfOrder { time, now: last.saturating_mul(self.width) });
            }
            Some((last, acc)) if *last == bucket => self.agg.add(acc, record),
            _ => {
                let mut acc = self.agg.create();
                self.agg.add(&mut acc, record);
                self.buckets.push_back((bucket, acc));
                self.cost.windows += 1;
            }
        }
        self.cost.adds += 1;
        let number = self.number.unsigned_abs();
        while self.buckets.front().is_some_and(|&(old, _)| bucket.abs_diff(old) >= number) {
            self.buckets.pop_front();
        }
        let acc = self.buckets.iter().fold(self.agg.create(), |older, (_, newer)| {
            self.cost.merges += 1;
            self.agg.merge(&older, newer)
        });
        Ok(self.agg.get(&acc))
    }

    /// What was done so far.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
