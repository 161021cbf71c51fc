//! Tracks the tree of a sentence: split into words, each counted, the counts joined.
//!
//! Run with `cargo run -p acker --example track_a_tree`.

use std::error::Error;

use acker::{Applied, Delta, IdGen, Ring, Timeout, Tracker, TrackerConfig, Update, Verdict, mix};

fn main() -> Result<(), Box<dyn Error>> {
    // Three ackers share the roots; every task knows the ring and so finds the same one.
    let ring = Ring::with_members(3, Ring::DEFAULT_POINTS);
    let config = TrackerConfig { timeout: Timeout::After(30_000), generations: 8, seed: 2026 };
    let mut ackers = [Tracker::new(config)?, Tracker::new(config)?, Tracker::new(config)?];

    // The spout: one sentence, first attempt, sent to a splitter.
    let mut ids = IdGen::from_seed(2026, 0);
    let root = mix(1, 0);
    let owner = ring.owner(root).ok_or("no acker")?;
    let acker = &mut ackers[owner as usize];
    println!("root {root} belongs to acker {owner}");

    let sentence = ids.next_id();
    let mut applied = acker.init(root, 7, Delta::of(&[sentence]))?;
    println!("spout sends {sentence}: {applied:?}");

    // The splitter consumes the sentence and produces words, in one message.
    let words = ["it", "was", "the", "best"].map(|word| (word, ids.next_id()));
    let produced = words.iter().map(|&(_, id)| id).collect();
    applied = acker.ack(root, Delta::of(&[sentence]), produced);
    println!("splitter sends {} words: {applied:?}", words.len());

    // Counters answer a batch at a time: their updates merge into one.
    for batch in words.chunks(2) {
        let merged = batch.iter().fold(Update::default(), |sum, &(_, id)| {
            sum.merge(Update::new(Delta::of(&[id]), Delta::EMPTY))
        });
        applied = acker.update(root, merged);
        println!("counter finishes {}: {applied:?}", batch.len());
    }
    let Applied::Verdict(Verdict { task, outcome, .. }) = applied else {
        return Err("the tree is open".into());
    };
    println!("task {task} is told: {outcome:?}");

    // The second sentence loses a word, and is given up once its time is over.
    let lost = mix(2, 0);
    let acker = &mut ackers[ring.owner(lost).ok_or("no acker")? as usize];
    applied = acker.init(lost, 7, Delta::of(&[ids.next_id()]))?;
    println!("root {lost}: {applied:?}");
    let mut verdicts = Vec::new();
    acker.advance(29_999, &mut verdicts);
    println!("after 29 999 ms: {verdicts:?}");
    acker.advance(34_286, &mut verdicts);
    println!("after 34 286 ms: {verdicts:?}");
    println!("false verdicts so far: at most {:e}", acker.stats().false_zero_bound());
    Ok(())
}
