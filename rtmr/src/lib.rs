#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod balance;
pub mod controller;
mod error;
pub mod forecast;
pub mod instances;
pub mod job;
pub mod measures;
pub mod model;
pub mod plates;
pub mod rivals;
mod rng;
pub mod schedule;
pub mod split;
pub mod store;

pub use error::{Error, Stage};
