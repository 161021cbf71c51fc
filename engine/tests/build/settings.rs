//! What a `Config` prints: every field, one a line, and which values are the defaults.

use std::time::Duration;

use streamwright::{Config, EpochEnd, Exhausted, Guarantee};

#[test]
fn every_field_has_a_line_of_its_own_in_the_order_of_declaration() {
    let source = include_str!("../../src/config.rs");
    let body = source.split("pub struct Config {").nth(1).unwrap().split("\n}").next().unwrap();
    let field = |line: &str| Some(line.trim().strip_prefix("pub ")?.split(':').next()?.to_owned());
    let fields: Vec<String> = body.lines().filter_map(field).collect();
    let text = Config::default().to_string();
    let shown: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(fields.len() > 20, "{fields:?}");
    assert_eq!(shown, fields);
    assert!(text.lines().all(|line| line.ends_with("(default)")), "{text}");
}

#[test]
fn what_was_changed_is_not_called_a_default() {
    let mut config = Config::default();
    config.workers = 3;
    config.acker_changes = vec![(5, 2), (9, 1)];
    config.guarantee = Guarantee::ExactlyOnce;
    config.epoch = EpochEnd::Records(77);
    config.timeout = Duration::from_millis(1500);
    config.exhausted = Exhausted::Skip;
    config.slot_bits = Some(5);
    config.max_pending_bytes = 9;
    let text = config.to_string();
    let changed: Vec<&str> = text.lines().filter(|line| !line.ends_with("(default)")).collect();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let changed: Vec<String> = changed.into_iter().map(words).collect();
    assert_eq!(
        changed,
        [
            "workers 3 threads",
            "acker_changes 2 from epoch 5, 1 from epoch 9",
            "guarantee exactly once",
            "epoch every 77 records",
            "max_pending_bytes 9 bytes",
            "timeout 1.5s",
            "exhausted skip",
            "slot_bits 5",
        ]
    );
}
