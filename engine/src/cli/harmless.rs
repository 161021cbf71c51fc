//! What a terminal would obey is shown, not sent.

/// Text as it is, but for characters that a terminal would obey (controls, and those that turn
/// the direction of writing): these as escapes. Bytes that are not UTF-8 stay.
pub(super) fn harmless(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_ascii_control() {
                out.extend_from_slice(format!("\\x{:02x}", u32::from(c)).as_bytes());
            } else if c.is_control() || turns {
                out.extend_from_slice(format!("\\u{{{:x}}}", u32::from(c)).as_bytes());
            } else {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}
