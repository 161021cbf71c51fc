//! The layers of the library, checked in its source text.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

fn source(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(of)
}

/// Every Rust file below `folder`, with its text.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found.sort();
    found
}

/// The text without its comments, line for line.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The paths that `use` declarations of `text` bring in, braces spelt out, with their lines.
fn imports(text: &str) -> Vec<(usize, String)> {
    let text = code(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("use ").map(|at| at + from) {
        from = at + 4;
        let starts = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == ')');
        let Some(end) = text[from..].find(';').filter(|_| starts) else { continue };
        let line = text[..at].lines().count().max(1) + usize::from(text[..at].ends_with('\n'));
        let tree: String = text[from..from + end].split_whitespace().collect::<Vec<_>>().join(" ");
        spell_out("", &tree, &mut |path| found.push((line, path)));
    }
    found
}

fn spell_out(before: &str, tree: &str, found: &mut dyn FnMut(String)) {
    let Some((head, rest)) = tree.split_once('{') else {
        found(format!("{before}{}", tree.trim()));
        return;
    };
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let before = format!("{before}{}", head.trim());
    let (mut depth, mut start) = (0, 0);
    for (i, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..i].trim();
                if !part.is_empty() {
                    spell_out(&before, part, found);
                }
                start = i + 1;
            }
            _ => {}
        }
    }
}

/// Whether `path` is or is below `module`.
fn within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}

/// Every place below `folder` that names one of `modules`, by `use` or in full.
fn trespasses(folder: &Path, modules: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files(folder) {
        let path = path.display();
        for (line, import) in imports(&text) {
            if modules.iter().any(|module| within(&import, module)) {
                found.push(format!("{path}:{line}: use {import}"));
            }
        }
        for (line, text) in code(&text).lines().enumerate() {
            for module in modules {
                if text.contains(&format!("{module}::")) && !text.trim_start().starts_with("use ") {
                    found.push(format!("{path}:{}: {}", line + 1, text.trim()));
                }
            }
        }
    }
    found
}

#[test]
fn the_core_touches_no_thread_clock_file_or_socket() {
    let outside = ["std::thread", "std::time", "std::fs", "std::net", "std::io", "std::process"];
    // A duration is no clock; `core::time` has it.
    assert_eq!(trespasses(&source("core"), &outside), [""; 0]);
    for clock in ["Instant", "SystemTime", "cpu_time", "println!", "eprintln!", "dbg!"] {
        for (path, text) in files(&source("core")) {
            let text = code(&text);
            let line = text.lines().position(|line| line.contains(clock));
            assert_eq!(line, None, "{}: {clock}", path.display());
        }
    }
}

#[test]
fn the_core_knows_no_driver_and_no_demo() {
    let above = ["crate::driver", "crate::demos", "crate::threads", "crate::cli"];
    assert_eq!(trespasses(&source("core"), &above), [""; 0]);
    assert_eq!(trespasses(&source("topology"), &above), [""; 0]);
}

#[test]
fn demos_and_operators_use_the_public_face_only() {
    let inside = [
        "crate::core",
        "crate::driver",
        "crate::batch",
        "crate::component",
        "crate::combine",
        "crate::config",
        "crate::emitter",
        "crate::grouping",
        "crate::key",
        "crate::report",
        "crate::text",
        "crate::ticket",
        "crate::topology",
    ];
    assert_eq!(trespasses(&source("demos"), &inside), [""; 0]);
    assert_eq!(trespasses(&source("ops"), &inside), [""; 0]);
}

#[test]
fn the_library_forbids_unsafe_code() {
    let root = code(&fs::read_to_string(source("lib.rs")).unwrap());
    assert!(root.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]"));
}

#[test]
fn no_file_is_over_five_hundred_lines() {
    for folder in ["../src", "../tests"] {
        for (path, text) in files(&source(folder)) {
            assert!(
                text.lines().count() <= 500,
                "{}: {} lines",
                path.display(),
                text.lines().count()
            );
        }
    }
}

#[test]
fn the_check_sees_every_form_of_an_import() {
    let forms = [
        "use std::thread;",
        "pub(crate) use std::{sync::Arc, thread as t};",
        "use std::{\n    fmt,\n    thread::{self, JoinHandle},\n};",
        "fn f() { std::thread::yield_now() }",
    ];
    let scratch = std::env::temp_dir().join(format!("layering-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    for form in forms {
        fs::write(scratch.join("one.rs"), format!("// std::thread::no\n{form}\n")).unwrap();
        let found = trespasses(&scratch, &["std::thread"]);
        assert!(!found.is_empty() && found[0].contains("one.rs:2"), "{form}: {found:?}");
    }
    fs::write(scratch.join("one.rs"), "use std::threading; // use std::thread;\n").unwrap();
    assert_eq!(trespasses(&scratch, &["std::thread"]), [""; 0]);
    fs::remove_dir_all(&scratch).unwrap();
}
