//! The rule for words, on the inputs that made others lose or merge some.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use streamwright::demos::wordcount::tokenize::{count, is_separator, words};

fn words_of(text: impl AsRef<[u8]>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    words(text.as_ref(), &mut Vec::new(), |word| found.push(word.to_vec()));
    found
}

fn assert_words<const N: usize>(text: impl AsRef<[u8]>, expected: [&str; N]) {
    let expected: Vec<_> = expected.iter().map(|word| word.as_bytes().to_vec()).collect();
    assert_eq!(words_of(text), expected);
}

fn tally(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> BTreeMap<Vec<u8>, u64> {
    let mut counts = BTreeMap::new();
    let mut scratch = Vec::new();
    for piece in pieces {
        words(piece.as_ref(), &mut scratch, |word| *counts.entry(word.to_vec()).or_insert(0) += 1);
    }
    counts
}

#[test]
fn e37_bytes_that_are_not_text_stay_in_their_words() {
    assert_eq!(words_of(b"a \xff b"), [&b"a"[..], b"\xff", b"b"]);
    assert_eq!(words_of(b"x\0y z"), [&b"x\0y"[..], b"z"]);
    assert_words("AAàAAA", ["aaàaaa"]);
    // The bytes of NEL and of the no-break space alone, without their lead byte.
    assert_eq!(words_of(b"a\x85b\xa0c"), [b"a\x85b\xa0c"]);
    // A character broken off by the end, by a separator and by a letter.
    assert_eq!(words_of(b"A\xe2\x80 \xe2\x80A \xe2"), [&b"a\xe2\x80"[..], b"\xe2\x80a", b"\xe2"]);
}

#[test]
fn e37_every_white_space_of_unicode_separates() {
    for space in (0..=0x0010_FFFF).filter_map(char::from_u32).filter(|c| c.is_whitespace()) {
        assert_words(format!("a{space}É"), ["a", "é"]);
    }
    assert_words("a\u{A0}b\u{85}c\u{3000}d", ["a", "b", "c", "d"]);
}

#[test]
fn e37_chunk_ends_change_nothing() {
    let text = "AAàAAA – «Ça»\u{3000}İstanbul\u{A0}ΟΔΟΣ x\0y".as_bytes();
    let separates = |bytes: &[u8], at: fn(&str) -> Option<char>| {
        std::str::from_utf8(bytes).ok().and_then(at).is_some_and(is_separator)
    };
    let mut tried = 0;
    for cut in 0..=text.len() {
        let (left, right) = text.split_at(cut);
        // Where a separator stands on either side, a cut must not be seen.
        if separates(left, |text| text.chars().next_back())
            || separates(right, |text| text.chars().next())
        {
            assert_eq!(tally([left, right]), count(text), "cut at {cut}");
            tried += 1;
        }
    }
    assert!(tried >= 12, "{tried}");
}

#[test]
fn e38_lower_case_looks_at_one_character() {
    assert_words("ΟΔΟΣ ΟΔΟΣΟ", ["οδοσ", "οδοσο"]);
    assert_words("İstanbul ISTANBUL ıstanbul", ["i\u{307}stanbul", "istanbul", "ıstanbul"]);
    assert_words("ẞ ß STRASSE", ["ß", "ß", "strasse"]);
    assert_words("ȺȾ Ǆ ǅ", ["ⱥⱦ", "ǆ", "ǆ"]);
}

#[test]
fn e38_nothing_is_normalised() {
    assert_words("caf\u{e9} cafe\u{301}", ["caf\u{e9}", "cafe\u{301}"]);
    assert_words("CAF\u{c9} CAFE\u{301}", ["caf\u{e9}", "cafe\u{301}"]);
}

#[test]
fn punctuation_separates_in_every_width() {
    assert_words(
        "It's a wine-shop_door -- 'No!' (1775)",
        ["it", "s", "a", "wine", "shop", "door", "no", "1775"],
    );
    assert_words(
        "a—b–c‐d“e”f‘g’h…i•j‹k›l",
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"],
    );
    assert_words("«¡Qué!» ¿no? l·l", ["qué", "no", "l", "l"]);
    assert_words("東京、大阪。「京都」【奈良】,Ａ!b", ["東京", "大阪", "京都", "奈良", "ａ", "b"]);
}

#[test]
fn marks_and_controls_are_no_separators() {
    assert_words(
        "क्षि x\u{200D}y \u{FEFF}z \u{7f} \u{1}",
        ["क्षि", "x\u{200D}y", "\u{FEFF}z", "\u{7f}", "\u{1}"],
    );
    assert_words("", []);
    assert_words(" \t.,;\u{2014}\u{3000}", []);
}

#[test]
fn a_word_may_cross_every_block() {
    for before in 0..130 {
        for len in [0, 1, 2, 63, 64, 65, 127, 128, 129, 200] {
            let text = format!("{}{} b", " ".repeat(before), "A".repeat(len));
            let word = "a".repeat(len);
            let expected: Vec<_> =
                [word.as_str(), "b"].into_iter().filter(|w| !w.is_empty()).collect();
            assert_eq!(words_of(&text), expected.iter().map(|w| w.as_bytes()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn scratch_is_the_only_memory() {
    let line = "ȺȺȺ İİİ – the wine-shop, Saint Antoine ".repeat(20);
    let mut scratch = Vec::with_capacity(line.len() * 3 / 2 + 64);
    let before = (scratch.capacity(), scratch.as_ptr());
    for end in line.char_indices().map(|(at, _)| at) {
        words(&line.as_bytes()[..end], &mut scratch, |_| {});
    }
    words("plain text ".repeat(100).as_bytes(), &mut Vec::new(), |_| {});
    assert_eq!((scratch.capacity(), scratch.as_ptr()), before);
}

#[test]
fn lower_casing_grows_a_character_by_half_at_most() {
    for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
        let lower: usize = c.to_lowercase().map(char::len_utf8).sum();
        assert!(lower * 2 <= c.len_utf8() * 3, "{c:?}");
    }
}

/// Set `STREAMWRIGHT_TEXT` to a file to compare the two countings on a text of your own.
#[test]
fn a_text_of_your_own_counts_alike() {
    let Some(path) = std::env::var_os("STREAMWRIGHT_TEXT") else { return };
    let text = std::fs::read(path).unwrap();
    assert_eq!(tally(text.split(|&byte| byte == b'\n')), count(&text));
}

/// Bytes with a liking for what is special: separators, broken characters, odd case.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        "[a-zA-Z' ]{0,80}".prop_map(String::into_bytes),
        "\\PC{0,8}".prop_map(String::into_bytes),
        proptest::sample::select(vec![
            " ", "\n", "\0", "\u{A0}", "\u{85}", "\u{3000}", "—", "»", "İ", "Σ", "Ⱥ", "é",
            "e\u{301}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        proptest::sample::select(vec![&b"\xff"[..], b"\xe2\x80", b"\x80", b"\xc2", b"\xf0\x9f"])
            .prop_map(<[u8]>::to_vec),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn words_equal_the_plain_count(text in bytes()) {
        prop_assert_eq!(tally([&text]), count(&text));
    }

    #[test]
    fn words_do_not_depend_on_lines(text in bytes()) {
        prop_assert_eq!(tally(text.split(|&byte| byte == b'\n')), count(&text));
    }

    #[test]
    fn words_do_not_depend_on_where_a_separator_is_cut(left in bytes(), right in bytes()) {
        let whole = [&left[..], b" ", &right[..]].concat();
        prop_assert_eq!(tally([left, right]), count(&whole));
    }

    #[test]
    fn words_hold_no_separator(text in bytes()) {
        for word in words_of(&text) {
            prop_assert!(!word.is_empty());
            prop_assert!(word.utf8_chunks().all(|chunk| !chunk.valid().contains(is_separator)));
        }
    }
}
