//! Intermediate results: a hash table of B+ trees in a number of bytes, the rest in blocks of
//! files.

mod blocks;
mod bulk;
mod codec;
mod disk;
mod error;
mod evict;
mod footprint;
mod inspect;
mod manifest;
mod open;
mod part;
mod place;
mod segment;
mod space;
mod spill;
mod table;
mod tree;
mod verify;
mod whole;

pub use blocks::Blocks;
pub use codec::Codec;
pub use disk::{Disk, FileName, Folder};
pub use error::StoreError;
pub use footprint::{Footprint, allocation};
pub use inspect::{SegmentInfo, inspect_block, inspect_manifest};
pub use place::{Mixed, Mixer, Modulo, Place};
pub use spill::{Meta, NoSpill, Restored, Spill};
pub use table::{EntryStats, Store, Traffic};
pub use whole::Fate;
