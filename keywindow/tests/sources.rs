//! The sources keep to the house.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_file_is_over_five_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for path in
        ["src", "tests", "examples"].into_iter().flat_map(|folder| files(&root.join(folder)))
    {
        // A corpus is no source.
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 500, "{}: {lines} lines", path.display());
        seen += 1;
    }
    assert!(seen > 30);
}

/// The oracle must not share code with what it checks.
#[test]
fn the_oracle_uses_no_kernel_and_no_lattice() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/oracle.rs");
    let source = fs::read_to_string(path).unwrap();
    let imports: Vec<_> = source.lines().filter(|line| line.starts_with("use crate::")).collect();
    assert_eq!(imports, ["use crate::{Aggregate, Change, Emit, WindowSpec};"]);
    for method in [".place(", ".passed(", ".enter(", ".leave(", ".ends(", ".end(", "crate::kernel"]
    {
        assert!(!source.contains(method), "{method}");
    }
}
