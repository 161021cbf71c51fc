//! E9, E18: dead letters carry all there is to know; a bad handler ends the run, and blocks nothing.

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use streamwright::{
    Batch, Bolt, BoxError, Config, DeadLetter, Emitter, Execute, Grouping, LetterHandler, Poll,
    Reason, Report, RunError, Spout, SpoutEmitter, Text, Topology, TopologyBuilder, threads,
};

use super::common::{builder, config, count, each, numbers, run};

const MS: Duration = Duration::from_millis(1);

/// A million roots that fail at once, or as many as are asked for.
fn all_fail(builder: &mut TopologyBuilder, roots: u64) {
    let stream = numbers(builder, "numbers", 1, roots);
    each(builder, "faulty", 1, stream, |n| Err(format!("no {n}").into()));
}

fn once() -> Config {
    let mut config = config();
    config.attempts = 1;
    config.drain = 500 * MS;
    config
}

fn handled(roots: u64, handler: LetterHandler) -> Result<Report, RunError> {
    let mut builder = builder();
    all_fail(&mut builder, roots);
    let topology: Topology = builder.build(once()).unwrap();
    threads::start(topology, Some(handler)).unwrap().wait()
}

#[test]
fn e18_a_letter_of_an_error_or_a_panic_carries_all_there_is_to_know() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 3, 30);
    each(&mut builder, "faulty", 1, stream, |n| match n {
        7 => Err("no 7".into()),
        8 => panic!("no 8"),
        _ => Ok(()),
    });
    let report = run(builder, config());
    assert_eq!((report.dead, report.dead_letters.len()), (2, 2));
    for letter in &report.dead_letters {
        let number = letter.item::<Vec<u64>>().unwrap()[0];
        // Task i of the three emits i, i + 3, …
        assert_eq!((letter.component.as_str(), u64::from(letter.task)), ("numbers", number % 3));
        assert_eq!(letter.attempts, 3);
        assert!(letter.epoch <= report.epochs);
        assert_eq!(letter.item::<Text>().map(Batch::len), None);
        let text = letter.reason.to_string();
        let verb = if number == 7 { "failed" } else { "panicked" };
        assert_eq!(text, format!("faulty[0] {verb}: no {number}"));
    }
}

#[test]
fn e18_a_letter_of_a_timeout_says_so() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 5);
    count(&mut builder, "sink", 1, stream);
    let mut config = config();
    config.drop_ppm = 1_000_000;
    config.timeout = 100 * MS;
    config.attempts = 2;
    let report = run(builder, config);
    assert_eq!((report.acked, report.dead, report.replayed), (0, 5, 5));
    for letter in &report.dead_letters {
        assert_eq!(letter.attempts, 2);
        assert!(letter.reason.to_string().starts_with("no sign of life for 100ms"), "{letter:?}");
    }
}

/// Emits strings of these lengths.
struct Lengths(Vec<usize>);

impl Spout for Lengths {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        self.0.drain(..).for_each(|length| out.emit(&*"x".repeat(length)));
        Ok(Poll::End)
    }
}

/// Emits its input `times` over, end to end.
struct Repeat(usize);

impl Bolt for Repeat {
    type Out = Text;
}

