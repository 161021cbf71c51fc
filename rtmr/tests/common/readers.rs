//! What must hold of the readers of bytes, whatever the bytes: for the fuzz target and the tests.
//!
//! The first byte says which reader; with its high bit set the checksums are made right first, so
//! that what is behind them is read.

use rtmr::store::{FileName, Mixed, NoSpill, Store, StoreError, inspect_block, inspect_manifest};

const BLOCK: usize = 1 << 16;

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
}

fn set(bytes: &mut [u8], at: usize, sum: u32) {
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

fn seal_block(block: &mut [u8]) {
    let mut at = 0;
    while let Some(len) = word(block, at + 24).filter(|len| at + 32 + len <= block.len()) {
        let sum = crc32c::crc32c(&block[at + 4..at + 32 + len]);
        set(block, at, sum);
        at += 32 + len;
    }
}

fn seal_manifest(bytes: &mut [u8]) {
    if bytes.len() < 64 {
        return;
    }
    let index = (bytes.len() - 64) as u64;
    bytes[48..56].copy_from_slice(&index.to_le_bytes());
    let (mut at, mut number) = (64, 0_u64);
    while let Some(len) = word(bytes, at).filter(|len| at + 8 + len <= bytes.len()) {
        let epoch = crc32c::crc32c(&bytes[24..32]);
        let seed = crc32c::crc32c_append(epoch, &number.to_le_bytes());
        let sum = crc32c::crc32c_append(seed, &bytes[at + 8..at + 8 + len]);
        set(bytes, at + 4, sum);
        (at, number) = (at + 8 + len, number + 1);
    }
    let sum = crc32c::crc32c(&bytes[..60]);
    set(bytes, 60, sum);
}

/// Runs one input; it panics if a reader does, or says what cannot be.
pub fn check(input: &[u8]) {
    let Some((&which, bytes)) = input.split_first() else { return };
    let (mut bytes, seal) = (bytes.to_vec(), which >= 0x80);
    match which % 3 {
        0 => {
            if seal {
                seal_block(&mut bytes);
            }
            let Ok(segments) = inspect_block(&bytes) else {
                assert!(bytes.len() > BLOCK);
                return;
            };
            let mut end = 0;
            for segment in segments {
                assert_eq!(segment.offset, end);
                end += 32 + segment.len;
            }
            assert!(end <= bytes.len());
        }
        1 => {
            if seal {
                seal_manifest(&mut bytes);
            }
            match inspect_manifest(&bytes) {
                Ok(found) => {
                    assert!(found.entries.is_sorted_by(|a, b| a.0 < b.0));
                    assert!(found.entries.last().is_none_or(|last| last.0 < 1 << found.bits));
                }
                Err(StoreError::Corrupt { file, .. } | StoreError::Version { file, .. }) => {
                    assert_eq!(file, FileName::Manifest);
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        _ => {
            if seal && bytes.len() >= 12 {
                let sum = crc32c::crc32c(&bytes[12..]);
                set(&mut bytes, 8, sum);
            }
            let mut store =
                Store::<u64, Vec<(u32, String)>, _, _>::with(2, 1 << 24, NoSpill, Mixed).unwrap();
            for entry in 0..4 {
                match store.import(entry, &bytes) {
                    Ok(()) => assert_eq!(store.export(entry).unwrap(), Some(bytes.clone())),
                    Err(StoreError::Entry { entry: named, .. }) => assert_eq!(named, entry),
                    Err(StoreError::OverBudget { .. }) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            assert_eq!(store.verify(), Ok(()));
        }
    }
}
