//! A process function over raw records (section 3.1).

use alloc::collections::VecDeque;

use super::Cost;
use crate::{Aggregate, Error};

/// Keeps every record for the size of the window, and folds them all anew after each one.
///
/// There is no slide: results come as often as records do, and none as records leave.
#[derive(Clone, Debug)]
pub struct ProcessFunction<A: Aggregate<In: Sized>> {
    agg: A,
    size: i64,
    records: VecDeque<(i64, A::In)>,
    cost: Cost,
}

impl<A: Aggregate<In: Sized>> ProcessFunction<A> {
    /// No record; those that are less than `size` old count.
    ///
    /// # Errors
    ///
    /// [`Error::BadSize`] if it is below 1.
    pub fn new(agg: A, size: i64) -> Result<Self, Error> {
        if size < 1 {
            return Err(Error::BadSize { size });
        }
        Ok(Self { agg, size, records: VecDeque::new(), cost: Cost::default() })
    }

    /// Adds a record, and returns the result of all that are younger than the size.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfOrder`] if a record at a later time has come already.
    pub fn push(&mut self, time: i64, record: A::In) -> Result<A::Out, Error> {
        if let Some(&(now, _)) = self.records.back().filter(|&&(now, _)| time < now) {
            return Err(Error::OutOfOrder { time, now });
        }
        let size = self.size.unsigned_abs();
        while self.records.front().is_some_and(|&(old, _)| time.abs_diff(old) >= size) {
            self.records.pop_front();
        }
        self.records.push_back((time, record));
        let mut acc = self.agg.create();
        for (_, record) in &self.records {
            self.agg.add(&mut acc, record);
        }
        self.cost.adds += self.records.len() as u64;
        Ok(self.agg.get(&acc))
    }

    /// What was done so far.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
