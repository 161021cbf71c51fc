//! Which entry a key belongs to.

use std::hash::{BuildHasher, Hash, Hasher};

/// Gives each key one of 2^bits entries: always the same, on every platform.
pub trait Place<K: ?Sized> {
    /// The entry of a key, below 2^`bits`; `bits` is 1 to 31.
    fn place(&self, key: &K, bits: u32) -> u32;

    /// Eight bits that tell keys of one entry apart, mostly: they save a search within it.
    fn tag(&self, key: &K) -> u8 {
        let _ = key;
        0
    }
}

/// The paper's hash, h(k) = k mod 2^b: keys that differ only above the low bits share an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modulo;

macro_rules! modulo {
    ($($number:ty),*) => {$(
        impl Place<$number> for Modulo {
            #[inline]
            fn place(&self, key: &$number, bits: u32) -> u32 {
                *key as u32 & ((1 << bits) - 1)
            }

            #[inline]
            #[allow(clippy::cast_lossless, reason = "it is not for the widest of them")]
            fn tag(&self, key: &$number) -> u8 {
                ((*key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
            }
        }
    )*};
}

modulo!(u32, u64, u128);

/// Spreads any keys evenly: a multiplicative hash with a 128-bit product a word. It has no secret, so keys
/// chosen by an adversary can share an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mixed;

impl<K: Hash + ?Sized> Place<K> for Mixed {
    #[inline]
    fn place(&self, key: &K, bits: u32) -> u32 {
        (self.hash_one(key) >> (64 - bits)) as u32
    }

    #[inline]
    fn tag(&self, key: &K) -> u8 {
        self.hash_one(key) as u8
    }
}

impl BuildHasher for Mixed {
    type Hasher = Mixer;

    #[inline]
    fn build_hasher(&self) -> Mixer {
        Mixer(0x9E37_79B9_7F4A_7C15)
    }
}

/// The hasher of [`Mixed`]. Numbers are taken by value, so that byte order does not matter, but
/// for slices of numbers of several bytes, which the standard library hands over as memory.
#[derive(Clone, Copy, Debug)]
pub struct Mixer(u64);

/// Both halves of the product, folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ (wide >> 64) as u64
}

impl Hasher for Mixer {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_le_bytes(whole));
        }
        self.write_u64(bytes.len() as u64);
    }

    #[inline]
    fn write_u8(&mut self, i: u8) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u16(&mut self, i: u16) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u32(&mut self, i: u32) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u64(&mut self, i: u64) {
        // Where the product is with 0 the input is what remains.
        self.0 = fold(self.0 ^ i, 0xA076_1D64_78BD_642F) ^ i.rotate_left(29);
    }

    #[inline]
    fn write_u128(&mut self, i: u128) {
        self.write_u64(i as u64);
        self.write_u64((i >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }
}
