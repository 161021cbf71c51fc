#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod balance;
mod error;
pub mod forecast;
pub mod instances;
pub mod model;
mod rng;
pub mod split;

pub use error::{Error, Stage};
