//! What a word is: one written rule, used by the spout, the counters and the checkers alike.
//!
//! A **word** is a maximal run of bytes that are not separators, lower-cased char by char.
//! A **separator** is a character, correctly encoded in UTF-8, that is one of
//!
//! | class | characters |
//! |---|---|
//! | white space | Unicode `White_Space`, so U+0085, NBSP and U+3000 too |
//! | ASCII punctuation and symbols | ``!"#$%&'()*+,-./:;<=>?@[\]^_`{\|}~`` |
//! | Latin-1 punctuation | `¡` U+00A1, `«` U+00AB, `·` U+00B7, `»` U+00BB, `¿` U+00BF |
//! | General Punctuation | U+2010–U+2027 and U+2030–U+205E: dashes, quotes, bullets, ellipsis |
//! | CJK punctuation | U+3001–U+3003, U+3008–U+3011, U+3014–U+301F, `・` U+30FB |
//! | full and half width | the forms of ASCII punctuation, and the CJK marks up to U+FF65 |
//!
//! Everything else belongs to a word: letters and digits of any script, combining marks, joiners,
//! a byte order mark inside a text, control characters such as NUL, and every byte that is not
//! part of a well-formed character. Such bytes are kept as they are, never replaced.
//!
//! Lower-casing looks at one character and nothing around it: `Σ` gives `σ` at the end of a word
//! too, `İ` gives `i` and a combining dot, and how a text was cut cannot change the result.
//! Nothing is normalised: `é` as one character and `é` as two are different words.

use std::collections::BTreeMap;

/// Calls `f` with each word of `line`, lower-cased, in order.
///
/// `scratch` holds the lower-cased bytes; hand in the same vector every time. Lower-casing makes a
/// character at most half as long again, so once its capacity is 3/2 of the longest line no call
/// allocates.
///
/// Time O(bytes). A line of ASCII alone takes the fast path: it is lower-cased in one sweep, then
/// cut along a bit mask of its separators.
///
/// ```
/// use streamwright::demos::wordcount::tokenize::words;
/// let mut found = Vec::new();
/// words("The wine-shop — À BIENTÔT!".as_bytes(), &mut Vec::new(), |w| found.push(w.to_vec()));
/// assert_eq!(found, ["the", "wine", "shop", "à", "bientôt"].map(|w| w.as_bytes().to_vec()));
/// ```
pub fn words(line: &[u8], scratch: &mut Vec<u8>, f: impl FnMut(&[u8])) {
    scratch.clear();
    if lower_ascii(line, scratch) {
        ascii_words(scratch, f);
    } else {
        scratch.clear();
        unicode_words(line, scratch, f);
    }
}

/// Whether `c` separates words, by the table at the head of this module.
#[must_use]
#[inline]
pub const fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || c.is_ascii_punctuation()
        || matches!(c,
            '\u{A1}' | '\u{AB}' | '\u{B7}' | '\u{BB}' | '\u{BF}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}'
            | '\u{30FB}'
            | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}'
            | '\u{FF5B}'..='\u{FF65}')
}

/// Counts the words of a whole text the plain way: the reference that every run is checked
/// against.
///
/// It shares the separator rule with [`words`] and nothing else. A byte order mark counts as word
/// bytes here: drop it first, as the line input does. Time O(bytes · log distinct).
#[must_use]
pub fn count(text: &[u8]) -> BTreeMap<Vec<u8>, u64> {
    let mut counts = BTreeMap::new();
    let mut word = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after, separates) = match first_char(rest) {
            Some(c) => {
                let (_, after) = rest.split_at(c.len_utf8());
                (c.to_lowercase().collect::<String>().into_bytes(), after, is_separator(c))
            }
            None => (vec![rest[0]], &rest[1..], false),
        };
        if !separates {
            word.extend(piece);
        }
        if !word.is_empty() && (separates || after.is_empty()) {
            *counts.entry(std::mem::take(&mut word)).or_insert(0) += 1;
        }
        rest = after;
    }
    counts
}

