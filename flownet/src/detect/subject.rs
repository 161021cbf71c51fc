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

    /// No rate was low enough. A latency that does not fall with the rate is that of serving.
    pub(super) fn settle_below(&mut self) {
        let blocks = self.isotonic();
        let flat = match blocks.as_slice() {
            [first, second, ..] => first.latency >= 0.95 * second.latency,
            _ => false,
        };
        let least = blocks.first().map_or(0.0, |block| block.rate);
        let served = flat || self.served() > self.theta;
        self.verdict =
            Some(if served { Detected::ThetaUnreachable } else { Detected::AtMost(least) });
    }

    /// What the latency comes to at rate zero, along the line through the lowest two rates.
    fn served(&self) -> f64 {
        match self.isotonic().as_slice() {
            [first, second, ..] => {
                let slope = (second.latency - first.latency) / (second.rate - first.rate);
                first.latency - slope * first.rate
            }
            _ => 0.0,
        }
    }

    /// The rate at which the latency passes the bound, by the rising curve that fits best.
    ///
    /// Latencies count as no more than twice the bound: a queue that has no end says no more.
    pub(super) fn estimate(&self) -> f64 {
        let blocks = self.isotonic();
        let beyond = blocks.iter().position(|block| block.latency > self.theta);
        match beyond {
            None => blocks.last().map_or(self.low, |block| block.rate),
            Some(0) => blocks[0].rate,
            Some(index) => {
                let (below, above) = (&blocks[index - 1], &blocks[index]);
                let part = (self.theta - below.latency) / (above.latency - below.latency);
                below.rate + part * (above.rate - below.rate)
            }
        }
    }

    /// The isotonic regression of latency on rate, by pooling adjacent violators. O(n log n).
    fn isotonic(&self) -> Vec<Block> {
        let mut seen = self.seen.clone();
        seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut blocks: Vec<Block> = Vec::new();
        for (rate, latency) in seen {
            let mut block = Block { rate, latency: latency.min(2.0 * self.theta), count: 1.0 };
            while let Some(last) = blocks.pop_if(|last| last.latency >= block.latency) {
                block = block.and(&last);
            }
            blocks.push(block);
        }
        blocks
    }
}

/// Windows whose latencies are taken as one.
struct Block {
    rate: f64,
    latency: f64,
    count: f64,
}

impl Block {
    fn and(&self, other: &Block) -> Block {
        let count = self.count + other.count;
        let mean = |a: f64, b: f64| (a * self.count + b * other.count) / count;
        Block {
            rate: mean(self.rate, other.rate),
            latency: mean(self.latency, other.latency),
            count,
        }
    }
}
