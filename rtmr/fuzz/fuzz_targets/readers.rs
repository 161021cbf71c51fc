//! Blocks, manifests and exported entries from arbitrary bytes.

#![no_main]

#[path = "../../tests/common/readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|input: &[u8]| readers::check(input));
