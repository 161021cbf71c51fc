//! The stable hash of keys: golden vectors, canonical forms, slots, spread, and state by full key.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use streamwright::demos::wordcount::{Count, Split, Table, Totals};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Guarantee, Key, KeyHasher, MAX_SLOT_BITS,
    Poll, Spout, SpoutEmitter, Text, Topology, hash_key, slot_of, threads,
};

/// Written by `data/key_vectors.py`, which knows the rule and not the code.
const VECTORS: &str = include_str!("data/key_vectors.tsv");

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |i| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

fn text(hex: &str) -> String {
    String::from_utf8(from_hex(hex)).unwrap()
}

fn hash_of(kind: &str, key: &str) -> u64 {
    let parts: Vec<&str> = key.split(',').collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    match kind {
        "u64" => hash_key(&number(key)),
        "i64" => hash_key(&key.parse::<i64>().unwrap()),
        "i32" => hash_key(&key.parse::<i32>().unwrap()),
        "u8" => hash_key(&key.parse::<u8>().unwrap()),
        "bool" => hash_key(&key.parse::<bool>().unwrap()),
        "char" => hash_key(&key.parse::<char>().unwrap()),
        "u128" => hash_key(&key.parse::<u128>().unwrap()),
        "i128" => hash_key(&key.parse::<i128>().unwrap()),
        "text" => hash_key(text(key).as_str()),
        "bytes" => hash_key(&from_hex(key)[..]),
        "f64" => hash_key(&f64::from_bits(u64::from_str_radix(key, 16).unwrap())),
        "f32" => hash_key(&f32::from_bits(u32::from_str_radix(key, 16).unwrap())),
        "text,text" => hash_key(&(text(parts[0]), text(parts[1]))),
        "text,u64" => hash_key(&(text(parts[0]), number(parts[1]))),
        "u64,u64,u64" => hash_key(&(number(parts[0]), number(parts[1]), number(parts[2]))),
        "option u64" => hash_key(&key.parse::<u64>().ok()),
        _ => panic!("no key is called {kind}"),
    }
}

#[test]
fn hashes_are_those_of_the_golden_vectors() {
    let rows = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let mut checked = 0;
    for row in rows {
        let [kind, key, hash] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not a row: {row:?}");
        };
        assert_eq!(format!("{:016x}", hash_of(kind, key)), hash, "{kind} {key}");
        checked += 1;
    }
    assert_eq!(checked, 83);
}

#[test]
fn each_equality_class_of_floats_has_one_hash() {
    let nans = [0x7ff8_u64 << 48, 0xfff8 << 48, 0x7ff0 << 48 | 1, 0x7ff8 << 48 | 12_345];
    let classes: [&[f64]; 8] = [
        &[0.0, -0.0],
        &nans.map(f64::from_bits),
        &[f64::INFINITY],
        &[f64::NEG_INFINITY],
        &[f64::from_bits(1)],
        &[-f64::from_bits(1)],
        &[f64::MIN_POSITIVE],
        &[1.0],
    ];
    let hashes: Vec<Vec<u64>> =
        classes.iter().map(|class| class.iter().map(hash_key).collect()).collect();
    for (i, class) in hashes.iter().enumerate() {
        assert!(class.iter().all(|&hash| hash == class[0]), "{:?}", classes[i]);
        assert!(hashes[..i].iter().all(|other| other[0] != class[0]), "{:?}", classes[i]);
    }
    // A float of half the width is the same key.
    for x in [0.0, -0.0, 1.5, f32::INFINITY, f32::NAN, f32::from_bits(1)] {
        assert_eq!(hash_key(&x), hash_key(&f64::from(x)));
    }
}

#[test]
fn composed_and_decomposed_letters_are_two_keys() {
    assert_ne!(hash_key("\u{e9}"), hash_key("e\u{301}"));
}

