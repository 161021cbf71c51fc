//! The report as one JSON object.

use super::summary::Summary;

/// The object, indented, with a newline at its end. Figures that are not finite were left out as
/// the summary was gathered, and serde_json writes `null` for any other.
pub(super) fn render(summary: &Summary) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(summary)?;
    bytes.push(b'\n');
    Ok(bytes)
}
