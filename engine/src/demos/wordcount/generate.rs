//! A text without a file: seeded lines with the word law of an English novel.
//!
//! The law is that of *A Tale of Two Cities*, the text of the classic WordCount measurements, a
//! word there being a run of Latin letters:
//!
//! | | novel | law |
//! |---|---|---|
//! | distinct words | 9,942 | 9,942 in the vocabulary |
//! | share of the top word | 5.8 % | 5.8 % |
//! | share of the top 10, 100, 1000 | 24.6, 55.2, 82.5 % | 25.5, 55.2, 83.8 % |
//! | letters in a word | 4.24 | 4.26 |
//! | words in a line | 8.7 | 8.7 |
//! | lines without a word | 22.3 % | 22.3 % |
//!
//! The word of rank `r` has weight `1 / ((r + 1.4) (r + 3200))`: Zipf–Mandelbrot of exponent 1 for
//! the frequent words, bending to exponent 2 for the rare ones, as two-regime fits of Zipf's law
//! find. Being rational it needs no power function, and all sampling is in integers, so a seed
//! gives the same text on every platform. Line `i` depends on the seed and on `i` alone: any number
//! of parts makes the same lines, and a lost line can be made again.
//!
//! # References
//!
//! - B. Mandelbrot, *An informational theory of the statistical structure of language*, 1953.
//! - R. Ferrer i Cancho, R. V. Solé, *Two regimes in the frequency of words and the origins of
//!   complex lexicons*, 2001: the bend between two exponents.
//! - M. D. Vose, *A linear algorithm for generating random numbers with a given distribution*,
//!   1991. Where we differ: weights and thresholds are integers.
//! - G. L. Steele, D. Lea, C. H. Flood, *Fast splittable pseudorandom number generators*, 2014.

use std::fmt;
use std::sync::LazyLock;

/// Words in the vocabulary.
pub const VOCABULARY: usize = 9_942;

/// Lines in 1,627 with 0, 1, 2, … words, as in the novel.
const LINES_OF_WORDS: [u16; 19] =
    [363, 34, 26, 29, 29, 27, 29, 29, 27, 34, 71, 132, 221, 242, 190, 99, 34, 8, 3];

/// Bytes a word is stored in. Copying them all is faster than copying a word's own length.
const SLOT: usize = 16;

/// Room for a line of the most words, each of the greatest length and a space.
const LINE: usize = LINES_OF_WORDS.len() * SLOT;

/// Makes the lines of one part of a seeded text.
///
/// ```
/// use streamwright::demos::wordcount::generate::Generator;
/// let mut all = Generator::new(7, 0, 1, 10);
/// let mut odd = Generator::new(7, 1, 2, 10);
/// all.next_line();
/// assert_eq!(all.next_line(), odd.next_line());
/// ```
#[derive(Clone)]
pub struct Generator {
    seed: u64,
    /// The line to make next, `None` past the last number there is.
    next: Option<u64>,
    parts: u32,
    lines: u64,
    line: [u8; LINE],
    law: &'static Law,
}

impl Generator {
    /// A generator of the lines `i ≡ part (mod parts)` below `lines` of the text of `seed`.
    ///
    /// A `part` that is not below `parts` has no lines. The first call in a process builds the
    /// tables that all generators share, in a few milliseconds; no other call allocates.
    #[must_use]
    pub fn new(seed: u64, part: u32, parts: u32, lines: u64) -> Self {
        let next = (part < parts).then_some(u64::from(part));
        Self { seed, next, parts, lines, line: [b' '; LINE], law: &LAW }
    }

    /// The next line of this part, without a line end, or `None` after the last.
    ///
    /// Words are parted by single spaces. Time O(words of the line).
    pub fn next_line(&mut self) -> Option<&[u8]> {
        let at = self.next.filter(|&at| at < self.lines)?;
        self.next = at.checked_add(u64::from(self.parts));
        Some(self.line(at))
    }

    /// The number of the line that [`Generator::next_line`] makes next; `u64::MAX` past the last.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next.unwrap_or(u64::MAX)
    }

    /// Goes on with line `position`, as [`Generator::position`] had it.
    pub fn seek(&mut self, position: u64) {
        self.next = (position < u64::MAX).then_some(position);
    }

    /// Line `at` of the text, whichever part it belongs to: what a spout replays when a tuple
    /// failed. Leaves the position of [`Generator::next_line`] alone.
    pub fn line(&mut self, at: u64) -> &[u8] {
        let mut random = SplitMix64::of_line(self.seed, at);
        let words = pick(random.next(), &self.law.words_of_line);
        let mut end = 0;
        for _ in 0..words {
            let word = &self.law.vocabulary[self.law.rank(random.next())];
            self.line[end..end + SLOT].copy_from_slice(&word.letters);
            // The slot is padded with spaces, one of which parts this word from the next.
            end += usize::from(word.len) + 1;
        }
        &self.line[..end.saturating_sub(1)]
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("seed", &self.seed)
            .field("next", &self.next)
            .field("parts", &self.parts)
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// The words a text can hold, from the most frequent on: distinct, lower-case and pronounceable.
pub fn vocabulary() -> impl Iterator<Item = &'static [u8]> {
    LAW.vocabulary.iter().map(|word| &word.letters[..usize::from(word.len)])
}

