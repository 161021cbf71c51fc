//! Cloned plates, the paper's application: one plate seen at two places too far apart for the
//! time between, so that one of the two must be a forgery.

use crate::error::{Error, positive};
use crate::job::{Mapper, Reducer, State, Timed};
use crate::rng::SplitMix64;

/// A plate seen by a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sighting {
    /// The plate.
    pub plate: u64,
    /// The camera's site.
    pub site: u32,
    /// When, in seconds.
    pub time: u64,
}

/// A suspicion: two sightings that no one car can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Suspect {
    /// The plate.
    pub plate: u64,
    /// The earlier sighting, site and time; of two at one time that of the lower site.
    pub first: (u32, u64),
    /// The other one.
    pub second: (u32, u64),
}

/// Sites on a square grid, and how fast a car can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roads {
    side: u32,
    /// Seconds from one site to the next.
    step: f64,
    longest: u64,
}

impl Roads {
    /// `side`² sites, `metres` apart, and cars of at most `speed` metres a second.
    ///
    /// # Errors
    /// Distances or speeds that are no numbers above 0; a `side` of 0 or over 65 535.
    pub fn new(side: u32, metres: f64, speed: f64) -> Result<Self, Error> {
        if !(1..1 << 16).contains(&side) {
            let rule = "must be 1 to 65535";
            return Err(Error::Count { what: "sites a side", count: side as usize, rule });
        }
        let step =
            positive("seconds a step", positive("metres", metres)? / positive("speed", speed)?)?;
        let mut roads = Self { side, step, longest: 0 };
        roads.longest = roads.least_time(0, side * side - 1);
        Ok(roads)
    }

    /// How many sites there are.
    #[must_use]
    pub fn sites(&self) -> u32 {
        self.side * self.side
    }

    /// T(a, b): the least whole seconds from one site to another, as the crow flies.
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "a distance is 0 at least")]
    pub fn least_time(&self, a: u32, b: u32) -> u64 {
        let x = f64::from((a % self.side).abs_diff(b % self.side));
        let y = f64::from((a / self.side).abs_diff(b / self.side));
        ((x * x + y * y).sqrt() * self.step).ceil() as u64
    }

    /// `T_max`, the longest of all: sightings further apart in time prove nothing.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Whether one car cannot have been seen so.
    #[must_use]
    pub fn impossible(&self, a: (u32, u64), b: (u32, u64)) -> bool {
        a.0 != b.0 && a.1.abs_diff(b.1) < self.least_time(a.0, b.0)
    }
}

/// Map: a sighting by its plate.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPlate;

impl Mapper for ByPlate {
    type In = Sighting;
    type Key = u64;
    type Value = u32;

    fn map(&self, seen: &Sighting, emit: &mut impl FnMut(u64, u64, u32)) {
        emit(seen.plate, seen.time, seen.site);
    }
}

/// Reduce: each sighting against those of the same plate in its history.
#[derive(Clone, Copy, Debug)]
pub struct CloneSearch(pub Roads);

impl Reducer for CloneSearch {
    type Key = u64;
    type Value = u32;
    type Acc = ();
    type Out = Suspect;

    const LISTS: bool = true;

    fn zero(&self) {}

    fn add(&self, (): &mut (), _: &u32) {}

    fn merge(&self, (): &mut (), (): ()) {}

    /// O(log n) and the sightings within `T_max` of this one.
    fn arrive(
        &self,
        &plate: &u64,
        time: u64,
        &site: &u32,
        history: &[Timed<u32>],
        emit: &mut impl FnMut(Suspect),
    ) {
        let from = time.saturating_sub(self.0.longest());
        let begin = history.partition_point(|seen| seen.time < from);
        for seen in &history[begin..] {
            if seen.time > time.saturating_add(self.0.longest()) {
                break;
            }
            let (old, new) = ((seen.value, seen.time), (site, time));
            if self.0.impossible(old, new) {
                let swap = (old.1, old.0) > (new.1, new.0);
                let (first, second) = if swap { (new, old) } else { (old, new) };
                emit(Suspect { plate, first, second });
            }
        }
    }

    /// Suspects are told as they come; the history of a plate is no result.
    fn result(&self, _: &u64, _: &State<u32, ()>) -> Option<Suspect> {
        None
    }
}

/// Plates of cars that drive between neighbouring sites, some of them copied.
#[derive(Clone, Debug)]
pub struct Traffic {
    rng: SplitMix64,
    roads: Roads,
    /// By car: its site, and when it can be at the next.
    cars: Vec<(u32, u64)>,
    clock: u64,
    a_second: u32,
    copies_in: u64,
    seen: u64,
    /// Clones that were made on purpose.
    injected: u64,
    paper: bool,
}

impl Traffic {
    /// `cars` cars, `a_second` sightings a second, and one in `copies_in` of them a copy of a plate
    /// at the far end of the grid; none for 0.
    ///
    /// Plates are 2²⁰x + t with x in 1 to 95, below 10⁸; see [`paper`](Self::paper).
    ///
    /// # Errors
    /// No car or no sighting a second.
    pub fn new(
        roads: Roads,
        cars: u32,
        a_second: u32,
        copies_in: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        for (what, count) in [("cars", cars), ("sightings a second", a_second)] {
            if count == 0 {
                return Err(Error::Count { what, count: 0, rule: "must be 1 or more" });
            }
        }
        let mut rng = SplitMix64::new(seed);
        let cars = (0..cars).map(|_| (rng.below(roads.sites().into()) as u32, 0)).collect();
        let (clock, seen, injected) = (roads.longest(), 0, 0);
        Ok(Self { rng, roads, cars, clock, a_second, copies_in, seen, injected, paper: false })
    }

    /// With x in 1 to 100, as the paper has it: plates up to 1.06 · 10⁸.
    #[must_use]
    pub fn paper(mut self) -> Self {
        self.paper = true;
        self
    }

    /// Clones made on purpose so far.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.injected
    }

    /// The plate of a car: t from its number, x from that and what is left.
    fn plate(&self, car: usize) -> u64 {
        let (t, x) = (car as u64 & 0xF_FFFF, car as u64 >> 20);
        let most = if self.paper { 100 } else { 94 };
        ((x + t.wrapping_mul(0x9E37_79B9)) % most + 1) * (1 << 20) + t
    }
}

impl Iterator for Traffic {
    type Item = Sighting;

    fn next(&mut self) -> Option<Sighting> {
        self.seen += 1;
        if self.seen.is_multiple_of(u64::from(self.a_second)) {
            self.clock += 1;
        }
        let car = self.rng.index(self.cars.len());
        let plate = self.plate(car);
        let (site, ready) = self.cars[car];
        let copied = self.copies_in > 0 && self.rng.below(self.copies_in) == 0;
        // A copy is seen where the car cannot be: at the opposite site, now.
        if copied && ready > 0 {
            let other = self.roads.sites() - 1 - site;
            self.injected += u64::from(self.roads.impossible((site, ready), (other, ready)));
            return Some(Sighting { plate, site: other, time: ready });
        }
        let side = self.roads.side;
        let next = match self.rng.below(4) {
            0 if site % side + 1 < side => site + 1,
            1 if site % side > 0 => site - 1,
            2 if site / side + 1 < side => site + side,
            3 if site / side > 0 => site - side,
            _ => site,
        };
        let time = self.clock.max(ready + self.roads.least_time(site, next));
        self.cars[car] = (next, time);
        Some(Sighting { plate, site: next, time })
    }
}
