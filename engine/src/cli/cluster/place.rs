//! Where in a file a field is.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step to a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// Into a table.
    Key(&'a str),
    /// Into a list.
    At(usize),
}

/// The path, for people: `node[1].speed`.
pub(super) fn name(path: &[Step<'_>]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => name = format!("{name}.{key}"),
            Step::At(at) => name = format!("{name}[{at}]"),
        }
    }
    if name.is_empty() { "the file".to_owned() } else { name }
}

/// The line of a field, or of the last step to it that is there, from 1.
pub(super) fn line_of(text: &str, path: &[Step<'_>]) -> usize {
    let Ok(table) = DeTable::parse(text) else { return 1 };
    let mut at = 0;
    let mut value: Option<&Spanned<DeValue<'_>>> = None;
    for step in path {
        let next = match (step, value.map(Spanned::get_ref)) {
            (Step::Key(key), None) => entry(table.get_ref(), key),
            (Step::Key(key), Some(DeValue::Table(table))) => entry(table, key),
            (Step::At(i), Some(DeValue::Array(list))) => {
                list.get(*i).map(|value| (value.span().start, value))
            }
            _ => None,
        };
        let Some((start, next)) = next else { break };
        (at, value) = (start, Some(next));
    }
    line(text, at)
}

/// A field of a table, and where its name begins.
fn entry<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<(usize, &'a Spanned<DeValue<'i>>)> {
    let (key, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    Some((key.span().start, value))
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}
