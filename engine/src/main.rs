//! The `streamwright` command: runs a demo and reports on it.
//!
//! The report goes to standard output; everything else, to standard error. The library knows
//! nothing of terminals, signals or exit codes: all of that is here.
#![forbid(unsafe_code)]

mod cli;
mod nearest;

fn main() -> std::process::ExitCode {
    cli::main()
}
