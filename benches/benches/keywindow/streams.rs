//! Records at an even rate, with keys drawn evenly or by Zipf's law.

/// A record of the streams: key, time in milliseconds, and what is summed.
pub type Row = (u32, i64, i32);

pub struct Stream {
    random: u64,
    number: u64,
    /// Records a second.
    rate: u64,
    keys: u32,
    /// Cumulated weights, for Zipf's law.
    weights: Vec<f64>,
}

impl Stream {
    pub fn even(keys: u32, rate: u64) -> Self {
        Self { random: 42, number: 0, rate, keys, weights: Vec::new() }
    }

    pub fn zipf(keys: u32, exponent: f64, rate: u64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=keys).map(|rank| {
            sum += f64::from(rank).powf(-exponent);
            sum
        });
        Self { weights: weights.collect(), ..Self::even(keys, rate) }
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn take(&mut self, n: usize) -> Vec<Row> {
        (0..n)
            .map(|_| {
                let random = self.next_random();
                let rank = match self.weights.last() {
                    None => ((random >> 32) * u64::from(self.keys)) >> 32,
                    Some(sum) => {
                        let at = (random >> 11) as f64 / (1_u64 << 53) as f64 * sum;
                        self.weights.partition_point(|&weight| weight <= at) as u64
                    }
                };
                // Ranks in no order of memory.
                let key = (rank as u32).wrapping_mul(0x9e37_79b1);
                let time = (self.number * 1_000 / self.rate).cast_signed();
                self.number += 1;
                (key, time, (random & 1_023) as i32)
            })
            .collect()
    }
}
