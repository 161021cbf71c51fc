//! Chance from a seed, and the number of seeds a test runs over.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 { 0 } else { self.next() % n }
    }

    /// From `low` to `high`, both included.
    pub fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True `ppm` times in a million.
    pub fn chance(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.below(1_000_000) < u64::from(ppm)
    }
}

struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("it failed with seed {}: STREAMWRIGHT_SEED={} repeats it", self.0, self.0);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs `test` with seeds 0 up to `count` times `STREAMWRIGHT_SEEDS`, or with `STREAMWRIGHT_SEED`
/// alone.
pub fn each_seed(count: u64, mut test: impl FnMut(u64)) {
    let one = number("STREAMWRIGHT_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("STREAMWRIGHT_SEEDS").unwrap_or(1),
    };
    for seed in seeds {
        let named = Named(seed);
        test(seed);
        drop(named);
    }
}
