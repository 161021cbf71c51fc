//! A spout held to a schedule.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::component::{BoxError, Poll, Seek, Spout, TaskContext};
use crate::core::Nanos;
use crate::emitter::SpoutEmitter;
use crate::schedule::{Cursor, Schedule};

/// Holds the tasks of a spout to one [`Schedule`], in an open loop.
///
/// The tasks share it: of `n` tasks, task `i` emits records `i`, `i + n`, … as they are due. The
/// schedule begins as the first of them is first asked for records, and ends the spout as it ends.
/// Latency counts from the time that a record was due. Where the spout has nothing, or the engine
/// no room, what is due piles up and is emitted as soon as may be.
///
/// # Examples
/// ```no_run
/// # use streamwright::{BoxError, Pace, Poll, Schedule, Spout, SpoutEmitter, Topology};
/// # struct Numbers;
/// # impl Spout for Numbers {
/// #     type Out = Vec<u64>;
/// #     fn next(&mut self, _: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
/// #         Ok(Poll::End)
/// #     }
/// # }
/// let pace = Pace::new("40k,+10k/60s".parse()?);
/// let mut builder = Topology::builder();
/// let numbers = builder.spout("numbers", 2, move |task| Ok(pace.spout(task, Numbers)));
/// # let _ = numbers;
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pace {
    schedule: Arc<Schedule>,
    course: Arc<Mutex<Course>>,
}

/// How far the tasks have come, of whichever incarnation.
#[derive(Debug, Default)]
struct Course {
    start: Option<Nanos>,
    furthest: Vec<u64>,
}

impl Pace {
    /// The pace of one spout.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Pace { schedule: Arc::new(schedule), course: Arc::default() }
    }

    /// The spout of a task, held to the pace. It must heed
    /// [`SpoutEmitter::room`](crate::SpoutEmitter::room): what it emits beyond goes out too soon.
    #[must_use]
    pub fn spout<S: Spout>(&self, task: &TaskContext, spout: S) -> Paced<S> {
        Paced {
            spout,
            pace: self.clone(),
            cursor: self.schedule.cursor(),
            index: task.index().into(),
            tasks: u64::from(task.tasks()).max(1),
            emitted: 0,
        }
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A spout held to a [`Pace`].
#[derive(Debug)]
pub struct Paced<S> {
    spout: S,
    pace: Pace,
    cursor: Cursor,
    index: u64,
    tasks: u64,
    /// Records of this task.
    emitted: u64,
}

impl<S: Spout> Paced<S> {
    /// When the next record of this task is due, after the start.
    fn next_at(&mut self, further: u64) -> Option<Nanos> {
        let number = (self.emitted + further).checked_mul(self.tasks)?.checked_add(self.index)?;
        self.cursor.time_of(number, &self.pace.schedule)
    }
}

impl<S: Spout> Spout for Paced<S> {
    type Out = S::Out;

    fn next(&mut self, out: &mut SpoutEmitter<'_, S::Out>) -> Result<Poll, BoxError> {
        let now = out.now();
        let start = *self.pace.course().start.get_or_insert(now);
        let time = now.saturating_sub(start);
        let mine = self.pace.schedule.due(time).saturating_sub(self.index).div_ceil(self.tasks);
        let behind = mine.saturating_sub(self.emitted);
        if behind == 0 {
            return Ok(match self.next_at(0) {
                None => Poll::End,
                Some(at) => Poll::Idle(Some(Duration::from_nanos(at.saturating_sub(time).max(1)))),
            });
        }
        let before = out.count();
        let polled = self.spout.next(&mut out.at_most(behind))?;
        let count = (out.count() - before) as u64;
        for further in 0..count {
            // One that came too soon is as old as it is.
            let due = self.next_at(further).map_or(now, |at| start.saturating_add(at).min(now));
            out.born(before + usize::try_from(further).unwrap_or(usize::MAX), due);
        }
        self.emitted += count;
        let mut course = self.pace.course();
        let place = usize::try_from(self.index).unwrap_or(usize::MAX);
        if course.furthest.len() <= place {
            course.furthest.resize(place + 1, 0);
        }
        course.furthest[place] = course.furthest[place].max(self.emitted);
        Ok(polled)
    }

    fn drain(&mut self) -> bool {
        self.spout.drain()
    }

    fn position(&self) -> Option<Vec<u8>> {
        let mut position = self.emitted.to_le_bytes().to_vec();
        position.extend(self.spout.position()?);
        Some(position)
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        match to {
            Seek::To(position) => {
                let (emitted, rest) =
                    position.split_first_chunk().ok_or("not a position of a paced spout")?;
                self.emitted = u64::from_le_bytes(*emitted);
                self.spout.seek(Seek::To(rest))
            }
            Seek::Onward => {
                let place = usize::try_from(self.index).unwrap_or(usize::MAX);
                self.emitted = self.pace.course().furthest.get(place).copied().unwrap_or(0);
                self.spout.seek(Seek::Onward)
            }
        }
    }
}
