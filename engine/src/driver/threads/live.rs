//! Figures of a run that goes on, of one cut through all workers.
//!
//! Whoever wants to know asks for the next cut by raising a number. Each worker looks at the number
//! right after it has taken its mail, and before it works on it; where the number is new, it leaves
//! its figures. A worker sends only between two such looks, so whoever takes in what was sent after
//! the sender's figures sees the new number first, and leaves its own before it counts that: nothing
//! is counted as come that is not counted as sent. Nobody waits for a worker but the asker, and that
//! not for long; with nobody asking it costs one load a turn.
//!
//! A worker in a long call leaves nothing for a cut. Then the picture is made of what each has left
//! last, and says that it is not whole.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::core::{Nanos, WorkerId};
use crate::driver::totals::{Ends, Totals};
use crate::report::{WorkerFigures, WorkerStats};
use crate::stats::Stats;

/// A cut that began no longer ago than this is fresh: workers leave figures no more often.
const FRESH: Nanos = 2_000_000;
/// The longest wait for a cut: a worker may be in a long call.
const PATIENCE: Duration = Duration::from_millis(20);

/// What one worker left.
type Sample = (WorkerFigures, WorkerStats);

/// The figures of a run that goes on.
#[derive(Debug)]
pub(crate) struct Live {
    asked: AtomicU64,
    inner: Mutex<Inner>,
    news: Condvar,
}

#[derive(Debug)]
struct Inner {
    /// Sums over the incarnations before.
    before: Totals,
    incarnation: u64,
    /// What each worker of this one left last, and for which cut.
    left: Ends,
    left_for: Vec<u64>,
    /// The last cut: when it began, and how many have not left their figures for it.
    began: Nanos,
    missing: usize,
    /// No cut begins any more.
    closed: bool,
    last: Option<Stats>,
}

/// What there is to know.
pub(crate) enum Seen {
    /// The run is over.
    Over(Box<Stats>),
    /// The sums up to a cut, when that was, and of which incarnation.
    Cut { totals: Box<Totals>, at: Nanos, incarnation: u64, whole: bool },
}

impl Live {
    pub(crate) fn new(workers: u32) -> Self {
        Live {
            asked: AtomicU64::new(0),
            inner: Mutex::new(Inner {
                before: Totals::default(),
                incarnation: 0,
                left: (0..workers).map(|_| None).collect(),
                left_for: (0..workers).map(|_| 0).collect(),
                began: 0,
                missing: 0,
                closed: false,
                last: None,
            }),
            news: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the cut that is asked for.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// A worker leaves its figures for cut `number`.
    pub(crate) fn leave(&self, me: WorkerId, number: u64, sample: Sample) {
        let mut inner = self.lock();
        let place = me as usize;
        // An older cut was given up: these figures may be of before and after the new one.
        if number != self.asked() || inner.left_for[place] == number {
            return;
        }
        inner.left[place] = Some(sample);
        inner.left_for[place] = number;
        inner.missing = inner.missing.saturating_sub(1);
        if inner.missing == 0 {
            drop(inner);
            self.news.notify_all();
        }
    }

    /// The figures of a cut that is fresh at `now`; of what was left last, where a worker leaves
    /// nothing in time. `wake` has every worker look at the number.
    pub(crate) fn look(&self, now: Nanos, wake: impl Fn()) -> Seen {
        let by = Instant::now() + PATIENCE;
        let patience = u64::try_from(PATIENCE.as_nanos()).unwrap_or(Nanos::MAX);
        let mut inner = self.lock();
        while !inner.closed && inner.last.is_none() {
            let age = if inner.began == 0 { Nanos::MAX } else { now.saturating_sub(inner.began) };
            // One that a long call holds up is given up for a new one: the others have news.
            if (inner.missing == 0 && age >= FRESH) || age >= patience {
                inner.began = now.max(1);
                inner.missing = inner.left.len();
                self.asked.fetch_add(1, Ordering::Relaxed);
                drop(inner);
                wake();
                inner = self.lock();
                continue;
            }
            let wait = by.saturating_duration_since(Instant::now());
            if inner.missing == 0 || wait.is_zero() {
                break;
            }
            inner = self
                .news
                .wait_timeout(inner, wait)
                .map_or_else(|poison| poison.into_inner().0, |(inner, _)| inner);
        }
        if let Some(last) = &inner.last {
            return Seen::Over(Box::new(last.clone()));
        }
        let (mut totals, left) = (inner.before.clone(), inner.left.clone());
        let (at, incarnation, whole) = (inner.began, inner.incarnation, inner.missing == 0);
        drop(inner);
        totals.add(left);
        Seen::Cut { totals: Box::new(totals), at, incarnation, whole }
    }

    /// All workers are gone, and `before` is what they and those before them did. New ones come.
    pub(crate) fn begin(&self, incarnation: u64, before: &Totals, now: Nanos) {
        let mut inner = self.lock();
        inner.before = before.clone();
        inner.incarnation = incarnation;
        inner.left.iter_mut().for_each(|one| *one = None);
        inner.left_for.fill(0);
        inner.began = now.max(1);
        inner.missing = inner.left.len();
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// The run is over, and these are its figures.
    pub(crate) fn finish(&self, last: Stats) {
        self.lock().last.get_or_insert(last);
        self.news.notify_all();
    }

    /// No cut begins any more: the time of the end is taken, and the last figures come soon.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_all();
    }
}
