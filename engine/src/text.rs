//! Batches of byte strings in one arena: `bytes` and `ends`, never a `String` a word.

use crate::batch::{Batch, CloneBatch, Places, Push};

/// Byte strings, back to back in one arena. Items are `&[u8]`: text need not be UTF-8.
///
/// ```
/// use streamwright::{Batch, Push, Text};
/// let mut words = Text::default();
/// words.push_item("it was");
/// words.push_item(&b"the best"[..]);
/// assert_eq!(words.item(1), b"the best");
/// assert_eq!(words.size(), 14);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Bytes that an arena starts with.
const FIRST: usize = 128;

impl Text {
    /// The items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.item(i))
    }

    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] }
    }
}

impl Batch for Text {
    const DROPS: bool = false;

    type Item<'a> = &'a [u8];

    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn item(&self, i: usize) -> &[u8] {
        &self.bytes[self.start(i)..self.ends[i]]
    }

    fn truncate(&mut self, len: usize) {
        if len < self.ends.len() {
            self.bytes.truncate(self.start(len));
            self.ends.truncate(len);
        }
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    fn scatter<P: Places<Self>>(&mut self, to: &mut P) {
        let mut start = 0;
        for (i, &end) in self.ends.iter().enumerate() {
            if let Some(part) = to.place(i) {
                part.push_item(&self.bytes[start..end]);
            }
            start = end;
        }
        self.clear();
    }
}

impl CloneBatch for Text {
    #[inline]
    fn copy_to(&self, i: usize, to: &mut Self) {
        to.push_item(self.item(i));
    }
}

impl Push<&[u8]> for Text {
    #[inline]
    fn push_item(&mut self, item: &[u8]) {
        if self.bytes.capacity() == 0 {
            // Most single items fit at once: a kept line does not grow again with the next one.
            self.bytes.reserve(FIRST);
        }
        self.bytes.extend_from_slice(item);
        self.ends.push(self.bytes.len());
    }
}

impl Push<&str> for Text {
    #[inline]
    fn push_item(&mut self, item: &str) {
        self.push_item(item.as_bytes());
    }
}

/// Byte strings with a small value each, such as a word with its count. Items are `(&[u8], V)`.
#[derive(Clone, Debug)]
pub struct Tagged<V> {
    text: Text,
    values: Vec<V>,
}

impl<V> Default for Tagged<V> {
    fn default() -> Self {
        Tagged { text: Text::default(), values: Vec::new() }
    }
}

impl<V> Tagged<V> {
    /// The byte string of item `i`, where there is one.
    #[inline]
    pub(crate) fn text(&self, i: usize) -> &[u8] {
        self.text.item(i)
    }

    /// The value of item `i`, if there is one.
    #[inline]
    pub(crate) fn value_mut(&mut self, i: usize) -> Option<&mut V> {
        self.values.get_mut(i)
    }
}

impl<V: Copy + Send + 'static> Batch for Tagged<V> {
    const DROPS: bool = false;

    type Item<'a> = (&'a [u8], V);

    fn len(&self) -> usize {
        self.values.len()
    }

    fn item(&self, i: usize) -> (&[u8], V) {
        (self.text.item(i), self.values[i])
    }

    fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
        self.values.truncate(len);
    }

    fn size(&self) -> usize {
        self.text.size() + self.values.len() * size_of::<V>()
    }

    fn scatter<P: Places<Self>>(&mut self, to: &mut P) {
        for i in 0..self.values.len() {
            if let Some(part) = to.place(i) {
                part.push_item((self.text.item(i), self.values[i]));
            }
        }
        self.clear();
    }
}

impl<V: Copy + Send + 'static> CloneBatch for Tagged<V> {
    fn copy_to(&self, i: usize, to: &mut Self) {
        to.push_item((self.text.item(i), self.values[i]));
    }
}

impl<V: Copy + Send + 'static> Push<(&[u8], V)> for Tagged<V> {
    fn push_item(&mut self, (text, value): (&[u8], V)) {
        self.text.push_item(text);
        self.values.push(value);
    }
}
