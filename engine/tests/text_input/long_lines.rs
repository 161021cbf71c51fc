//! Lines over the limit: cut where it does no harm, the same however the input arrives.

use std::fs::File;
use std::thread;

use proptest::prelude::*;
use streamwright::demos::wordcount::input::{Limits, Polled, Source, open};
use streamwright::demos::wordcount::tokenize::count;

use super::{Scratch, drain_parts, plain, read, small, text};

#[test]
fn e39_lines_about_the_limit() {
    let scratch = Scratch::new();
    for len in [65_535, 65_536, 65_537, (1 << 20) - 1, 1 << 20] {
        for end in ["", "\n", "\r\n", "\nnext\n"] {
            let text = format!("{}{end}", "x".repeat(len));
            let (lines, stats) = read(&scratch.file(text.as_bytes()), Limits::default());
            assert_eq!((lines, stats.cut_lines), (plain(text.as_bytes()), 0));
            assert_eq!(stats.bytes, text.len() as u64);
        }
    }
    let over = format!("{}\nnext", "x".repeat((1 << 20) + 1));
    let (lines, stats) = read(&scratch.file(over.as_bytes()), Limits::default());
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [1 << 20, 1, 4]);
    assert_eq!((stats.lines, stats.cut_lines), (3, 1));
}

#[test]
fn e39_a_hundred_megabytes_without_a_line_end() {
    let scratch = Scratch::new();
    let path = scratch.0.join("sparse");
    File::create(&path).unwrap().set_len(100_000_000).unwrap();
    let mut lines = open(&Source::File(path), 1, Limits::default()).unwrap().pop().unwrap();
    let (mut bytes, mut longest) = (0, 0);
    loop {
        let polled = lines.poll(1, |line| {
            bytes += line.len();
            longest = longest.max(line.len());
        });
        match polled.unwrap() {
            Polled::Lines(_) => {}
            Polled::Idle => thread::yield_now(),
            Polled::End => break,
        }
    }
    assert_eq!((bytes, longest), (100_000_000, 1 << 20));
    assert_eq!(lines.stats().cut_lines, 1);
}

#[test]
fn e39_a_hundred_thousand_empty_lines() {
    let scratch = Scratch::new();
    let source = scratch.file(&b"\n".repeat(100_000));
    assert_eq!(
        drain_parts(&source, 7, Limits::default()).concat(),
        vec![Vec::<u8>::new(); 100_000]
    );
}

#[test]
fn e39_a_long_line_is_cut_between_words() {
    let scratch = Scratch::new();
    let cut = |text: &str, limit| {
        let (lines, stats) = read(&scratch.file(text.as_bytes()), small(limit));
        let lines: Vec<_> =
            lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
        (lines.join("|"), stats.cut_lines)
    };
    assert_eq!(cut("ab cd ef gh\nij\nkl mn op", 6), ("ab cd |ef gh|ij|kl mn |op".into(), 2));
    assert_eq!(cut("abcdefgh ij", 5), ("abcde|fgh |ij".into(), 1));
    assert_eq!(cut("ab—cd—ef", 8), ("ab—|cd—ef".into(), 1));
    assert_eq!(cut("àààà", 3), ("à|à|à|à".into(), 1));
    assert_eq!(cut("😀😀", 1), ("😀|😀".into(), 1));
    assert_eq!(cut("abcde\r\nabcde\nabcdef\r\n", 5), ("abcde|abcde|abcde|f".into(), 1));
    assert_eq!(cut("a b", 0), ("a| |b".into(), 1));
}

proptest! {
    #[test]
    fn cuts_do_not_depend_on_buffers(text in text(), limit in 0usize..90, parts in 1usize..4) {
        let scratch = Scratch::new();
        let source = scratch.file(&text);
        let (pieces, stats) = read(&source, small(limit));
        prop_assert_eq!(&read(&source, Limits { line: limit, ..Limits::default() }).0, &pieces);
        prop_assert_eq!(&drain_parts(&source, parts, small(limit)).concat(), &pieces);

        let lines = plain(&text);
        prop_assert_eq!(pieces.concat(), lines.concat());
        prop_assert!(pieces.iter().all(|piece| piece.len() <= limit.max(4)));
        let over = lines.iter().filter(|line| line.len() > limit.max(1)).count();
        prop_assert_eq!(stats.cut_lines, over as u64);
        prop_assert_eq!(stats.lines, pieces.len() as u64);
    }

    #[test]
    fn a_limit_above_every_word_changes_no_count(text in text()) {
        let scratch = Scratch::new();
        let longest = count(&text).into_keys().map(|word| word.len()).max().unwrap_or(0);
        let (pieces, _) = read(&scratch.file(&text), small(2 * longest + 8));
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        prop_assert_eq!(count(&pieces.join(&b'\n')), count(text));
    }
}
