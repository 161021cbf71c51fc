//! The units that a descent has still to look at, in order and from the beginning again.

/// A set of units as bits, and which words of them are not empty, so that the next unit is found
/// without a look at every unit between.
#[derive(Debug)]
pub(super) struct Waiting {
    units: Vec<u64>,
    words: Vec<u64>,
}

impl Waiting {
    /// So many units, all waiting.
    pub(super) fn all(count: usize) -> Self {
        let mut waiting = Self {
            units: vec![0; count.div_ceil(64)],
            words: vec![0; count.div_ceil(64).div_ceil(64)],
        };
        (0..count).for_each(|unit| waiting.insert(unit));
        waiting
    }

    pub(super) fn insert(&mut self, unit: usize) {
        self.units[unit / 64] |= 1 << (unit % 64);
        self.words[unit / 4096] |= 1 << (unit / 64 % 64);
    }

    /// Takes out the first unit from `from` on, or else the first of all.
    pub(super) fn take(&mut self, from: usize) -> Option<usize> {
        let unit = self.first(from).or_else(|| self.first(0))?;
        let word = &mut self.units[unit / 64];
        *word &= !(1 << (unit % 64));
        if *word == 0 {
            self.words[unit / 4096] &= !(1 << (unit / 64 % 64));
        }
        Some(unit)
    }

    fn first(&self, from: usize) -> Option<usize> {
        let here = self.units.get(from / 64)? & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(from / 64 * 64 + here.trailing_zeros() as usize);
        }
        let next = from / 64 + 1;
        let word = next / 64;
        let mut bits = self.words.get(word)? & (u64::MAX << (next % 64));
        let mut at = word;
        while bits == 0 {
            at += 1;
            bits = *self.words.get(at)?;
        }
        let word = at * 64 + bits.trailing_zeros() as usize;
        Some(word * 64 + self.units[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_gives_what_an_ordered_set_gives() {
        let mut rng = crate::rng::SplitMix64::new(1);
        for count in [0, 1, 63, 64, 65, 4_095, 4_096, 4_097, 20_000] {
            let mut waiting = Waiting::all(count);
            let mut set: BTreeSet<usize> = (0..count).collect();
            for round in 0..3 * count {
                if rng.below(4) == round as u64 % 5 {
                    let unit = rng.index(count);
                    waiting.insert(unit);
                    set.insert(unit);
                }
                let from = rng.index(count + 1);
                let next = set.range(from..).next().or_else(|| set.first()).copied();
                assert_eq!(waiting.take(from), next);
                next.map(|unit| set.remove(&unit));
            }
            while let Some(unit) = waiting.take(0) {
                assert!(set.remove(&unit));
            }
            assert!(set.is_empty());
        }
    }
}
