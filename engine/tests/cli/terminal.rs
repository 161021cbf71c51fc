//! Terminals: colour and progress only where they belong.

use std::fs::File;
use std::process::Stdio;

use crate::support::{Temp, Terminal, run, start, start_to, wordcount};

/// Text without escapes, whose figures are all one: two runs never take the same time.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            // A terminal shows a line end as CR LF.
            '\r' => {}
            '0'..='9' | '.' => {
                while chars.peek().is_some_and(|c| c.is_ascii_digit() || ".e-".contains(*c)) {
                    chars.next();
                }
                plain.push('0');
            }
            c => plain.push(c),
        }
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = plain.lines().map(words).collect();
    lines.join("\n").replace("0 us", "0 s").replace("0 ms", "0 s")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    Terminal,
    Pipe,
    File,
}

#[test]
fn e42_flag_beats_no_color_beats_terminal_and_the_text_is_the_same_everywhere() {
    let temp = Temp::new();
    let args = "--lines 20 --workers 1";
    let truth = plain(&run(&mut wordcount(args)).text());
    assert!(truth.contains("0 ba\n"), "{truth}");
    for to in [To::Terminal, To::Pipe, To::File] {
        for no_color in [None, Some(""), Some("1")] {
            for term in [None, Some("dumb"), Some("xterm")] {
                for color in ["", "--color always", "--color never", "--color auto"] {
                    if to == To::File && term.is_none() {
                        continue;
                    }
                    let mut command = wordcount(&format!("{args} {color}"));
                    if let Some(value) = no_color {
                        command.env("NO_COLOR", value);
                    }
                    if let Some(value) = term {
                        command.env("TERM", value);
                    }
                    let cell = format!("{to:?} NO_COLOR={no_color:?} TERM={term:?} {color}");
                    command.stderr(Stdio::piped());
                    let (ended, text) = match to {
                        To::Terminal => {
                            let terminal = Terminal::new(80);
                            let ended = start_to(command.stdout(terminal.stdio())).wait();
                            drop(command);
                            (ended, terminal.shown())
                        }
                        To::Pipe => {
                            let ended = start(&mut command).wait();
                            let text = ended.text();
                            (ended, text)
                        }
                        To::File => {
                            let path = temp.path("out");
                            let file = File::create(&path).expect("a file");
                            let ended = start_to(command.stdout(file)).wait();
                            (ended, std::fs::read_to_string(path).expect("the report"))
                        }
                    };
                    let terminal = to == To::Terminal && term == Some("xterm");
                    let colored = match color {
                        "--color always" => true,
                        "--color never" => false,
                        _ => terminal && no_color != Some("1"),
                    };
                    assert_eq!(text.contains('\x1b'), colored, "{cell}");
                    assert_eq!(plain(&text), truth, "{cell}");
                    assert_eq!(ended.err, "", "{cell}");
                }
            }
        }
    }
}

#[test]
fn e42_progress_is_one_line_on_a_capable_terminal_and_nothing_anywhere_else() {
    for (columns, term) in [
        (80, Some("xterm")),
        (20, Some("xterm")),
        (0, Some("xterm")),
        (80, Some("dumb")),
        (80, None),
    ] {
        let terminal = Terminal::new(columns);
        let mut command = wordcount("--lines 100000 --color never");
        if let Some(term) = term {
            command.env("TERM", term);
        }
        command.stdout(Stdio::piped()).stderr(terminal.stdio());
        let ended = start_to(&mut command).wait();
        drop(command);
        let shown = terminal.shown();
        assert_eq!(ended.code(), 0, "{columns} {term:?}: {shown}");
        assert!(!ended.text().contains('\x1b'));
        if term == Some("xterm") {
            assert!(shown.contains('\x1b'), "{columns}: there is progress");
            assert!(!shown.contains('\n'), "{columns}: on one line: {shown:?}");
            let wide = if columns == 0 { 80 } else { usize::from(columns) };
            for frame in shown.split(['\r', '\x1b']) {
                assert!(frame.chars().count() <= wide + 4, "{columns}: {frame:?}");
            }
        } else {
            assert_eq!(shown, "", "{columns} {term:?}");
        }
    }
}

#[test]
fn e42_a_message_does_not_run_into_the_progress_line() {
    use rustix::process::Signal;
    let terminal = Terminal::new(80);
    let mut command = wordcount("--lines 1000000000 --json");
    command.env("TERM", "xterm").stdout(Stdio::piped()).stderr(terminal.stdio());
    let child = start_to(&mut command);
    drop(command);
    std::thread::sleep(std::time::Duration::from_millis(400));
    child.send(Signal::INT);
    child.wait().json(130);
    let shown = terminal.shown();
    let line = shown.lines().find(|line| line.contains("SIGINT")).expect("a message");
    let before = &line[..line.find("SIGINT").expect("the message")];
    assert!(before.ends_with("\x1b[2K"), "a cleared line: {before:?}");
}
