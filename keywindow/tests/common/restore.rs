//! What must hold of a restore, whatever the bytes: for the fuzz target and the tests.
//!
//! The first byte says which windows; with its high bit set the checksum is made right first, so that what
//! is behind it is read.

#![allow(missing_docs, unreachable_pub)]

use keywindow::aggregates::{Count, FloatSum, Last, Max};
use keywindow::{Emit, EventWindow, EventWindows, Late, RestoreError, WindowSpec};

pub const LABEL: &str = "check 1";

pub type Agg = (Count<f64>, FloatSum, Last<f64>);
pub type Many = EventWindows<String, (Count<u32>, Max<u32>)>;

pub fn one() -> EventWindow<Agg> {
    let spec = WindowSpec::sliding(40, 3).unwrap_or_else(|_| unreachable!());
    let agg = (Count::new(), FloatSum, Last::new());
    let late = Late::Correct { allowed: 30 };
    EventWindow::new(agg, spec)
        .emit(Emit::ValueChange)
        .late(late)
        .unwrap_or_else(|_| unreachable!())
}

pub fn many() -> Many {
    let spec = WindowSpec::sliding(100, 10).unwrap_or_else(|_| unreachable!());
    EventWindows::new((Count::new(), Max::new()), spec)
}

/// Adds the checksum, or makes it right.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.get(..bytes.len().saturating_sub(4)).unwrap_or_default();
    let mut sealed = body.to_vec();
    sealed.extend(crc32fast::hash(body).to_le_bytes());
    sealed
}

fn check_one(bytes: &[u8]) -> Option<RestoreError> {
    let mut window = match one().restore(LABEL, bytes) {
        Ok(window) => window,
        Err(error) => return Some(error),
    };
    // What is taken is as it is written, and runs to its end.
    assert_eq!(window.snapshot(LABEL), bytes);
    let now = window.watermark();
    for apart in [-60, -35, -10, 0, 5, 50] {
        let _ = window.push(now.saturating_add(apart), &1.5, |_| ());
        window.advance_to(now.saturating_add(apart), |_| ());
    }
    window.advance_to(i64::MAX, |_| ());
    None
}

fn check_many(bytes: &[u8]) -> Option<RestoreError> {
    let mut windows = match many().restore(LABEL, bytes) {
        Ok(windows) => windows,
        Err(error) => return Some(error),
    };
    assert_eq!(windows.snapshot(LABEL), bytes);
    let now = windows.watermark();
    for (i, apart) in [-110, -50, -10, 0, 5, 50].into_iter().enumerate() {
        let key = ["a", "b", "c"][i % 3];
        let _ = windows.push(key, now.saturating_add(apart), &7, |_, _| ());
        windows.advance_to(now.saturating_add(apart), |_, _| ());
    }
    windows.advance_to(i64::MAX, |_, _| ());
    None
}

/// The error, if there was one.
pub fn check(input: &[u8]) -> Option<RestoreError> {
    let (&which, bytes) = input.split_first()?;
    let made_right = (which & 0x80 != 0).then(|| sealed(bytes));
    let bytes = made_right.as_deref().unwrap_or(bytes);
    if which & 1 == 0 { check_one(bytes) } else { check_many(bytes) }
}
