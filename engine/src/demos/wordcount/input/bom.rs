//! Byte order marks: the one of UTF-8 is dropped, the others refused by name.

use super::{InputError, Source};

/// Bytes of the longest mark.
pub(super) const LONGEST: usize = 4;

/// UTF-32LE comes before UTF-16LE, whose mark it begins with.
const MARKS: [(&[u8], &str); 5] = [
    (b"\xEF\xBB\xBF", UTF_8),
    (b"\xFF\xFE\0\0", "UTF-32LE"),
    (b"\0\0\xFE\xFF", "UTF-32BE"),
    (b"\xFF\xFE", "UTF-16LE"),
    (b"\xFE\xFF", "UTF-16BE"),
];

const UTF_8: &str = "UTF-8";

/// Whether more bytes could turn `head` into a mark, so that a stream must be read on before it
/// is judged. A text seldom begins like a mark, so its first line is not kept waiting.
pub(super) fn undecided(head: &[u8]) -> bool {
    MARKS.iter().any(|(mark, _)| head.len() < mark.len() && mark.starts_with(head))
}

/// Bytes to drop from an input that begins with `head`.
pub(super) fn skip(input: &Source, head: &[u8]) -> Result<usize, InputError> {
    match MARKS.iter().find(|(mark, _)| head.starts_with(mark)) {
        None => Ok(0),
        Some((mark, UTF_8)) => Ok(mark.len()),
        Some((_, found)) => Err(InputError::Encoding { input: input.clone(), found }),
    }
}