/// The character that `bytes` begins with, if it begins with a well-formed one.
#[inline]
pub(super) fn first_char(bytes: &[u8]) -> Option<char> {
    match bytes {
        [byte @ ..0x80, ..] => Some(char::from(*byte)),
        // Most bytes of other scripts continue a character; they are told apart at a glance.
        [..0xC0, ..] | [] => None,
        _ => (2..=bytes.len().min(4))
            .find_map(|len| std::str::from_utf8(&bytes[..len]).ok())
            .and_then(|text| text.chars().next()),
    }
}

/// Bytes taken at a time, as many as a mask has bits.
const BLOCK: usize = 64;

/// Appends `line` to `out`, lower-cased and padded with spaces to whole blocks, unless it is not
/// ASCII.
///
/// Lines are short: work on blocks of one fixed size has no tail to branch on, and a space after
/// the end of a line adds no word.
fn lower_ascii(line: &[u8], out: &mut Vec<u8>) -> bool {
    for bytes in line.chunks(BLOCK) {
        let mut block = [b' '; BLOCK];
        block[..bytes.len()].copy_from_slice(bytes);
        if !block.is_ascii() {
            return false;
        }
        block.make_ascii_lowercase();
        out.extend_from_slice(&block);
    }
    true
}

/// Words of lower-cased ASCII in whole blocks.
///
/// Where a word ends is hard to predict, and a wrong guess costs as much as ten bytes. So each
/// block becomes a mask of its letters without a branch. Where the mask changes, a word begins or
/// ends, in turn, and each turn of the loop takes a whole word.
fn ascii_words(text: &[u8], mut f: impl FnMut(&[u8])) {
    // Where the word began that the block before ended in.
    let mut open = None;
    let mut last_letter = 0;
    let (blocks, _) = text.as_chunks::<BLOCK>();
    for (at, block) in blocks.iter().enumerate() {
        let letters = letter_mask(block);
        let mut edges = letters ^ (letters << 1 | last_letter);
        last_letter = letters >> (BLOCK - 1);
        let mut next_edge = || {
            let edge = (edges != 0).then(|| at * BLOCK + edges.trailing_zeros() as usize);
            edges &= edges.wrapping_sub(1);
            edge
        };
        while let Some(start) = open.take().or_else(&mut next_edge) {
            let Some(end) = next_edge() else {
                open = Some(start);
                break;
            };
            f(&text[start..end]);
        }
    }
    if let Some(start) = open {
        f(&text[start..]);
    }
}

/// Bit `i` is set if byte `i` of the ASCII `block` belongs to a word.
fn letter_mask(block: &[u8; BLOCK]) -> u64 {
    // Comparisons, unlike look-ups in a table, run many bytes at a time.
    let flags = block.map(|byte| u8::from(is_ascii_letter(byte)));
    let (octets, _) = flags.as_chunks::<8>();
    octets.iter().rev().fold(0, |mask, octet| {
        // Each of the eight factors moves the flag of one byte to its own bit of the top byte.
        let bits = u64::from_le_bytes(*octet).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask << 8 | bits
    })
}

/// The complement of [`is_separator`] for ASCII, without a branch.
const fn is_ascii_letter(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | ((byte < 0x20) & (byte.wrapping_sub(b'\t') > 4))
        | (byte == 0x7F)
}

// One rule: the compiler refuses a fast path that departs from the table.
const _: () = {
    let mut byte = 0;
    while byte < 128 {
        assert!(is_ascii_letter(byte) != is_separator(byte as char));
        byte += 1;
    }
};

/// Words of any bytes.
fn unicode_words(line: &[u8], word: &mut Vec<u8>, mut f: impl FnMut(&[u8])) {
    let mut end_word = |word: &mut Vec<u8>| {
        if !word.is_empty() {
            f(word);
            word.clear();
        }
    };
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_ascii() {
                let byte = c as u8;
                if is_ascii_letter(byte) {
                    word.push(byte.to_ascii_lowercase());
                } else {
                    end_word(word);
                }
            } else if is_separator(c) {
                end_word(word);
            } else {
                for lower in c.to_lowercase() {
                    word.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        word.extend_from_slice(chunk.invalid());
    }
    end_word(word);
}