#[test]
fn borrowed_and_owned_keys_are_one() {
    assert_eq!(hash_key("storm"), hash_key(&String::from("storm")));
    assert_eq!(hash_key(&"storm"), hash_key("storm"));
    assert_eq!(hash_key("storm"), hash_key(&b"storm"[..]));
    assert_eq!(hash_key("storm"), hash_key(&b"storm".to_vec()));
    // A key by parts is what `fields_with` does.
    let mut by_parts = KeyHasher::default();
    by_parts.bytes(b"user");
    by_parts.word(42);
    assert_eq!(by_parts.finish(), hash_key(&("user", 42_u64)));
}

#[test]
fn a_slot_is_below_the_number_of_slots_whatever_the_hash() {
    for bits in 0..=MAX_SLOT_BITS {
        for hash in [0, 1, 1 << 63, (1 << 63) - 1, u64::MAX, u64::MAX - 1] {
            assert!(u64::from(slot_of(hash, bits)) < 1 << bits, "{hash:#x} of 2^{bits}");
        }
        assert_eq!(slot_of(0, bits), 0);
        assert_eq!(u64::from(slot_of(u64::MAX, bits)), (1_u64 << bits) - 1);
        for key in [hash_key(""), hash_key(&i64::MIN), hash_key("\u{e9}"), hash_key("e\u{301}")] {
            assert!(u64::from(slot_of(key, bits)) < 1 << bits);
        }
    }
}

proptest! {
    #[test]
    fn a_slot_of_more_bits_refines_one_of_fewer(hash: u64, bits in 0..MAX_SLOT_BITS) {
        prop_assert_eq!(slot_of(hash, bits + 1) >> 1, slot_of(hash, bits));
    }

    #[test]
    fn byte_strings_of_one_prefix_differ(head: Vec<u8>, tail in 1..20_usize) {
        // Zeros at the end count, for the length is part of the key.
        let mut longer = head.clone();
        longer.resize(head.len() + tail, 0);
        prop_assert_ne!(hash_key(&head), hash_key(&longer));
    }
}

/// Slot bits of a component of `tasks` tasks where none are configured.
fn bits_for(tasks: u32) -> u32 {
    let mut builder = Topology::builder();
    let stream = builder.spout("numbers", 1, |_| Ok(Numbers { next: 0, end: 0 }));
    builder.bolt("sink", tasks, |_| Ok(Tally)).input(stream, Grouping::whole()).done();
    builder.build(Config::default()).unwrap().plan().slot_bits(1)
}

fn task_of(hash: u64, bits: u32, tasks: u32) -> u32 {
    u32::try_from((u64::from(slot_of(hash, bits)) * u64::from(tasks)) >> bits).unwrap()
}

/// Every task gets its share within five standard deviations of a fair draw.
fn assert_spread(what: &str, hashes: impl Iterator<Item = u64> + Clone) {
    for tasks in [3, 7, 31, 64] {
        let bits = bits_for(tasks);
        let mut loads = vec![0_u32; tasks as usize];
        for hash in hashes.clone() {
            loads[task_of(hash, bits, tasks) as usize] += 1;
        }
        let keys = f64::from(loads.iter().sum::<u32>());
        let share = 1.0 / f64::from(tasks);
        let sigma = (keys * share * (1.0 - share)).sqrt();
        for (task, &load) in loads.iter().enumerate() {
            let off = (f64::from(load) - keys * share).abs() / sigma;
            assert!(off <= 5.0, "{what}: task {task} of {tasks} has {load}, {off:.1}σ off");
        }
    }
}

#[test]
fn numbers_in_a_row_spread_evenly() {
    assert_spread("0..10⁶", (0..1_000_000_u64).map(|n| hash_key(&n)));
}

#[test]
fn multiples_of_a_power_of_two_spread_evenly() {
    assert_spread("multiples of 2¹⁶", (0..1_000_000_u64).map(|n| hash_key(&(n << 16))));
    assert_spread("multiples of 2⁴⁰", (0..1_000_000_u64).map(|n| hash_key(&(n << 40))));
}

