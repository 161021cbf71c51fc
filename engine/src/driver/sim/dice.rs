//! Chance from a seed: SplitMix64 and integers alone, so that a draw is the same on every platform.

/// A generator of draws.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// A chance of one.
pub(super) const MILLION: u32 = 1_000_000;

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, by multiplication (Lemire 2019); 0 for `n` ≤ 1, without a draw.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        let wide = u128::from(self.next()) * u128::from(n);
        // The upper half of 128 bits fits.
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// True `ppm` times in a million; without a draw where that is never.
    pub(super) fn chance(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.below(u64::from(MILLION)) < u64::from(ppm)
    }
}

/// How many tuples pass before the next one is lost, at a fixed chance: a geometric draw.
///
/// The binary digits of a geometric variable are independent: with q the chance to pass, digit k
/// is one with probability q^(2^k) / (1 + q^(2^k)). So a table of 64-bit thresholds draws it exactly
/// to 2^-60, without a logarithm, whose last bit differs between platforms.
#[derive(Clone, Debug)]
pub(super) struct Skips {
    /// By digit, from the lowest: draws below it make a one.
    digits: Vec<u64>,
}

impl Skips {
    /// Losses of `ppm` in a million; `None` where that is none.
    pub(super) fn new(ppm: u32) -> Option<Self> {
        let pass = u128::from(MILLION.saturating_sub(ppm));
        if ppm == 0 {
            return None;
        }
        let mut digits = Vec::new();
        let mut power = (pass << 64) / u128::from(MILLION);
        while power > 0 {
            let one = (power << 63) / ((1 << 63) + (power >> 1));
            digits.push(u64::try_from(one).unwrap_or(u64::MAX));
            power = (power * power) >> 64;
        }
        Some(Skips { digits })
    }

    pub(super) fn draw(&self, dice: &mut Dice) -> usize {
        let mut skip = 0;
        for (place, &one) in self.digits.iter().enumerate() {
            skip |= usize::from(dice.next() < one) << place.min(62);
        }
        skip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_all_tuples_is_lost() {
        for ppm in [1_000, 20_000, 250_000, 900_000] {
            let skips = Skips::new(ppm).map(|skips| {
                let mut dice = Dice::new(3);
                (0..20_000).map(|_| skips.draw(&mut dice) as u64 + 1).sum::<u64>()
            });
            let tuples = skips.unwrap_or(0);
            let expected = 20_000 * 1_000_000 / u64::from(ppm);
            // Six standard deviations of the mean of 20,000 geometric draws.
            assert!(tuples.abs_diff(expected) * 22 < expected, "{tuples} for {expected} at {ppm}");
        }
    }

    #[test]
    fn none_is_lost_at_zero_and_all_at_a_million() {
        assert!(Skips::new(0).is_none());
        let all = Skips::new(MILLION).map(|skips| skips.draw(&mut Dice::new(1)));
        assert_eq!(all, Some(0));
    }

    #[test]
    fn draws_below_a_bound_stay_below_it() {
        let mut dice = Dice::new(9);
        assert!((0..1000).all(|_| dice.below(7) < 7));
        assert_eq!((dice.below(0), dice.below(1)), (0, 0));
        assert!(dice.chance(MILLION) && !dice.chance(0));
    }
}
