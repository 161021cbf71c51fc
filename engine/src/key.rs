//! The stable hash behind fields grouping: key → slot, the same on every platform and release.
//!
//! A 64-bit multiply-and-fold over canonical bytes (little-endian words, length last). Golden
//! vectors are in `tests/key.rs`. It is not keyed: it spreads keys, it does not resist an attacker.

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP: u64 = 0xd6e8_feb8_6659_fd93;
const LAST: u64 = 0xff51_afd7_ed55_8ccd;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    #[allow(clippy::cast_possible_truncation)]
    let (low, high) = (wide as u64, (wide >> 64) as u64);
    low ^ high
}

/// Fewer than eight bytes as a little-endian word: by two loads that may overlap, as a loop a byte
/// would end at another place with every key.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    let shift = |half: usize| 8 * (bytes.len() - half);
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << shift(4)
    } else if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u16::from_le_bytes(first)) | u64::from(u16::from_le_bytes(last)) << shift(2)
    } else {
        bytes.first().map_or(0, |&byte| u64::from(byte))
    }
}

/// Collects the parts of one key.
#[derive(Clone, Debug)]
pub struct KeyHasher {
    state: u64,
}

impl Default for KeyHasher {
    fn default() -> Self {
        KeyHasher { state: SEED }
    }
}

impl KeyHasher {
    /// Adds one 64-bit word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.state = fold(self.state ^ word, STEP).wrapping_add(SEED);
    }

    /// Adds a byte string; its length is part of the key, so `("ab", "c")` is not `("a", "bc")`.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        let word = short(chunks.remainder());
        // The tail and the length share a step: lengths below 2^56 never touch the tail's bytes.
        self.state = fold(self.state ^ word, STEP ^ ((bytes.len() as u64) << 1)).wrapping_add(SEED);
    }

    /// The hash of all parts so far.
    #[must_use]
    #[inline]
    pub fn finish(&self) -> u64 {
        let mixed = fold(self.state ^ LAST, STEP);
        mixed ^ (mixed >> 29)
    }
}

/// A value that streams can be grouped by. Equal values have equal hashes; `-0.0` is `0.0` and all
/// NaNs are one key. Unicode is not normalised: `é` composed and decomposed are two keys.
pub trait Key {
    /// Adds the value to a key.
    fn key(&self, to: &mut KeyHasher);
}

/// The stable hash of one key.
///
/// ```
/// use streamwright::hash_key;
/// assert_eq!(hash_key(&0.0_f64), hash_key(&-0.0_f64));
/// assert_ne!(hash_key("a"), hash_key("b"));
/// ```
pub fn hash_key<K: Key + ?Sized>(key: &K) -> u64 {
    let mut hasher = KeyHasher::default();
    key.key(&mut hasher);
    hasher.finish()
}

macro_rules! integer_keys {
    ($($t:ty),*) => {$(
        impl Key for $t {
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless)]
            fn key(&self, to: &mut KeyHasher) {
                to.word(*self as u64);
            }
        }
    )*};
}
integer_keys!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, bool, char);

impl Key for u128 {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(&self.to_le_bytes());
    }
}

impl Key for i128 {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(&self.to_le_bytes());
    }
}

impl Key for f64 {
    fn key(&self, to: &mut KeyHasher) {
        // One canonical form per equality class; all NaNs meet in one.
        let canonical = if self.is_nan() {
            0x7ff8_0000_0000_0000
        } else if *self == 0.0 {
            0
        } else {
            self.to_bits()
        };
        to.word(canonical);
    }
}

impl Key for f32 {
    fn key(&self, to: &mut KeyHasher) {
        f64::from(*self).key(to);
    }
}

impl Key for [u8] {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(self);
    }
}

impl Key for str {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(self.as_bytes());
    }
}

impl Key for String {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(self.as_bytes());
    }
}

impl Key for Vec<u8> {
    fn key(&self, to: &mut KeyHasher) {
        to.bytes(self);
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn key(&self, to: &mut KeyHasher) {
        (**self).key(to);
    }
}

impl<K: Key> Key for Option<K> {
    fn key(&self, to: &mut KeyHasher) {
        to.word(u64::from(self.is_some()));
        if let Some(key) = self {
            key.key(to);
        }
    }
}

macro_rules! tuple_keys {
    ($($name:ident)+) => {
        impl<$($name: Key),+> Key for ($($name,)+) {
            #[allow(non_snake_case)]
            fn key(&self, to: &mut KeyHasher) {
                let ($($name,)+) = self;
                $($name.key(to);)+
            }
        }
    };
}
tuple_keys!(A);
tuple_keys!(A B);
tuple_keys!(A B C);
tuple_keys!(A B C D);

/// The slot of a hash among `2^bits` slots: its top bits, so a slot is below `2^bits` whatever the
/// hash, and `bits = 0` is one slot.
#[must_use]
#[inline]
pub fn slot_of(hash: u64, bits: u32) -> u32 {
    #[allow(clippy::cast_possible_truncation)]
    let slot = hash.checked_shr(64 - bits.min(32)).unwrap_or(0) as u32;
    slot
}
