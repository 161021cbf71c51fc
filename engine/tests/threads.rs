//! The threads driver, row by row of the public faults that other engines had (E2 to E33).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test reports a failure by panicking"
)]

#[path = "threads/channel.rs"]
mod channel;
#[path = "threads/common.rs"]
mod common;
#[path = "threads/dedicated.rs"]
mod dedicated;
#[path = "threads/ends.rs"]
mod ends;
#[path = "threads/failure.rs"]
mod failure;
#[path = "threads/figures.rs"]
mod figures;
#[path = "threads/leaf.rs"]
mod leaf;
#[path = "threads/letters.rs"]
mod letters;
#[path = "threads/live.rs"]
mod live;
#[path = "threads/open.rs"]
mod open;
#[path = "threads/paced.rs"]
mod paced;
#[path = "threads/poison.rs"]
mod poison;
#[path = "threads/pressure.rs"]
mod pressure;
#[path = "threads/restart.rs"]
mod restart;
#[path = "threads/standstill.rs"]
mod standstill;
#[path = "threads/stop.rs"]
mod stop;
#[path = "threads/user_code.rs"]
mod user_code;
#[path = "threads/wakeups.rs"]
mod wakeups;
#[path = "threads/wordcount.rs"]
mod wordcount;
