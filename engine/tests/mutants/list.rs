//! What a seeded bug is, and all of them.

use crate::{progress, promises, waiting};

/// One bug, as an edit of the core, and the test that catches it.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name, for people and for `STREAMWRIGHT_MUTANT`.
    pub name: &'static str,
    /// The file of `src/core` that it is in.
    pub file: &'static str,
    /// What stands there, once.
    pub find: &'static str,
    /// What stands there instead.
    pub replace: &'static str,
    /// The test target that catches it, and the test's full name.
    pub test: (&'static str, &'static str),
    /// The rule that it breaks, as in the table of `ARCHITECTURE.md`.
    pub breaks: &'static str,
    /// What is wrong, in a sentence.
    pub what: &'static str,
}

impl Mutant {
    /// `text` with the bug in it.
    pub fn seed(&self, text: &str) -> String {
        text.replacen(self.find, self.replace, 1)
    }
}

/// All of them, rule by rule.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    [progress::MUTANTS, waiting::MUTANTS, promises::MUTANTS].into_iter().flatten()
}
