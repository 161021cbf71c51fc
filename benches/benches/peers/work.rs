//! The work that all sides do: the same records, the same tokenizer, the same kind of table.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;
use streamwright::demos::wordcount::tokenize::words;
use streamwright::{Batch, Key, Text};

/// Records given in one turn of a source, on all sides.
pub(crate) const TURN: usize = 1024;

/// What a run counted.
pub(crate) type Counts<T> = HashMap<T, u64>;

/// An item that is counted.
pub(crate) trait Item: Key + Hash + Eq + Ord + Clone + Send + Sync + 'static {}
impl<T: Key + Hash + Eq + Ord + Clone + Send + Sync + 'static> Item for T {}

/// Records by number, and the items that each leads to.
pub(crate) trait Work: Send + Sync + 'static {
    type Item: Item;
    fn records(&self) -> u32;
    fn expand(&self, record: u32, each: impl FnMut(Self::Item));
}

/// Keys from Zipf's law over 20,000, ten a record.
pub(crate) struct Tens(pub(crate) Vec<u64>);

impl Work for Tens {
    type Item = u64;

    fn records(&self) -> u32 {
        u32::try_from(self.0.len() / 10).unwrap()
    }

    fn expand(&self, record: u32, each: impl FnMut(u64)) {
        let at = record as usize * 10;
        self.0[at..at + 10].iter().copied().for_each(each);
    }
}

/// Lines of a text; a word is a `String`.
pub(crate) struct Lines(pub(crate) Arc<Text>);

impl Lines {
    /// Each word of a line.
    pub(crate) fn each(&self, line: u32, mut each: impl FnMut(&[u8])) {
        let mut scratch = Vec::new();
        words(self.0.item(line as usize), &mut scratch, |word| each(word));
    }
}

impl Work for Lines {
    type Item = String;

    fn records(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap()
    }

    fn expand(&self, line: u32, mut each: impl FnMut(String)) {
        self.each(line, |word| each(String::from_utf8_lossy(word).into_owned()));
    }
}

/// How often each item comes.
pub(crate) fn truth<W: Work>(work: &W) -> Counts<W::Item> {
    let mut counts = Counts::new();
    for record in 0..work.records() {
        work.expand(record, |item| *counts.entry(item).or_insert(0) += 1);
    }
    counts
}

/// `n` keys by Zipf's law (exponent 1) over 20,000, from a fixed seed.
pub(crate) fn zipf(n: usize) -> Vec<u64> {
    let mut sums: Vec<f64> = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=20_000 {
        sum += 1.0 / f64::from(rank);
        sums.push(sum);
    }
    let mut state = 7_u64;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            #[allow(clippy::cast_precision_loss)]
            let at = (state >> 11) as f64 / (1_u64 << 53) as f64 * sum;
            sums.partition_point(|&s| s < at) as u64
        })
        .collect()
}

/// The words of a file, whole lines, `times` over.
pub(crate) fn file(path: &str, times: usize) -> Text {
    let bytes = std::fs::read(path).expect("WORDS_FILE names a file that can be read");
    let mut text = Text::default();
    for _ in 0..times {
        for line in bytes.split(|&byte| byte == b'\n') {
            streamwright::Push::push_item(&mut text, line);
        }
    }
    text
}
