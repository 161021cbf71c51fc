//! The `streamwright` binary, run as a user or a script would run it.
//!
//! Tests named `eNN_…` are the rows of the list of public faults that the command line can meet.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "what a test relies on fails the test")]

mod counts;
mod faults;
mod input;
mod json;
mod paced;
mod pipes;
mod signals;
mod sim;
mod support;
mod terminal;
