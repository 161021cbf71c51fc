//! Where entries go that memory does not hold.

use super::error::StoreError;

/// What a checkpoint keeps of an entry beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Meta {
    /// What it takes in memory.
    pub bytes: u64,
    /// How many keys it has.
    pub keys: u32,
    /// How many changes it has seen.
    pub load: u64,
}

/// What a spill held at its last checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The epoch given to that checkpoint.
    pub epoch: u64,
    /// The store had 2^bits entries.
    pub bits: u32,
    /// The entries that it holds, ascending.
    pub entries: Vec<(u32, Meta)>,
    /// Blocks that were written after that checkpoint, and are given up.
    pub later_blocks: u64,
}

/// Keeps the bytes of whole entries: each as it was last written.
///
/// An error of `write` or `commit` leaves everything as it was, and the call can be repeated.
pub trait Spill {
    /// Whether anything can be kept at all.
    const KEEPS: bool = true;

    /// Gives the last checkpoint to the store that takes this over: once, `None` if there is none.
    fn restored(&mut self) -> Option<Restored>;

    /// Keeps `bytes` as those of the entry, in place of earlier ones.
    ///
    /// # Errors
    /// When they cannot be written.
    fn write(&mut self, entry: u32, bytes: &[u8]) -> Result<(), StoreError>;

    /// Puts the bytes of an entry into `into`, whose content is lost; false if it holds none.
    ///
    /// # Errors
    /// When they cannot be read, or are not what was written.
    fn read(&mut self, entry: u32, into: &mut Vec<u8>) -> Result<bool, StoreError>;

    /// Forgets an entry. A checkpoint that holds it still does so.
    fn remove(&mut self, entry: u32);

    /// Does a bounded part of what keeps the space in order, in `scratch`, whose content is lost.
    ///
    /// # Errors
    /// When something cannot be read or written; nothing is lost by it.
    fn tidy(&mut self, scratch: &mut Vec<u8>) -> Result<(), StoreError> {
        scratch.clear();
        Ok(())
    }

    /// Makes all that was written the checkpoint `epoch` of a store of 2^`bits` entries: either
    /// the whole of it is there afterwards, or, with an error or a crash, the one before.
    ///
    /// # Errors
    /// When something cannot be written or made durable.
    fn commit(
        &mut self,
        epoch: u64,
        bits: u32,
        meta: &dyn Fn(u32) -> Meta,
    ) -> Result<(), StoreError>;

    /// What it holds in memory, in bytes, for a store of 2^`bits` entries. O(1).
    fn footprint(&self, bits: u32) -> usize;
}

/// Keeps nothing: a store in memory alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoSpill;

impl Spill for NoSpill {
    const KEEPS: bool = false;

    fn restored(&mut self) -> Option<Restored> {
        None
    }

    fn write(&mut self, _: u32, bytes: &[u8]) -> Result<(), StoreError> {
        Err(StoreError::OverBudget { need: bytes.len() })
    }

    fn read(&mut self, _: u32, _: &mut Vec<u8>) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn remove(&mut self, _: u32) {}

    /// Refused: nothing is kept.
    fn commit(&mut self, _: u64, _: u32, _: &dyn Fn(u32) -> Meta) -> Result<(), StoreError> {
        Err(StoreError::OverBudget { need: 0 })
    }

    fn footprint(&self, _: u32) -> usize {
        0
    }
}
