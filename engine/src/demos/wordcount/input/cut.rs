//! Where a line over the limit is cut.

use memchr::memrchr;

use super::super::tokenize::{first_char, is_separator};

/// Bytes beyond the limit that a cut may look at: the rest of one character, or a line end.
pub(super) const LOOK_AHEAD: usize = 4;

/// Appends to `cuts` where the lines of `bytes` longer than `limit` are cut; returns the bytes
/// that are settled: whole lines and cut pieces. `bytes` begins a line or the rest of a cut one.
///
/// A cut depends on at most `limit` + [`LOOK_AHEAD`] bytes from the start of its piece, and
/// nothing is settled without them, so cuts do not depend on how the input arrived in chunks. At
/// the `end` of the input, nothing is left to wait for.
///
/// Time O(bytes / limit) while lines are short: one search backwards passes over all lines that
/// end in a window of `limit` bytes.
pub(super) fn cut(bytes: &[u8], limit: usize, end: bool, cuts: &mut Vec<usize>) -> usize {
    let mut start = 0;
    loop {
        let rest = &bytes[start..];
        let window = &rest[..rest.len().min(limit + 1)];
        if let Some(last) = memrchr(b'\n', window) {
            start += last + 1;
        } else if rest.len() > limit && (end || is_enough(rest, limit)) {
            if rest[limit..].starts_with(b"\r\n") {
                start += limit + 2;
            } else {
                start += piece(rest, limit);
                cuts.push(start);
            }
        } else {
            return if end { bytes.len() } else { start };
        }
    }
}

/// Whether `rest` shows all that a cut may depend on. Behind a line end nothing matters.
fn is_enough(rest: &[u8], limit: usize) -> bool {
    rest.len() >= limit + LOOK_AHEAD || rest[limit..].contains(&b'\n')
}

/// Length of the first piece of a line longer than `limit`.
fn piece(line: &[u8], limit: usize) -> usize {
    // A character is found from its first byte, which no other character contains.
    let separator = (0..limit).rev().find_map(|at| {
        let c = first_char(&line[at..limit]).filter(|&c| is_separator(c))?;
        Some(at + c.len_utf8())
    });
    separator.unwrap_or_else(|| {
        let straddling = (limit.saturating_sub(3)..limit)
            .filter_map(|at| Some((at, first_char(&line[at..])?.len_utf8())))
            .find(|(at, len)| at + len > limit);
        match straddling {
            // Only a limit of less than a character can leave nothing to the piece.
            Some((0, len)) => len,
            Some((at, _)) => at,
            None => limit,
        }
    })
}
