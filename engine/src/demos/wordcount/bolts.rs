//! The bolts of WordCount: split, count, and the table of totals.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::tokenize::words;
use crate::{Bolt, BoxError, Emitter, Execute, Tagged, Text, Watermark};

/// Splits lines into words.
#[derive(Debug, Default)]
pub struct Split {
    scratch: Vec<u8>,
}

impl Bolt for Split {
    type Out = Text;
}

impl Execute<Text> for Split {
    fn execute(&mut self, line: &[u8], out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        words(line, &mut self.scratch, |word| out.emit(word));
        Ok(())
    }
}

/// One word of a [`Count`]'s table.
#[derive(Debug)]
struct Tally {
    word: Box<[u8]>,
    count: u64,
    /// Whether it stands in the list of changed words.
    listed: bool,
}

/// Counts words by fields grouping: as an epoch closes, every word that came in it with its new
/// total. Totals only rise, so whoever keeps the greatest is right even after replays.
#[derive(Debug, Default)]
pub struct Count {
    places: HashMap<Box<[u8]>, u32>,
    tallies: Vec<Tally>,
    changed: Vec<u32>,
}

impl Bolt for Count {
    type Out = Tagged<u64>;

    fn close(
        &mut self,
        _: u64,
        _: Watermark,
        out: &mut Emitter<'_, Tagged<u64>>,
    ) -> Result<(), BoxError> {
        for at in self.changed.drain(..) {
            let tally = &mut self.tallies[at as usize];
            tally.listed = false;
            out.emit((&tally.word[..], tally.count));
        }
        Ok(())
    }
}

impl Execute<Text> for Count {
    #[inline]
    fn execute(&mut self, word: &[u8], _: &mut Emitter<'_, Tagged<u64>>) -> Result<(), BoxError> {
        self.add(word, 1)
    }
}

/// Words with counts: what a combiner made of several.
impl Execute<Tagged<u64>> for Count {
    #[inline]
    fn execute(
        &mut self,
        (word, n): (&[u8], u64),
        _: &mut Emitter<'_, Tagged<u64>>,
    ) -> Result<(), BoxError> {
        self.add(word, n)
    }
}

impl Count {
    #[inline]
    fn add(&mut self, word: &[u8], n: u64) -> Result<(), BoxError> {
        let at = if let Some(&at) = self.places.get(word) {
            at
        } else {
            let at = u32::try_from(self.tallies.len()).map_err(|_| "over 2^32 distinct words")?;
            self.places.insert(word.into(), at);
            self.tallies.push(Tally { word: word.into(), count: 0, listed: false });
            at
        };
        let tally = &mut self.tallies[at as usize];
        tally.count += n;
        if !tally.listed {
            tally.listed = true;
            self.changed.push(at);
        }
        Ok(())
    }
}

/// Totals by word, shared between the table's task and whoever asks for the result.
pub type Totals = Arc<Mutex<HashMap<Box<[u8]>, u64>>>;

/// Keeps the greatest total of each word.
#[derive(Debug)]
pub struct Table {
    totals: Totals,
}

impl Table {
    /// A table that writes to `totals`.
    #[must_use]
    pub fn new(totals: Totals) -> Self {
        Table { totals }
    }
}

impl Bolt for Table {
    type Out = ();
}

impl Execute<Tagged<u64>> for Table {
    fn execute(
        &mut self,
        (word, total): (&[u8], u64),
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        match totals.get_mut(word) {
            Some(old) => *old = (*old).max(total),
            None => {
                totals.insert(word.into(), total);
            }
        }
        Ok(())
    }
}
