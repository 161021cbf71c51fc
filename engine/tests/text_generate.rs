//! The law of the generated text and its independence of parts and platforms.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use streamwright::demos::wordcount::generate::{Generator, VOCABULARY, vocabulary};
use streamwright::demos::wordcount::tokenize::words;

fn lines(mut generator: Generator) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| generator.next_line().map(<[u8]>::to_vec)).collect()
}

fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b' ').filter(|word| !word.is_empty())
}

/// FNV-1a, for a hash that no library changes.
fn hash(lines: &[Vec<u8>]) -> u64 {
    let bytes = lines.iter().flat_map(|line| line.iter().chain(b"\n"));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn vocabulary_is_distinct_and_pronounceable() {
    let all: HashSet<_> = vocabulary().collect();
    assert_eq!((vocabulary().count(), all.len()), (VOCABULARY, VOCABULARY));
    for word in all {
        let vowels: Vec<_> = word.iter().map(|letter| b"aeiou".contains(letter)).collect();
        assert!(word.iter().all(u8::is_ascii_lowercase));
        assert!(vowels.last() == Some(&true) && vowels.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn words_follow_the_law_of_the_novel() {
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    let (mut total, mut letters) = (0, 0);
    let mut generator = Generator::new(1, 0, 1, u64::MAX);
    while total < 1_000_000 {
        for word in split(generator.next_line().unwrap()) {
            *counts.entry(word.to_vec()).or_insert(0) += 1;
            total += 1;
            letters += word.len();
        }
    }
    let mut sizes: Vec<_> = counts.values().copied().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let share = |ranks| sizes.iter().take(ranks).sum::<u64>() as f64 / f64::from(total);
    let near = |value: f64, novel: f64, tolerance: f64| {
        assert!((value - novel).abs() < tolerance, "{value} instead of {novel}");
    };
    near(share(1), 0.058, 0.002);
    near(share(10), 0.246, 0.012);
    near(share(100), 0.552, 0.005);
    near(share(1000), 0.825, 0.015);
    near(letters as f64 / f64::from(total), 4.24, 0.05);
    assert!(sizes.len() > 9_900, "a million words use nearly all of the vocabulary");
    assert_eq!(counts.iter().max_by_key(|entry| entry.1).unwrap().0, vocabulary().next().unwrap());
}

#[test]
fn lines_are_as_long_as_the_novels() {
    let lengths: Vec<_> =
        lines(Generator::new(2, 0, 1, 200_000)).iter().map(|line| split(line).count()).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    let empty = lengths.iter().filter(|&&words| words == 0).count() as f64 / lengths.len() as f64;
    assert!((mean - 8.7).abs() < 0.05, "{mean}");
    assert!((empty - 0.2228).abs() < 0.005, "{empty}");
    assert!(lengths.iter().all(|&words| words <= 18));
}

#[test]
fn a_seed_gives_the_same_text_everywhere() {
    let text = lines(Generator::new(0, 0, 1, 10_000));
    assert_eq!(hash(&text), GOLDEN, "{:#018x}", hash(&text));
    assert_ne!(hash(&lines(Generator::new(1, 0, 1, 10_000))), GOLDEN);
}

/// Computed by a second implementation of the law, in another language.
const GOLDEN: u64 = 0xcbee_b9c5_dd99_1372;

#[test]
fn the_tokenizer_finds_exactly_the_words() {
    let mut scratch = Vec::new();
    for line in lines(Generator::new(3, 0, 1, 20_000)) {
        let mut found = Vec::new();
        words(&line, &mut scratch, |word| found.push(word.to_vec()));
        assert_eq!(found, split(&line).map(<[u8]>::to_vec).collect::<Vec<_>>());
        assert!(!line.ends_with(b" "));
    }
}

#[test]
fn parts_that_are_none_have_no_lines() {
    for (part, parts, count) in [(0, 0, 9), (1, 1, 9), (7, 3, 9), (0, 1, 0), (2, 3, 2)] {
        assert_eq!(Generator::new(1, part, parts, count).next_line(), None);
    }
}

#[test]
fn replaying_a_line_does_not_move_the_generator() {
    let mut generator = Generator::new(5, 0, 1, 100);
    let first = generator.next_line().unwrap().to_vec();
    let second = generator.line(1).to_vec();
    assert_eq!(generator.line(0), first);
    assert_eq!(generator.next_line().unwrap(), second);
    generator.line(u64::MAX);
}

proptest! {
    #[test]
    fn parts_share_out_the_same_lines(seed: u64, parts in 1u32..12, count in 0u64..300) {
        let whole = lines(Generator::new(seed, 0, 1, count));
        let mut shared = vec![Vec::new(); whole.len()];
        for part in 0..parts {
            let places = (part as usize..).step_by(parts as usize);
            for (at, line) in places.zip(lines(Generator::new(seed, part, parts, count))) {
                shared[at] = line;
            }
        }
        prop_assert_eq!(shared, whole);
    }
}
