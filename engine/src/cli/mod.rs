//! The command line, from the arguments to the exit code.

mod args;
mod cluster;
mod color;
mod console;
mod duration;
mod exit;
mod gather;
mod harmless;
mod json;
mod output;
mod repeat;
mod run;
mod signals;
mod simulated;
mod summary;
mod text;
mod warnings;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Demo};
use exit::Exit;

/// The demos there are, one line each.
const DEMOS: &str =
    "wordcount  counts the words of a text or of made-up lines, every line tracked to its end\n";

/// Does what the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let exit = match args::Args::try_parse() {
        Ok(args) => match args.command {
            Command::Run { demo: Demo::Wordcount(options) } => run::wordcount(&options),
            Command::Demos => output::print(DEMOS.as_bytes(), Exit::Done),
        },
        Err(refusal) => {
            let message = refusal.render().to_string();
            if refusal.use_stderr() {
                console::write_stderr(&message);
                Exit::Usage
            } else {
                output::print(message.as_bytes(), Exit::Done)
            }
        }
    };
    ExitCode::from(exit.code())
}
