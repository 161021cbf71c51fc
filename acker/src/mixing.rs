//! Bit mixing shared by the id generator, the table and the ring.
//!
//! The constants are the binary fractions of π, e and the golden ratio, made odd.
//! They are frozen: ring placements on different machines must agree.

pub(crate) const PI: u64 = 0x243F_6A88_85A3_08D3;
pub(crate) const E: u64 = 0xB7E1_5162_8AED_2A6B;
pub(crate) const PHI: u64 = 0x9E37_79B9_7F4A_7C15;

/// A fixed bijection of the 64-bit words in which every input bit reaches every output bit.
///
/// Each step is invertible (a multiplication by an odd number, or a shift to the right
/// folded in), so distinct inputs have distinct outputs.
pub(crate) const fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(PHI);
    let x = (x ^ (x >> 29)).wrapping_mul(E);
    let x = (x ^ (x >> 31)).wrapping_mul(PI);
    x ^ (x >> 32)
}

/// The two halves of the 128-bit product, folded: one multiplication, not invertible.
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let wide = (a as u128) * (b as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}
