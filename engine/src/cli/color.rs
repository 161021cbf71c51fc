//! Whether standard output may have colour: flag, then `NO_COLOR`, then the terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;

use clap::ValueEnum;

/// What `--color` may be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal that is not dumb, unless `NO_COLOR` is set and not empty.
    #[default]
    Auto,
    /// Whatever the environment says.
    Always,
    /// Whatever the environment says.
    Never,
}

impl Color {
    /// Whether colour is allowed on this process's standard output.
    pub(super) fn allowed(self) -> bool {
        let variable = |name| std::env::var_os(name);
        let terminal = std::io::stdout().is_terminal();
        self.decide(variable("NO_COLOR").as_deref(), variable("TERM").as_deref(), terminal)
    }

    fn decide(self, no_color: Option<&OsStr>, term: Option<&OsStr>, terminal: bool) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && no_color.is_none_or(OsStr::is_empty) && capable(term),
        }
    }
}

/// Whether a terminal of this `TERM` understands escapes.
pub(super) fn capable(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Adds escapes, or does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    /// A heading.
    pub(super) fn heading(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// A figure that should not be.
    pub(super) fn alarm(self, text: &str) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e42_flag_beats_no_color_beats_terminal() {
        let unset: Option<&str> = None;
        for (color, no_color, term, terminal, allowed) in [
            (Color::Auto, unset, Some("xterm"), true, true),
            (Color::Auto, Some(""), Some("xterm"), true, true),
            (Color::Auto, Some("1"), Some("xterm"), true, false),
            (Color::Auto, unset, Some("dumb"), true, false),
            (Color::Auto, unset, None, true, false),
            (Color::Auto, unset, Some("xterm"), false, false),
            (Color::Always, Some("1"), Some("dumb"), false, true),
            (Color::Never, unset, Some("xterm"), true, false),
        ] {
            let decided = color.decide(no_color.map(OsStr::new), term.map(OsStr::new), terminal);
            assert_eq!(decided, allowed, "{color:?} {no_color:?} {term:?} {terminal}");
        }
    }
}
