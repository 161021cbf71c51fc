//! A hash over what happens, in order: when, between whom, how much, of which roots. What is in the
//! items is not looked at, nor which tuples a batch has where nothing is tracked.

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
