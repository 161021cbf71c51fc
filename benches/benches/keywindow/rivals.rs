//! Other ways to a sliding window of each key, in the shape that engines give them.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use keywindow::WindowSpec;
use keywindow::aggregates::Sum;
use keywindow::paper::{LeftRight, Reading};

use crate::contenders::{Contender, Told};
use crate::streams::Row;

/// Flink's shape: a state for each key and window, and a timer for each; every window is told.
pub struct Native {
    spec: WindowSpec,
    states: HashMap<(u32, i64), i64>,
    timers: BTreeMap<i64, Vec<u32>>,
    told: Told,
}

impl Native {
    pub fn new(spec: WindowSpec) -> Self {
        Self { spec, states: HashMap::new(), timers: BTreeMap::new(), told: Told::default() }
    }
}

impl Contender for Native {
    fn push(&mut self, rows: &[Row]) {
        for &(key, time, x) in rows {
            while let Some(timer) = self.timers.first_entry().filter(|timer| *timer.key() <= time) {
                let (end, keys) = timer.remove_entry();
                for key in keys {
                    self.told.add(self.states.remove(&(key, end)).unwrap());
                }
            }
            for end in self.spec.ends(time) {
                *self.states.entry((key, end)).or_insert_with(|| {
                    self.timers.entry(end).or_default().push(key);
                    0
                }) += i64::from(x);
            }
        }
    }

    fn told(&self) -> Told {
        self.told
    }
}

/// Native windows as one would write them for this stream alone: a ring of sums for each key, of
/// all windows that are open, whether they hold a record or not; every key is visited each slide.
pub struct Dense {
    size: i64,
    slide: i64,
    next: i64,
    keys: HashMap<u32, (VecDeque<i64>, i64)>,
    told: Told,
}

impl Dense {
    pub fn new(spec: WindowSpec) -> Self {
        let (size, slide) = (spec.size(), spec.slide());
        Self { size, slide, next: slide, keys: HashMap::new(), told: Told::default() }
    }
}

impl Contender for Dense {
    fn push(&mut self, rows: &[Row]) {
        let windows = usize::try_from(self.size / self.slide).unwrap();
        for &(key, time, x) in rows {
            while self.next <= time {
                let told = &mut self.told;
                self.keys.retain(|_, (sums, last)| {
                    told.add(sums.pop_front().unwrap());
                    sums.push_back(0);
                    *last + self.size > self.next
                });
                self.next += self.slide;
            }
            let start = time - time % self.slide;
            let (sums, last) =
                self.keys.entry(key).or_insert_with(|| (vec![0; windows].into(), start));
            *last = start;
            for sum in sums {
                *sum += i64::from(x);
            }
        }
    }

    fn told(&self) -> Told {
        self.told
    }
}

/// One partial sum a slice, merged anew for every window: Flink's SQL, Arroyo, Scotty.
pub struct Slices {
    size: i64,
    slide: i64,
    next: i64,
    keys: HashMap<u32, VecDeque<(i64, i64)>>,
    told: Told,
}

impl Slices {
    pub fn new(spec: WindowSpec) -> Self {
        let (size, slide) = (spec.size(), spec.slide());
        Self { size, slide, next: slide, keys: HashMap::new(), told: Told::default() }
    }
}

impl Contender for Slices {
    fn push(&mut self, rows: &[Row]) {
        for &(key, time, x) in rows {
            while self.next <= time {
                let told = &mut self.told;
                let next = self.next;
                self.keys.retain(|_, slices| {
                    while slices.front().is_some_and(|&(start, _)| start < next - self.size) {
                        slices.pop_front();
                    }
                    if !slices.is_empty() {
                        told.add(slices.iter().map(|&(_, sum)| sum).sum());
                    }
                    !slices.is_empty()
                });
                self.next += self.slide;
            }
            let start = time - time % self.slide;
            let slices = self.keys.entry(key).or_default();
            match slices.back_mut() {
                Some((last, sum)) if *last == start => *sum += i64::from(x),
                _ => slices.push_back((start, i64::from(x))),
            }
        }
    }

    fn told(&self) -> Told {
        self.told
    }
}

/// The paper's method, with two timers a record in two queues: in order of time they need no heap.
pub struct Paper {
    spec: WindowSpec,
    keys: HashMap<u32, LeftRight<Sum<i32>>>,
    enter: VecDeque<(i64, u32)>,
    leave: VecDeque<(i64, u32)>,
    told: Told,
}

impl Paper {
    pub fn new(spec: WindowSpec) -> Self {
        let (enter, leave) = (VecDeque::new(), VecDeque::new());
        Self { spec, keys: HashMap::new(), enter, leave, told: Told::default() }
    }

    fn next(&self) -> Option<(bool, i64)> {
        let front = |queue: &VecDeque<(i64, u32)>| queue.front().map_or(i64::MAX, |timer| timer.0);
        let (enter, leave) = (front(&self.enter), front(&self.leave));
        (enter.min(leave) < i64::MAX).then_some((enter <= leave, enter.min(leave)))
    }
}

impl Contender for Paper {
    fn push(&mut self, rows: &[Row]) {
        for (key, time, x) in rows {
            while let Some((enters, due)) = self.next().filter(|&(_, due)| due <= *time) {
                let queue = if enters { &mut self.enter } else { &mut self.leave };
                let (_, key) = queue.pop_front().unwrap();
                let told = &mut self.told;
                self.keys.get_mut(&key).unwrap().advance_to(due, |change| {
                    told.add(change.value.map_or(0, |sum| i64::from(sum.unwrap())));
                });
            }
            let told = &mut self.told;
            let windows = self.keys.entry(*key).or_insert_with(|| {
                LeftRight::new(Sum::<i32>::new(), self.spec, Reading::Corrected)
            });
            let _ = windows.push(*time, x, |change| {
                told.add(change.value.map_or(0, |sum| i64::from(sum.unwrap())));
            });
            let (enter, leave) = (self.spec.enter(*time).unwrap(), self.spec.leave(*time).unwrap());
            for (queue, due) in [(&mut self.enter, enter), (&mut self.leave, leave)] {
                if queue.back() != Some(&(due, *key)) {
                    queue.push_back((due, *key));
                }
            }
        }
    }

    fn told(&self) -> Told {
        self.told
    }
}
