//! Where roots and virtual points lie on the ring.

use core::fmt::Write;

use crate::RootId;
use crate::mixing::{E, PI, scramble};

/// A hash function of the ring. It decides placements, so it must never change.
pub trait RingHash {
    /// The place of a root.
    fn key(&self, root: RootId) -> u32;
    /// The place of one virtual point of a member.
    fn point(&self, member: u32, index: u32) -> u32;
}

/// The default: fixed constants and 64-bit words, so that every machine agrees on every place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stable;

impl Stable {
    /// The place of a root on the ring. O(1).
    #[must_use]
    pub const fn key(root: RootId) -> u32 {
        (scramble(root.get() ^ PI) >> 32) as u32
    }

    /// The place of one virtual point of a member. O(1).
    #[must_use]
    pub const fn point(member: u32, index: u32) -> u32 {
        (scramble(((member as u64) << 32 | index as u64) ^ E) >> 32) as u32
    }
}

impl RingHash for Stable {
    #[inline]
    fn key(&self, root: RootId) -> u32 {
        Self::key(root)
    }

    fn point(&self, member: u32, index: u32) -> u32 {
        Self::point(member, index)
    }
}

/// Our reading of the paper's hash function (section 3.2): a reconstruction, not its word.
///
/// Equations (1) and (2) are lost in the text we have. What it says is that the hash starts at
/// 0, takes the characters from right to left, one step each, and ends with one more step;
/// Jenkins' one-at-a-time is the common function that does this. The characters of a point are
/// `acker_1#1`, counted from 1, those of a root are its decimal digits. Some names collide far
/// more often than chance would have it: prefer [`Stable`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PaperHash;

/// The second reading of the paper's hash function: as [`PaperHash`], from left to right.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OaatLtr;

/// One step of Jenkins' one-at-a-time.
const fn step(hash: u32, byte: u8) -> u32 {
    let hash = hash.wrapping_add(byte as u32);
    let hash = hash.wrapping_add(hash << 10);
    hash ^ hash >> 6
}

const fn finish(hash: u32) -> u32 {
    let hash = hash.wrapping_add(hash << 3);
    let hash = hash ^ hash >> 11;
    hash.wrapping_add(hash << 15)
}

impl PaperHash {
    /// The hash of some characters, the last first. O(characters).
    #[must_use]
    pub fn hash(text: &[u8]) -> u32 {
        finish(text.iter().rev().fold(0, |hash, &byte| step(hash, byte)))
    }
}

impl OaatLtr {
    /// The hash of some characters, the first first. O(characters).
    #[must_use]
    pub fn hash(text: &[u8]) -> u32 {
        finish(text.iter().fold(0, |hash, &byte| step(hash, byte)))
    }
}

impl RingHash for PaperHash {
    fn key(&self, root: RootId) -> u32 {
        Self::hash(Name::root(root).text())
    }

    fn point(&self, member: u32, index: u32) -> u32 {
        Self::hash(Name::point(member, index).text())
    }
}

impl RingHash for OaatLtr {
    fn key(&self, root: RootId) -> u32 {
        Self::hash(Name::root(root).text())
    }

    fn point(&self, member: u32, index: u32) -> u32 {
        Self::hash(Name::point(member, index).text())
    }
}

/// A short text without an allocation: `acker_4294967295#4294967296` is the longest.
struct Name {
    bytes: [u8; 32],
    len: usize,
}

impl Name {
    fn of(text: core::fmt::Arguments<'_>) -> Self {
        let mut name = Name { bytes: [0; 32], len: 0 };
        // It fits, and so cannot fail.
        let _ = name.write_fmt(text);
        name
    }

    fn root(root: RootId) -> Self {
        Self::of(format_args!("{}", root.get()))
    }

    fn point(member: u32, index: u32) -> Self {
        Self::of(format_args!("acker_{member}#{}", u64::from(index) + 1))
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(core::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_names_fit() {
        let point = Name::point(u32::MAX, u32::MAX);
        assert_eq!(point.text(), b"acker_4294967295#4294967296");
        assert_eq!(Name::root(RootId::new(u64::MAX).unwrap()).text(), b"18446744073709551615");
    }
}
