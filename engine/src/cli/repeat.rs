//! The command that repeats a run, every setting said, safe to paste into a shell.

use std::ffi::OsStr;

use streamwright::demos::wordcount::{ENDLESS, Tasks};
use streamwright::{Config, Guarantee};

use super::args::{Driver, Top, Wordcount};
use super::duration;

/// The command that repeats the run of `options` with `config` and `tasks` in force.
pub(super) fn command(options: &Wordcount, config: &Config, tasks: Tasks) -> String {
    let mut words = vec!["streamwright run wordcount".to_owned()];
    match &options.input {
        // With `=`, so that a name that begins with a dash is no flag.
        Some(path) => words.push(format!("--input={}", quoted(path.as_os_str()))),
        None if options.lines == ENDLESS => words.push("--lines endless".to_owned()),
        None => words.push(format!("--lines {}", options.lines)),
    }
    if let Some(rate) = &options.rate {
        words.push(format!("--rate {rate}"));
    }
    if let (Driver::Sim, Some(cluster)) = (options.driver, &options.cluster) {
        words.push(format!("--driver sim --cluster={}", quoted(cluster.as_os_str())));
    }
    let Tasks { lines, split, count } = tasks;
    words.push(format!("--workers {}", config.workers));
    words.push(format!("--tasks lines={lines},split={split},count={count}"));
    if options.combine {
        words.push("--combine".to_owned());
    }
    words.push(format!("--guarantee {}", guarantee(config.guarantee)));
    if config.tracked() {
        words.push(format!("--ackers {}", config.ackers));
        words.push(format!("--timeout {}", duration::format(config.timeout)));
        words.push(format!("--max-pending {}", config.max_pending));
        words.push(format!("--attempts {}", config.attempts));
    }
    words.push(format!("--linger {}", duration::format(config.linger)));
    words.push(format!("--drop {}", config.drop_ppm));
    // Said, it would beat the seed of a cluster file.
    if options.seed.is_some() || options.cluster.is_none() {
        words.push(format!("--seed {}", config.seed));
    }
    match options.top {
        Top(usize::MAX) => words.push("--top all".to_owned()),
        Top(top) => words.push(format!("--top {top}")),
    }
    if options.json {
        words.push("--json".to_owned());
    }
    words.join(" ")
}

/// The name of a guarantee, as the flag takes it.
pub(super) fn guarantee(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::AtMostOnce => "at-most-once",
        Guarantee::ExactlyOnce => "exactly-once",
        // The only other one that the flag takes.
        _ => "at-least-once",
    }
}

/// A word of a shell command that stands for `text`, in ASCII alone if it is not UTF-8.
fn quoted(text: &OsStr) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./+,:@%=".contains(&b);
    match text.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(plain) => text.to_owned(),
        Some(text) if !text.contains(|c: char| c.is_control()) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            let bytes = text.as_encoded_bytes().iter();
            let escape = |&b: &u8| {
                if plain(b) { char::from(b).to_string() } else { format!("\\x{b:02x}") }
            };
            format!("$'{}'", bytes.map(escape).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_a_shell_would_take_apart() {
        for (text, word) in [
            ("book.txt", "book.txt"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("naïve", "'naïve'"),
            ("", "''"),
            ("a\nb", r"$'a\x0ab'"),
        ] {
            assert_eq!(quoted(OsStr::new(text)), word);
        }
    }

    #[cfg(unix)]
    #[test]
    fn quotes_names_that_are_not_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(quoted(OsStr::from_bytes(b"a\xffb")), r"$'a\xffb'");
    }
}
