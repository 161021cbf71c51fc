//! A hash over everything that happens, in order: two runs that differ anywhere differ in it.

/// The hash so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace(u64);

impl Trace {
    /// Mixes in one word. Invertible in the word and in the state, so no information is lost.
    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z ^= z >> 32;
        self.0 = z.rotate_left(23).wrapping_add(0x2545_f491_4f6c_dd1d);
    }

    /// Mixes in several.
    #[inline]
    pub(super) fn words(&mut self, words: &[u64]) {
        for &word in words {
            self.word(word);
        }
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}
