//! The JSON report: strict in every case, and of one documented shape.

use std::fmt::Write;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{run, start, wordcount};

#[test]
fn e43_json_is_strict_in_every_case() {
    for args in [
        "--lines 0",
        "--lines 1",
        "--lines 0 --guarantee at-most-once",
        "--lines 1 --guarantee at-most-once",
        "--lines 0 --top 0",
        "--lines 10 --drop 1000000 --guarantee at-most-once",
        "--input /dev/null",
    ] {
        let report = run(&mut wordcount(&format!("{args} --json"))).json(0);
        assert_eq!(report["schema"], "streamwright.run/1", "{args}");
        assert_eq!(report["complete"], true, "{args}");
    }
    let nothing = run(&mut wordcount("--lines 0 --json")).json(0);
    assert_eq!(nothing["latency_us"], Value::Null);
    assert_eq!(nothing["input"]["bytes"], Value::Null);
    assert_eq!((&nothing["lines"], &nothing["words"]), (&0.into(), &0.into()));
    let one = run(&mut wordcount("--lines 1 --json")).json(0);
    assert_eq!(one["latency_us"]["p50"], one["latency_us"]["p50"]);
    assert_eq!(one["tracking"]["acked"], 1);
}

#[test]
fn e43_a_run_cancelled_at_its_very_start_is_strict_json_too() {
    for millis in [5, 10, 20, 40] {
        let child = start(&mut wordcount("--lines 1000000000 --json"));
        std::thread::sleep(std::time::Duration::from_millis(millis));
        child.send(Signal::TERM);
        let ended = child.wait();
        if ended.status.code().is_some() {
            assert_eq!(ended.json(143)["complete"], false);
        }
    }
}

/// `path: type`, a line each; elements of a list have one shape.
fn shape(path: &str, value: &Value, to: &mut String) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    let _ = writeln!(to, "{path}: {kind}");
    match value {
        Value::Array(all) => {
            if let Some(first) = all.first() {
                shape(&format!("{path}[]"), first, to);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                shape(&format!("{path}.{name}"), field, to);
            }
        }
        _ => {}
    }
}

/// The golden shape. A field that is added is added there; one that is changed or taken away asks
/// for a new version of the schema.
#[cfg(target_os = "linux")]
#[test]
fn the_shape_of_the_report_is_the_golden_one() {
    let mut shapes = String::new();
    for (title, code, args) in [
        ("a run of made-up lines", 0, "--lines 50"),
        ("nothing tracked", 0, "--lines 50 --guarantee at-most-once"),
        ("dead letters", 1, "--lines 1 --drop 1000000 --attempts 1 --timeout 30ms --linger 1ms"),
        ("no lines", 0, "--lines 0"),
        ("a file", 0, "--input Cargo.toml"),
        ("a simulated run", 0, "--lines 50 --driver sim --cluster clusters/faulty.toml"),
        ("a paced run", 0, "--lines 50 --rate 10k"),
        ("an input that breaks off", 3, "--input /proc/self/mem"),
    ] {
        let report = run(&mut wordcount(&format!("{args} --json"))).json(code);
        let _ = writeln!(shapes, "# {title}: run wordcount {args} --json");
        shape("$", &report, &mut shapes);
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/run.shape.txt");
    if std::env::var_os("STREAMWRIGHT_BLESS").is_some() {
        std::fs::write(golden, &shapes).expect("the golden file");
    }
    let expected = std::fs::read_to_string(golden).expect("the golden file");
    assert!(shapes == expected, "the shape has changed; STREAMWRIGHT_BLESS=1 accepts:\n{shapes}");
}
