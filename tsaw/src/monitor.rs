//! The paper's load monitor (section 4.1) as arithmetic: CPU time × clock a task, tuples ÷ window
//! a stream, over a sliding window of samples. The caller reads the counters and the time.

use std::collections::{BTreeMap, VecDeque};

use crate::{BuildError, TaskGraph, TaskGraphBuilder, TaskId};

/// Why a sample was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// A window without length.
    #[error("the window must be longer than 0")]
    EmptyWindow,
    /// A sample not later than the last one of its counter.
    #[error("a sample of time {now} ns after one of time {last} ns")]
    NotLater {
        /// Its time.
        now: u64,
        /// The last time.
        last: u64,
    },
    /// A counter is lower than it was: it was reset. The window begins anew with this sample.
    #[error("the counter went back from {last} to {now}: its window begins anew")]
    Reset {
        /// What it says.
        now: u64,
        /// What it said.
        last: u64,
    },
}

/// One counter over the window: when, what it said, and the amount summed since the first.
#[derive(Clone, Debug, Default)]
struct Counter {
    samples: VecDeque<(u64, u128)>,
    last: Option<(u64, u64)>,
}

impl Counter {
    fn add(&mut self, window: u64, now: u64, count: u64, times: u64) -> Result<(), MonitorError> {
        let Some((last_time, last)) = self.last else {
            self.restart(now, count);
            return Ok(());
        };
        if now <= last_time {
            return Err(MonitorError::NotLater { now, last: last_time });
        }
        if count < last {
            self.restart(now, count);
            return Err(MonitorError::Reset { now: count, last });
        }
        let sum = self.samples.back().map_or(0, |&(_, sum)| sum);
        let more = u128::from(count - last) * u128::from(times);
        self.samples.push_back((now, sum.saturating_add(more)));
        self.last = Some((now, count));
        // One sample at or before the beginning of the window stays, so that it is covered.
        while self.samples.get(1).is_some_and(|&(time, _)| now - time >= window) {
            self.samples.pop_front();
        }
        Ok(())
    }

    fn restart(&mut self, now: u64, count: u64) {
        self.samples.clear();
        self.samples.push_back((now, 0));
        self.last = Some((now, count));
    }

    /// Amount and time over the window; `None` before the second sample.
    fn window(&self) -> Option<(u128, u128)> {
        let (&(start, before), &(end, after)) = (self.samples.front()?, self.samples.back()?);
        (end > start).then(|| (after - before, u128::from(end - start)))
    }
}

/// Collects counters and turns them into weights.
///
/// ```
/// use tsaw::{Monitor, TaskId};
///
/// let mut monitor = Monitor::new(60_000_000_000)?;
/// // Task 0 used 2 s of a 2 800 MHz core within 10 s, and got 50 000 tuples from task 1.
/// monitor.cpu_time(TaskId(0), 0, 0, 2_800)?;
/// monitor.cpu_time(TaskId(0), 10_000_000_000, 2_000_000_000, 2_800)?;
/// monitor.received(TaskId(1), TaskId(0), 0, 0)?;
/// monitor.received(TaskId(1), TaskId(0), 10_000_000_000, 50_000)?;
/// assert_eq!(monitor.cpu(TaskId(0)), Some(560)); // MHz
/// assert_eq!(monitor.rate(TaskId(1), TaskId(0)), Some(5_000)); // tuples a second
/// # Ok::<(), tsaw::MonitorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    window_ns: u64,
    cpu: BTreeMap<TaskId, Counter>,
    streams: BTreeMap<(TaskId, TaskId), Counter>,
}

impl Monitor {
    /// With a window of so many nanoseconds.
    ///
    /// # Errors
    ///
    /// [`MonitorError::EmptyWindow`] for 0.
    pub fn new(window_ns: u64) -> Result<Self, MonitorError> {
        if window_ns == 0 {
            return Err(MonitorError::EmptyWindow);
        }
        Ok(Self { window_ns, cpu: BTreeMap::new(), streams: BTreeMap::new() })
    }

    /// Takes what the thread of a task has used of CPU so far, in nanoseconds, on a core with a
    /// clock of `clock_mhz` since the last sample.
    ///
    /// # Errors
    ///
    /// A sample that is not later than the last, or a counter that went back.
    pub fn cpu_time(
        &mut self,
        task: TaskId,
        now_ns: u64,
        cpu_ns: u64,
        clock_mhz: u32,
    ) -> Result<(), MonitorError> {
        let counter = self.cpu.entry(task).or_default();
        counter.add(self.window_ns, now_ns, cpu_ns, u64::from(clock_mhz))
    }

    /// Takes how many tuples `to` has received from `from` so far.
    ///
    /// # Errors
    ///
    /// A sample that is not later than the last, or a counter that went back.
    pub fn received(
        &mut self,
        from: TaskId,
        to: TaskId,
        now_ns: u64,
        tuples: u64,
    ) -> Result<(), MonitorError> {
        self.streams.entry((from, to)).or_default().add(self.window_ns, now_ns, tuples, 1)
    }

    /// CPU of a task in MHz, rounded: CPU time × clock ÷ window. `None` before two samples.
    #[must_use]
    pub fn cpu(&self, task: TaskId) -> Option<u64> {
        let (cycles, time) = self.cpu.get(&task)?.window()?;
        Some(rounded(cycles, time))
    }

    /// Tuples a second of a stream, rounded, at most `i64::MAX`. `None` before two samples.
    #[must_use]
    pub fn rate(&self, from: TaskId, to: TaskId) -> Option<i64> {
        let (tuples, time) = self.streams.get(&(from, to))?.window()?;
        let rate = rounded(tuples.saturating_mul(1_000_000_000), time);
        Some(i64::try_from(rate).unwrap_or(i64::MAX))
    }

    /// The graph with measured weights: the CPU of a task is its measured one, or what it was
    /// without two samples; streams are those measured and none else. A stream with a single sample,
    /// at its start or after its counter went back, has no rate yet and is left out.
    ///
    /// # Errors
    ///
    /// A stream of a task that the graph does not have, or weights that sum to too much.
    pub fn weigh(&self, graph: &TaskGraph) -> Result<TaskGraph, BuildError> {
        let mut builder = TaskGraphBuilder::like(graph, |task, cpu| self.cpu(task).unwrap_or(cpu));
        for &(from, to) in self.streams.keys() {
            builder.stream(from, to, self.rate(from, to).unwrap_or(0));
        }
        builder.build()
    }
}

fn rounded(amount: u128, time: u128) -> u64 {
    u64::try_from(amount.saturating_add(time / 2) / time).unwrap_or(u64::MAX)
}