#[test]
fn strings_of_one_long_prefix_spread_evenly() {
    let keys = (0..1_000_000_u64).map(|n| hash_key(&*format!("user/europe/berlin/mitte/2024/{n}")));
    assert_spread("a prefix of 30 bytes", keys);
}

struct Numbers {
    next: u64,
    end: u64,
}

impl Spout for Numbers {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        for _ in 0..64 {
            if self.next == self.end {
                return Ok(Poll::End);
            }
            out.emit(self.next);
            self.next += 1;
        }
        Ok(Poll::More)
    }
}

struct Tally;

impl Bolt for Tally {
    type Out = ();
}

impl Execute<Vec<u64>> for Tally {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn the_router_sends_each_key_to_the_task_of_its_slot() {
    let (keys, tasks) = (100_000, 7);
    let mut config = Config::default();
    config.guarantee = Guarantee::AtMostOnce;
    config.workers = 2;
    let mut builder = Topology::builder();
    let stream = builder.spout("numbers", 1, move |_| Ok(Numbers { next: 0, end: keys }));
    builder.bolt("sink", tasks, |_| Ok(Tally)).input(stream, Grouping::whole()).done();
    let topology = builder.build(config).unwrap();
    let bits = topology.plan().slot_bits(1);
    let mut expected = vec![0; tasks as usize];
    (0..keys).for_each(|n| expected[task_of(hash_key(&n), bits, tasks) as usize] += 1);
    let report = threads::run(topology).unwrap();
    let mut executed = vec![0; tasks as usize];
    for task in report.tasks.iter().filter(|task| task.component == "sink") {
        executed[task.task as usize] = task.executed;
    }
    assert_eq!(executed, expected);
}

/// A key of a user who hashes everything to 7.
struct Seven;

impl Key for Seven {
    fn key(&self, to: &mut KeyHasher) {
        to.word(7);
    }
}

struct Lines(Vec<String>);

impl Spout for Lines {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        match self.0.pop() {
            Some(line) => out.emit(line.as_str()),
            None => return Ok(Poll::End),
        }
        Ok(Poll::More)
    }
}

#[test]
fn state_is_by_full_key_though_all_keys_hash_to_one() {
    let lines: Vec<String> = (0..1000).map(|n| format!("w{} v{}", n, n % 10)).collect();
    let mut expected = BTreeMap::new();
    for word in lines.iter().flat_map(|line| line.split(' ')) {
        *expected.entry(word.as_bytes().to_vec()).or_insert(0) += 1;
    }
    let totals: Totals = Arc::new(Mutex::default());
    let kept = Arc::clone(&totals);
    let mut builder = Topology::builder();
    let lines = builder.spout("lines", 1, move |_| Ok(Lines(lines.clone())));
    let words =
        builder.bolt("split", 2, |_| Ok(Split::default())).input(lines, Grouping::shuffle()).done();
    let counts = builder
        .bolt("count", 4, |_| Ok(Count::default()))
        .input(words, Grouping::fields(|_: &[u8]| Seven))
        .done();
    builder
        .bolt("table", 1, move |_| Ok(Table::new(Arc::clone(&kept))))
        .input(counts, Grouping::global())
        .done();
    let mut config = Config::default();
    config.workers = 2;
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    let counted: BTreeMap<Vec<u8>, u64> =
        totals.lock().unwrap().iter().map(|(word, &count)| (word.to_vec(), count)).collect();
    assert_eq!(counted, expected);
    let busy: HashMap<u32, u64> = report
        .tasks
        .iter()
        .filter(|task| task.component == "count" && task.executed > 0)
        .map(|task| (task.task, task.executed))
        .collect();
    assert_eq!(busy.into_values().collect::<Vec<_>>(), [2000]);
}