impl Execute<Text> for Repeat {
    fn execute(&mut self, text: &[u8], out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        out.emit(&*text.repeat(self.0));
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<usize>>>);

impl Bolt for Seen {
    type Out = ();
}

impl Execute<Text> for Seen {
    fn execute(&mut self, text: &[u8], _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0.lock().unwrap().push(text.len());
        Ok(())
    }
}

/// Records of `lengths`, made `times` as long by a bolt, under a limit of 100 bytes.
fn lengths(lengths: &[usize], times: usize) -> (Report, Vec<usize>) {
    let mut builder = builder();
    let seen = Seen::default();
    let (lengths, sink) = (lengths.to_vec(), seen.clone());
    let stream = builder.spout("lengths", 1, move |_| Ok(Lengths(lengths.clone())));
    let stream = builder
        .bolt("repeat", 1, move |_| Ok(Repeat(times)))
        .input(stream, Grouping::global())
        .done();
    builder.bolt("sink", 1, move |_| Ok(sink.clone())).input(stream, Grouping::global()).done();
    let mut config = config();
    config.record_limit = 100;
    let report = run(builder, config);
    let mut seen = seen.0.lock().unwrap().clone();
    seen.sort_unstable();
    (report, seen)
}

#[test]
fn e9_a_record_over_the_limit_is_a_letter_and_the_small_ones_pass() {
    let (report, seen) = lengths(&[1, 99, 100, 101, 1000, 2], 1);
    assert_eq!(seen, [1, 2, 99, 100]);
    assert_eq!((report.acked, report.dead, report.replayed), (4, 2, 0));
    for (letter, size) in report.dead_letters.iter().zip([101, 1000]) {
        let component = "lengths".to_owned();
        assert_eq!(*letter.reason, Reason::TooLarge { component, task: 0, size, limit: 100 });
        // What would fail again is not tried again.
        assert_eq!(letter.attempts, 1);
        assert_eq!(letter.item::<Text>().unwrap().size(), size);
    }
    for alone in [101, 1000] {
        let (report, seen) = lengths(&[alone], 1);
        assert_eq!((report.acked, report.dead, seen.len()), (0, 1, 0));
    }
}

#[test]
fn e18_a_bolts_record_over_the_limit_is_a_letter_of_its_root() {
    let (report, seen) = lengths(&[1, 9, 10, 11, 3], 10);
    assert_eq!(seen, [10, 30, 90, 100]);
    assert_eq!((report.acked, report.dead, report.replayed), (4, 1, 0));
    let letter = &report.dead_letters[0];
    let component = "repeat".to_owned();
    assert_eq!(*letter.reason, Reason::TooLarge { component, task: 0, size: 110, limit: 100 });
    assert_eq!((letter.component.as_str(), letter.attempts), ("lengths", 1));
    assert_eq!(letter.item::<Text>().unwrap().item(0), &b"x".repeat(11)[..]);
}

#[test]
fn e18_without_a_handler_letters_are_counted_and_the_first_are_kept() {
    let mut builder = builder();
    all_fail(&mut builder, 1500);
    let report = run(builder, once());
    assert!(report.complete);
    assert_eq!((report.dead, report.dead_letters.len()), (1500, Report::LETTERS));
}

#[test]
fn e18_a_slow_handler_gets_every_letter_and_holds_up_nothing() {
    let letters = Arc::<Mutex<Vec<DeadLetter>>>::default();
    let kept = Arc::clone(&letters);
    let mut config = once();
    config.drain = Duration::from_secs(30);
    let mut builder = builder();
    all_fail(&mut builder, 300);
    let handler: LetterHandler = Box::new(move |letter| {
        sleep(2 * MS);
        kept.lock().unwrap().push(letter);
        Ok(())
    });
    let handle = threads::start(builder.build(config).unwrap(), Some(handler)).unwrap();
    let report = handle.wait().unwrap();
    assert_eq!((report.dead, report.dead_letters.len()), (300, 0));
    let mut numbers: Vec<u64> =
        letters.lock().unwrap().iter().map(|l| l.item::<Vec<u64>>().unwrap()[0]).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..300).collect::<Vec<_>>());
}

#[test]
fn e18_a_handler_that_errs_ends_the_run() {
    let error = handled(1_000_000, Box::new(|letter| Err(letter.reason.to_string().into())));
    let RunError::DeadLetters { message } = error.unwrap_err() else { panic!("another error") };
    assert!(message.starts_with("faulty[0] failed: no "), "{message}");
}

#[test]
fn e18_a_handler_that_errs_at_the_last_letter_ends_the_run() {
    let error = handled(1, Box::new(|_| Err("disk full".into()))).unwrap_err();
    assert_eq!(error, RunError::DeadLetters { message: "disk full".to_owned() });
}

#[test]
fn e18_a_handler_that_panics_ends_the_run() {
    let error = handled(1_000_000, Box::new(|_| panic!("disk full"))).unwrap_err();
    assert_eq!(error, RunError::DeadLetters { message: "disk full".to_owned() });
}

#[test]
fn e18_a_handler_that_is_flooded_ends_the_run_and_blocks_nothing() {
    let start = Instant::now();
    let error = handled(
        1_000_000,
        Box::new(|_| {
            sleep(Duration::from_secs(60));
            Ok(())
        }),
    );
    let RunError::DeadLetters { message } = error.unwrap_err() else { panic!("another error") };
    assert!(message.contains("letters wait"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
