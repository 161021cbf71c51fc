//! Snapshots from arbitrary bytes.

#![no_main]

#[path = "../../tests/common/restore.rs"]
mod restore;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    restore::check(input);
});
