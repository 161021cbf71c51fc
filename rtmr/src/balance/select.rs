//! The break item of a fractional cover, by weighted quickselect: O(h) on average.

use super::problem::{Item, by_ratio};

/// Where a fractional cover by ratio ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Break {
    /// Items before it, the ones of least ratio, are taken whole; it is taken in part. The number
    /// of items if all of them together are too few.
    pub(crate) at: usize,
    /// Load and bytes of those before it.
    pub(crate) load: f64,
    pub(crate) cost: f64,
    /// Items from here to there are in order, and all others on their side.
    pub(crate) sorted: (usize, usize),
}

impl Break {
    /// Bytes of the fractional cover: a lower bound for every cover.
    pub(crate) fn fractional(&self, items: &[Item], need: f64) -> f64 {
        match items.get(self.at) {
            Some(item) if need > self.load => {
                self.cost + item.cost() * ((need - self.load) / item.load)
            }
            _ => self.cost,
        }
    }
}

/// Below this many items it is as quick to sort them.
const SORTED: usize = 384;

/// Partitions `items` at the first whose load, with all of less ratio, comes to `need`.
pub(crate) fn break_item(items: &mut [Item], need: f64) -> Break {
    let (mut low, mut high) = (0, items.len());
    let (mut load, mut cost) = (0.0, 0.0);
    // A sample tells where the break is to be looked for: just before it, then just after.
    let mut side = false;
    let mut rounds = 0;
    while high - low > SORTED && rounds < 48 {
        rounds += 1;
        side = !side;
        let pivot = pivot(&items[low..high], need - load, side);
        let (middle, less, bytes) = partition(&mut items[low..high], pivot);
        if middle == 0 || middle == high - low {
            continue;
        }
        if load + less < need {
            (low, load, cost) = (low + middle, load + less, cost + bytes);
        } else {
            high = low + middle;
        }
    }
    items[low..high].sort_unstable_by(by_ratio);
    let sorted = (low, high);
    let mut at = low;
    while at < items.len() && at < high && load + items[at].load < need {
        load += items[at].load;
        cost += items[at].cost();
        at += 1;
    }
    Break { at, load, cost, sorted }
}

/// An item about where the loads come to `need`: somewhat before it or after it.
fn pivot(items: &[Item], need: f64, before: bool) -> Item {
    const SAMPLE: usize = 255;
    let step = (items.len() / SAMPLE).max(1);
    let mut sample: Vec<Item> = items.iter().step_by(step).copied().collect();
    sample.sort_unstable_by(by_ratio);
    // The sample's loads stand for all: scaled up they sum to the same.
    let scale = items.len() as f64 / sample.len() as f64;
    let mut sum = 0.0;
    let at = sample.iter().position(|item| {
        sum += item.load * scale;
        sum >= need
    });
    let at = at.unwrap_or(sample.len() - 1);
    let margin = sample.len() / 12;
    let at = if before { at.saturating_sub(margin) } else { (at + margin).min(sample.len() - 1) };
    sample[at]
}

/// Brings the items up to `pivot` to the front: their number, load and bytes.
fn partition(items: &mut [Item], pivot: Item) -> (usize, f64, f64) {
    let (mut middle, mut load, mut cost) = (0, 0.0, 0.0);
    for at in 0..items.len() {
        let item = items[at];
        // Without a branch: which side an item falls on can't be foretold.
        let less = by_ratio(&item, &pivot).is_le();
        let part = f64::from(u8::from(less));
        load += part * item.load;
        cost += part * item.cost();
        items[at] = items[middle];
        items[middle] = item;
        middle += usize::from(less);
    }
    (middle, load, cost)
}
