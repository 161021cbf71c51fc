#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod carried;
mod error;
mod expiry;
pub mod handover;
mod hashers;
mod ids;
mod index;
mod message;
mod mixing;
mod moves;
mod record;
mod replay;
mod ring;
mod segment;
mod stats;
mod table;
mod tracker;
mod verdict;
pub mod verify;

pub use carried::Carried;
pub use error::Error;
pub use expiry::{Ticks, Timeout};
pub use hashers::{OaatLtr, PaperHash, RingHash, Stable};
pub use ids::{Delta, EdgeId, IdGen, RootId, Update, mix};
pub use message::{Message, Op, Refused};
pub use moves::{Arc, Move, Moves};
pub use replay::{Attempt, Next, Replay, ReplayPolicy};
pub use ring::{Active, Imbalance, Owners, Ring};
pub use stats::Stats;
pub use tracker::{Tracker, TrackerConfig};
pub use verdict::{Applied, Outcome, Verdict};