static LAW: LazyLock<Law> = LazyLock::new(Law::new);

/// The tables of the law.
struct Law {
    vocabulary: Vec<Word>,
    alias: Vec<Column>,
    /// Each number of words as often as lines have it.
    words_of_line: Vec<u8>,
}

struct Word {
    letters: [u8; SLOT],
    len: u8,
}

/// A column of the alias table: its own rank below the threshold, another above.
struct Column {
    threshold: u32,
    other: u16,
}

impl Law {
    fn new() -> Self {
        let words_of_line = (0u8..)
            .zip(LINES_OF_WORDS)
            .flat_map(|(words, lines)| std::iter::repeat_n(words, usize::from(lines)))
            .collect();
        Self { vocabulary: spell(), alias: alias(&weights()), words_of_line }
    }

    /// A rank, counted from 0, drawn with 64 random bits: 32 choose the column, 32 the side of it.
    fn rank(&self, random: u64) -> usize {
        let column = scale(random, self.alias.len());
        let Column { threshold, other } = self.alias[column];
        if (random as u32) < threshold { column } else { usize::from(other) }
    }
}

/// The weights of the ranks 1, 2, …, as integers.
fn weights() -> Vec<u64> {
    // Numerator and factors are scaled so that the rarest weight keeps six digits and the sum of
    // all, times their number, fits 64 bits.
    (1..=VOCABULARY as u64).map(|r| (1 << 50) / ((5 * r + 7) * (r + 3_200))).collect()
}

/// Vose's alias table: every column has the mean weight, filled by at most two ranks.
fn alias(weights: &[u64]) -> Vec<Column> {
    let mean: u64 = weights.iter().sum();
    let mut left: Vec<u64> = weights.iter().map(|w| w * weights.len() as u64).collect();
    let mut table: Vec<Column> =
        (0..weights.len()).map(|at| Column { threshold: u32::MAX, other: at as u16 }).collect();
    let (mut light, mut heavy): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|&at| left[at] < mean);
    while let (Some(small), Some(&big)) = (light.pop(), heavy.last()) {
        let threshold = (u128::from(left[small]) << 32) / u128::from(mean);
        table[small] = Column { threshold: threshold as u32, other: big as u16 };
        left[big] -= mean - left[small];
        if left[big] < mean {
            heavy.pop();
            light.push(big);
        }
    }
    table
}

/// Spells every word from its rank.
///
/// Letters alternate between vowel and consonant and end on a vowel. Frequent words are short; the
/// words of one length are numbered in the order of their ranks, so no two are alike.
fn spell() -> Vec<Word> {
    let mut used = [0u64; SLOT];
    (1..=VOCABULARY)
        .map(|rank| {
            let len = length(rank);
            let number = used[len];
            used[len] += 1;
            Word { letters: letters(number, len), len: len as u8 }
        })
        .collect()
}

/// Letters of the word of a rank: longer with the logarithm of the rank, and uneven.
const fn length(rank: usize) -> usize {
    let log = rank.ilog2() as usize;
    1 + log * 3 / 8 + (rank * 7) % (3 + log / 4)
}

/// The word `number` among those of `len` letters, padded with spaces.
fn letters(number: u64, len: usize) -> [u8; SLOT] {
    const VOWELS: &[u8] = b"aeiou";
    const CONSONANTS: &[u8] = b"bdhlmnprstvz";
    // A step that shares no factor with 5 and 12 visits every spelling once, far apart ones in a
    // row, so that neighbours do not look alike.
    const STEP: u64 = 7_919;
    let class = |at: usize| if (len - at) % 2 == 1 { VOWELS } else { CONSONANTS };
    let spellings: u64 = (0..len).map(|at| class(at).len() as u64).product();
    let mut left = number * STEP % spellings;
    let mut word = [b' '; SLOT];
    for at in (0..len).rev() {
        let letters = class(at);
        word[at] = letters[(left % letters.len() as u64) as usize];
        left /= letters.len() as u64;
    }
    word
}

/// Steele, Lea and Flood's generator: a counter in steps of the golden ratio, mixed.
struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of one line. Mixing twice sets neighbouring lines, and neighbouring seeds,
    /// at unrelated points of the cycle.
    const fn of_line(seed: u64, line: u64) -> Self {
        Self(mix(mix(seed) ^ line))
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// An entry of `table`, by the upper half of `random`.
fn pick(random: u64, table: &[u8]) -> u8 {
    table[scale(random, table.len())]
}

/// Maps the upper half of `random` onto `0..n`: a multiplication in place of a division.
const fn scale(random: u64, n: usize) -> usize {
    (((random >> 32) * n as u64) >> 32) as usize
}
