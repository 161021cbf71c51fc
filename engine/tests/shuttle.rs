//! The hand-off between threads under a model checker: the real mailbox, on shuttle's locks.
//!
//! Shuttle's `wait_timeout` never times out. So what ends here ends without help of any time-out:
//! a wake-up that is lost shows as a deadlock.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]
#![allow(dead_code, reason = "the mailbox is tried in parts")]

/// Stands where the driver has the locks of the standard library.
mod sync {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}

#[path = "../src/driver/threads/mailbox.rs"]
mod mailbox;
#[path = "shuttle/owners.rs"]
mod owners;
#[path = "shuttle/rules.rs"]
mod rules;
#[path = "shuttle/workers.rs"]
mod workers;

use std::sync::Arc;
use std::time::Duration;

use mailbox::Mailbox;
use owners::{Owner, Trail, run};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Runner, thread};

/// Runs `model` under both schedulers, each for half of the iterations.
fn check(iterations: usize, model: impl Fn() + Send + Sync + 'static) {
    let model = Arc::new(model);
    let each = |scheduler: Box<dyn Scheduler + Send>| {
        let mut config = shuttle::Config::new();
        config.stack_size = 1 << 18;
        let model = Arc::clone(&model);
        Runner::new(scheduler, config).run(move || model());
    };
    each(Box::new(RandomScheduler::new(iterations / 2)));
    each(Box::new(PctScheduler::new(3, iterations - iterations / 2)));
}

/// Parks as a worker does; the time is shuttle's to ignore.
fn park<P>(mailbox: &Mailbox<P>) {
    mailbox.park(Duration::from_millis(1));
}

#[test]
fn no_wake_up_is_lost_between_a_post_and_a_park() {
    check(4_000, || {
        let mailbox = Arc::new(Mailbox::new(1, 1));
        let sender = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || (0..3).for_each(|n| mailbox.post(n)))
        };
        let (mut got, mut posts) = (Vec::new(), Vec::new());
        while got.len() < 3 {
            mailbox.take(&mut posts);
            if posts.is_empty() {
                park(&mailbox);
            }
            got.append(&mut posts);
        }
        assert_eq!(got, [0, 1, 2]);
        sender.join().unwrap();
    });
}

#[test]
fn a_wake_keeps_the_owner_from_its_next_sleep() {
    check(2_000, || {
        let mailbox = Arc::new(Mailbox::<()>::new(1, 1));
        let waker = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || mailbox.wake())
        };
        park(&mailbox);
        waker.join().unwrap();
    });
}

#[test]
fn what_is_left_without_a_wake_is_there_at_the_next_one() {
    check(2_000, || {
        let mailbox = Arc::new(Mailbox::new(1, 1));
        let sender = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                mailbox.leave(1);
                mailbox.post(2);
            })
        };
        let (mut got, mut posts) = (Vec::new(), Vec::new());
        while got.len() < 2 {
            park(&mailbox);
            mailbox.take(&mut posts);
            got.append(&mut posts);
        }
        assert_eq!(got, [1, 2]);
        sender.join().unwrap();
    });
}

#[test]
fn a_stop_reaches_an_owner_that_parks_for_ever() {
    check(2_000, || {
        let mailbox = Arc::new(Mailbox::new(1, 1));
        let owner = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                let mut posts = Vec::new();
                loop {
                    mailbox.take(&mut posts);
                    if posts.drain(..).any(|stop| stop) {
                        return;
                    }
                    park(&mailbox);
                }
            })
        };
        mailbox.wake();
        mailbox.post(false);
        mailbox.post(true);
        owner.join().unwrap();
    });
}

#[test]
fn refused_senders_are_woken_at_capacity_1() {
    two_senders_to_one(1);
}

#[test]
fn each_sender_keeps_its_order_at_capacity_3() {
    two_senders_to_one(3);
}

fn two_senders_to_one(capacity: usize) {
    check(4_000, move || {
        let receiver = Owner::default().sink(0, 8);
        let trail =
            run(capacity, vec![Owner::source(4, (2, 0)), Owner::source(4, (2, 0)), receiver]);
        trail.assert_fifo_and_whole(2, 0, &[4, 4]);
    });
}

#[test]
fn a_chain_of_parking_owners_passes_all_on_at_capacity_1() {
    check(4_000, || {
        let trail = run(
            1,
            vec![
                Owner::source(5, (1, 0)),
                Owner::default().relay(0, 5, (2, 1)),
                Owner::default().sink(1, 5),
            ],
        );
        trail.assert_fifo_and_whole(2, 1, &[5]);
    });
}

#[test]
fn a_mutual_pair_passes_all_on_at_capacity_1() {
    // Each sends to the other and relays what it gets back to where it came from: no two
    // components feed each other, but the two workers do.
    check(4_000, || {
        let trail = run(
            1,
            vec![
                Owner::source(4, (1, 0)).relay(0, 4, (1, 1)).sink(1, 4),
                Owner::source(4, (0, 0)).relay(0, 4, (0, 1)).sink(1, 4),
            ],
        );
        trail.assert_fifo_and_whole(0, 1, &[4, 0]);
        trail.assert_fifo_and_whole(1, 1, &[0, 4]);
    });
}

#[test]
fn an_owner_that_sends_to_itself_does_not_wait_for_itself() {
    check(2_000, || {
        let trail = run(
            1,
            vec![Owner::source(3, (0, 0)).relay(0, 6, (0, 1)).sink(1, 6), Owner::source(3, (0, 0))],
        );
        trail.assert_fifo_and_whole(0, 1, &[3, 3]);
    });
}

impl Trail {
    /// All items of each sender reached `component` of `owner`, in the order they were sent.
    fn assert_fifo_and_whole(&self, owner: usize, component: u32, sent: &[u64]) {
        for (sender, &items) in sent.iter().enumerate() {
            let got = self.of(owner, component, sender);
            assert_eq!(got, (0..items).collect::<Vec<_>>(), "{sender} to {owner}.{component}");
        }
    }
}
