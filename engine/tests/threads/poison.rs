//! E16: items that always fail hold up nobody.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use streamwright::Reason;

use super::common::{builder, config, count, map, numbers, run};

#[test]
fn e16_one_poison_item_of_ten_thousand_is_one_dead_letter() {
    let times = Arc::<Mutex<Vec<Instant>>>::default();
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 10_000);
    let seen = Arc::clone(&times);
    let stream = map(&mut builder, "eat", 2, stream, move |n, out| {
        if n == 10 {
            seen.lock().unwrap().push(Instant::now());
            return Err("poison".into());
        }
        out.emit(n);
        Ok(())
    });
    let counts = count(&mut builder, "sink", 1, stream);
    let mut config = config();
    config.backoff = Duration::from_millis(200);
    let report = run(builder, config);
    counts.assert_once((0..10_000).filter(|&n| n != 10));
    assert_eq!((report.acked, report.dead, report.replayed), (9999, 1, 2));
    let letter = &report.dead_letters[0];
    assert_eq!(letter.attempts, 3);
    assert_eq!(letter.item::<Vec<u64>>().unwrap(), &[10]);
    assert!(matches!(&*letter.reason, Reason::Failed { message, .. } if message == "poison"));
    // Retries are spaced: 200 ms, then 400, but for the grain of the clock.
    let times = times.lock().unwrap();
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() == 2 && gaps[0] >= Duration::from_millis(100), "{gaps:?}");
    assert!(gaps[1] >= Duration::from_millis(250), "{gaps:?}");
    // Epochs pass it by.
    assert!(report.complete && report.epochs >= 1);
}

#[test]
fn e16_as_many_poison_items_as_may_be_pending_hold_up_nobody() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 5000);
    let stream = map(&mut builder, "eat", 2, stream, |n, out| {
        if (100..116).contains(&n) {
            return Err("poison".into());
        }
        out.emit(n);
        Ok(())
    });
    let counts = count(&mut builder, "sink", 1, stream);
    let mut config = config();
    assert_eq!(config.max_pending, 16);
    config.backoff = Duration::from_millis(20);
    let report = run(builder, config);
    counts.assert_once((0..5000).filter(|n| !(100..116).contains(n)));
    assert_eq!((report.acked, report.dead, report.replayed), (4984, 16, 32));
    let mut dead: Vec<u64> =
        report.dead_letters.iter().map(|letter| letter.item::<Vec<u64>>().unwrap()[0]).collect();
    dead.sort_unstable();
    assert_eq!(dead, (100..116).collect::<Vec<_>>());
    assert!(report.dead_letters.iter().all(|letter| letter.attempts == 3));
}

#[test]
fn e16_a_poison_item_costs_its_epoch_neighbours_no_replay() {
    // Everything in one epoch and one batch with the poison.
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 1000);
    let stream = map(&mut builder, "eat", 1, stream, |n, out| {
        assert_ne!(n % 100, 50, "poison");
        out.emit(n);
        Ok(())
    });
    let counts = count(&mut builder, "sink", 1, stream);
    let mut config = config();
    (config.batch, config.max_pending) = (1000, 1000);
    let report = run(builder, config);
    counts.assert_once((0..1000).filter(|n| n % 100 != 50));
    assert_eq!((report.acked, report.dead, report.replayed), (990, 10, 20));
}
