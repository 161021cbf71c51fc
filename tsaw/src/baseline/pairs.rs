//! The online scheduler's scheme: pairs of items by traffic, each item into one of some bins.

/// Things to place: what each weighs, and what pairs exchange, in both directions.
pub(super) struct Items {
    pub(super) load: Vec<u64>,
    pub(super) rows: Vec<Vec<(usize, i64)>>,
}

/// A place for items, with limits.
#[derive(Clone, Debug)]
pub(super) struct Bin {
    pub(super) count: u64,
    pub(super) load: u64,
    pub(super) max_count: u64,
    pub(super) max_load: u64,
}

impl Bin {
    fn accepts(&self, count: u64, load: u64) -> bool {
        self.count + count <= self.max_count && self.load + load <= self.max_load
    }
}

pub(super) struct Packing<'a> {
    items: &'a Items,
    pub(super) bins: Vec<Bin>,
    pub(super) bin: Vec<Option<usize>>,
}

impl<'a> Packing<'a> {
    pub(super) fn new(items: &'a Items, bins: Vec<Bin>) -> Self {
        Self { bin: vec![None; items.load.len()], items, bins }
    }

    /// Places all items; an item that finds no place is the error.
    pub(super) fn run(&mut self) -> Result<(), usize> {
        for (a, b) in self.pairs() {
            if self.bin[a].is_none() && self.bin[b].is_none() {
                self.place_new(a, b)?;
            } else {
                self.place_again(a, b)?;
            }
        }
        for item in 0..self.bin.len() {
            if self.bin[item].is_none() {
                let load = self.items.load[item];
                let bin = self.least(1, load).or_else(|| self.least_with_room()).ok_or(item)?;
                self.put(item, bin);
            }
        }
        Ok(())
    }

    /// Pairs by falling traffic, then by items.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(i64, usize, usize)> = Vec::new();
        for (a, row) in self.items.rows.iter().enumerate() {
            pairs.extend(row.iter().filter(|(b, _)| *b > a).map(|&(b, rate)| (-rate, a, b)));
        }
        pairs.sort_unstable();
        pairs.into_iter().map(|(_, a, b)| (a, b)).collect()
    }

    fn place_new(&mut self, a: usize, b: usize) -> Result<(), usize> {
        let (of_a, of_b) = (self.items.load[a], self.items.load[b]);
        if let Some(bin) = self.least(2, of_a + of_b) {
            self.put(a, bin);
            self.put(b, bin);
            return Ok(());
        }
        let bin = self.least(1, of_a).ok_or(a)?;
        self.put(a, bin);
        let bin = match self.bins[bin].accepts(1, of_b) {
            true => bin,
            false => self.least(1, of_b).ok_or(b)?,
        };
        self.put(b, bin);
        Ok(())
    }

    /// Tries both items in the bins of either and in the least loaded one.
    fn place_again(&mut self, a: usize, b: usize) -> Result<(), usize> {
        let (of_a, of_b) = (self.items.load[a], self.items.load[b]);
        let mut candidates: Vec<usize> = [self.bin[a], self.bin[b], self.least(1, of_a.max(of_b))]
            .into_iter()
            .flatten()
            .collect();
        candidates.dedup();
        if candidates.len() > 2 && candidates[0] == candidates[2] {
            candidates.pop();
        }
        self.remove(a);
        self.remove(b);
        let row = |item: usize| self.items.rows[item].iter();
        let between = row(a).find(|(other, _)| *other == b).map_or(0, |&(_, rate)| rate);
        let inside = |item: usize, bin: usize| -> i64 {
            row(item)
                .filter(|(other, _)| self.bin[*other] == Some(bin))
                .map(|&(_, rate)| rate)
                .sum()
        };
        let kept: Vec<(i64, i64)> =
            candidates.iter().map(|&bin| (inside(a, bin), inside(b, bin))).collect();
        let mut best: Option<(i64, usize, usize)> = None;
        for (i, &at_a) in candidates.iter().enumerate() {
            for (j, &at_b) in candidates.iter().enumerate() {
                let fits = match at_a == at_b {
                    true => self.bins[at_a].accepts(2, of_a + of_b),
                    false => self.bins[at_a].accepts(1, of_a) && self.bins[at_b].accepts(1, of_b),
                };
                let value = kept[i].0 + kept[j].1 + if at_a == at_b { between } else { 0 };
                if fits && best.is_none_or(|(most, _, _)| value > most) {
                    best = Some((value, at_a, at_b));
                }
            }
        }
        let (_, at_a, at_b) = best.ok_or(a)?;
        self.put(a, at_a);
        self.put(b, at_b);
        Ok(())
    }

    /// The first bin of strictly smallest load among those that accept.
    fn least(&self, count: u64, load: u64) -> Option<usize> {
        let accepting = (0..self.bins.len()).filter(|&bin| self.bins[bin].accepts(count, load));
        accepting.min_by_key(|&bin| self.bins[bin].load)
    }

    /// Where the load fits nowhere: the least loaded bin that may hold one item more.
    fn least_with_room(&self) -> Option<usize> {
        let open = (0..self.bins.len()).filter(|&bin| self.bins[bin].accepts(1, 0));
        let open = open.min_by_key(|&bin| self.bins[bin].load);
        let full =
            || (0..self.bins.len()).filter(|&bin| self.bins[bin].count < self.bins[bin].max_count);
        open.or_else(|| full().min_by_key(|&bin| self.bins[bin].load))
    }

    fn put(&mut self, item: usize, bin: usize) {
        self.bins[bin].count += 1;
        self.bins[bin].load += self.items.load[item];
        self.bin[item] = Some(bin);
    }

    fn remove(&mut self, item: usize) {
        if let Some(bin) = self.bin[item].take() {
            self.bins[bin].count -= 1;
            self.bins[bin].load -= self.items.load[item];
        }
    }

    /// Fills empty bins, until `used` are in use: each gets the item that keeps least traffic in
    /// its bin, from those with several, whatever it weighs.
    pub(super) fn fill_empty(&mut self, used: usize) {
        for empty in 0..self.bins.len() {
            let in_use = self.bins.iter().filter(|bin| bin.count > 0).count();
            if in_use >= used || self.bins[empty].count > 0 || self.bins[empty].max_count == 0 {
                continue;
            }
            let kept = |item: usize| -> i64 {
                let row = self.items.rows[item].iter();
                let same = row.filter(|(other, _)| self.bin[*other] == self.bin[item]);
                same.map(|&(_, rate)| rate).sum()
            };
            let crowded =
                |item: &usize| self.bin[*item].is_some_and(|bin| self.bins[bin].count > 1);
            let Some(item) = (0..self.bin.len()).filter(crowded).min_by_key(|&item| kept(item))
            else {
                return;
            };
            self.remove(item);
            self.put(item, empty);
        }
    }
}
