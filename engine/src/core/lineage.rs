//! Lineages: names of tuples that are the same at every attempt.
//!
//! A tuple's lineage is a pseudo-random function of its parent's lineage, of the stream that it
//! was emitted on and of its place among what its parent emitted there; a root's own comes from
//! the root. Where bolts are functions of the tuple alone, a replay names the same tuples alike,
//! however it travels: so a keyed bolt can tell what it has seen.

use super::{ComponentId, TaskId};

/// The finalizer of SplitMix64: a bijection in which every bit of the input stirs all others.
const fn stir(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const fn mixed(a: u64, b: u64) -> u64 {
    stir(stir(a.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ b.wrapping_mul(0xd6e8_feb8_6659_fd93))
}

/// The lineage of a root, whatever its attempt.
pub(crate) const fn of_root(root: u64) -> u64 {
    mixed(root, 0x726f_6f74)
}

/// A stream, as lineages know it.
pub(crate) const fn origin(component: ComponentId, stream: u32) -> u64 {
    stir(((component as u64) << 32 | stream as u64).wrapping_add(0x5151_5151_0f0f_0f0f))
}

/// The lineage of number `index` of what a tuple of lineage `parent` emitted on a stream.
#[inline]
pub(crate) const fn child(parent: u64, origin: u64, index: u64) -> u64 {
    mixed(parent ^ origin, index)
}

/// The lineage of item `i` of the `n` that one root keeps: its own, where it keeps one.
pub(crate) const fn item(root: u64, i: usize, n: usize) -> u64 {
    if n == 1 { root } else { mixed(root, 0x1_0000_0000 | i as u64) }
}

/// The lineage of the copy that `all` grouping sends to a task.
pub(crate) const fn copy(of: u64, task: TaskId) -> u64 {
    mixed(of, 0x2_0000_0000 | task as u64)
}

/// A number below `n` that is a function of a lineage and a salt: evenly spread.
#[inline]
pub(crate) const fn pick(lineage: u64, salt: u64, n: u64) -> u64 {
    ((mixed(lineage, salt) as u128 * n as u128) >> 64) as u64
}

/// What a bolt keeps of a tuple that came by `input`: two streams that bring one tuple are two.
#[inline]
pub(crate) const fn by_input(lineage: u64, input: u32) -> u64 {
    mixed(lineage, 0x3_0000_0000 | input as u64)
}
