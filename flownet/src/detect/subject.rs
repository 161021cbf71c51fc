//! All that was seen of one node or arc, and what follows from it.

use alloc::vec::Vec;

use super::Detected;

/// A node or an arc whose capacity is looked for.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    theta: f64,
    /// Rate and latency of every window in which it had something to do.
    seen: Vec<(f64, f64)>,
    /// The largest rate that was judged to be within the bound.
    pub(super) low: f64,
    /// Once it is known.
    verdict: Option<Detected>,
}

impl Subject {
    pub(super) fn new(theta: f64) -> Self {
        Subject { theta, seen: Vec::new(), low: 0.0, verdict: None }
    }

    pub(super) fn is_known(&self) -> bool {
        self.verdict.is_some()
    }

    /// Notes a sample, and tells whether it is beyond the bound.
    pub(super) fn see(&mut self, rate: f64, latency: f64) -> bool {
        if rate > 0.0 {
            self.seen.push((rate, latency));
        }
        latency > self.theta
    }

    pub(super) fn detected(&self) -> Detected {
        self.verdict.unwrap_or(Detected::AtLeast(self.low))
    }

    /// The capacity by all that was seen, once the rate of the knee is enclosed.
    pub(super) fn settle(&mut self) {
        self.verdict = Some(Detected::At(self.estimate()));
    }

    /// No rate was low enough. A latency that does not fall with the rate, or would still be beyond
    /// the bound at rate zero, along the line through the lowest two rates, is that of serving.
    pub(super) fn settle_below(&mut self) {
        let blocks = isotonic(self.seen.iter().copied());
        let served = match blocks.as_slice() {
            [first, second, ..] if second.value.is_finite() => {
                let slope = (second.value - first.value) / (second.low - first.high);
                first.value >= 0.95 * second.value || first.value - slope * first.high > self.theta
            }
            // Pooled into one: it is flat, or falls as the rate rises. A queue without end tells nothing.
            [only] => only.low < only.high && only.value.is_finite(),
            _ => false,
        };
        let least = blocks.first().map_or(0.0, |block| block.low);
        self.verdict =
            Some(if served { Detected::ThetaUnreachable } else { Detected::AtMost(least) });
    }

    /// The rate at which half of all windows are beyond the bound, by the rising curve that fits
    /// best. That of the median latency, so: single spikes and queues without end do not move it.
    fn estimate(&self) -> f64 {
        let beyond = |latency: f64| if latency > self.theta { 1.0 } else { 0.0 };
        let blocks = isotonic(self.seen.iter().map(|&(rate, latency)| (rate, beyond(latency))));
        match blocks.iter().position(|block| block.value > 0.5) {
            None => blocks.last().map_or(self.low, |block| block.high),
            Some(0) => blocks[0].low,
            Some(index) => {
                let (below, above) = (&blocks[index - 1], &blocks[index]);
                let part = (0.5 - below.value) / (above.value - below.value);
                below.high + part * (above.low - below.high)
            }
        }
    }
}

/// Windows whose values are taken as one: from the lowest to the highest rate of them.
struct Block {
    low: f64,
    high: f64,
    value: f64,
    count: f64,
}

impl Block {
    /// One of both; `other` has the higher rates.
    fn and(&self, other: &Block) -> Block {
        let count = self.count + other.count;
        let value = (self.value * self.count + other.value * other.count) / count;
        Block { low: self.low, high: other.high, value, count }
    }
}

/// The isotonic regression of values on rates, by pooling adjacent violators. O(n log n).
fn isotonic(seen: impl Iterator<Item = (f64, f64)>) -> Vec<Block> {
    let mut seen: Vec<_> = seen.collect();
    seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // What was seen at one rate is one value.
    let mut rates: Vec<Block> = Vec::new();
    for (rate, value) in seen {
        let block = Block { low: rate, high: rate, value, count: 1.0 };
        match rates.last_mut().filter(|last| last.high == rate) {
            Some(last) => *last = last.and(&block),
            None => rates.push(block),
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    for mut block in rates {
        while let Some(last) = blocks.pop_if(|last| last.value >= block.value) {
            block = last.and(&block);
        }
        blocks.push(block);
    }
    blocks
}
