//! When to balance: forecasts, a gate against drift, a gate against small gains, a cool-down.
//!
//! It has no clock: the host calls [`Controller::tick`] once a period.

use crate::balance::{Band, Cluster, Entry, Options, Plan, plan};
use crate::error::{Error, non_negative};

/// What starts a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Load, from the first period after the warm-up on.
    #[default]
    Auto,
    /// A call of [`Controller::request`], at the next tick.
    OnDemand,
    /// Nothing.
    Off,
}

/// Settings of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// A node over this band starts a plan.
    pub band: Band,
    /// Plans bring nodes down to 1 + `release`·φ, so that a little noise does not start the next
    /// one. Above 0, at most 1.
    pub release: f64,
    /// α of the exponential smoothing of each entry's load.
    pub alpha: f64,
    /// What starts a plan.
    pub trigger: Trigger,
    /// Periods before the first plan that load starts, so that a start is not held up.
    pub warm_up: u64,
    /// Periods for which an entry that has moved stays where it is.
    pub cool_down: u64,
    /// How much load must have come to or gone from nodes since the last plan, in parts of the
    /// capacity of all, before the next.
    pub drift: f64,
    /// By what factor the largest utilisation of the nodes that a plan touches must fall.
    pub least_gain: f64,
}

impl Settings {
    /// Sensible settings for a band.
    #[must_use]
    pub fn new(band: Band) -> Self {
        Self {
            band,
            release: 0.5,
            alpha: 0.5,
            trigger: Trigger::Auto,
            warm_up: 2,
            cool_down: 4,
            drift: 0.01,
            least_gain: 1.02,
        }
    }
}

/// Watches the load of entries and plans their moves. What it plans it takes for done.
#[derive(Clone, Debug)]
pub struct Controller {
    settings: Settings,
    inner: Band,
    capacity: Vec<f64>,
    base: Vec<f64>,
    /// Owner, forecast and bytes of each.
    entries: Vec<Entry>,
    /// Load seen in this period.
    seen: Vec<f64>,
    /// The period in which an entry moved last.
    moved: Vec<Option<u64>>,
    period: u64,
    requested: bool,
    /// Node loads as the last plan left them.
    solved: Option<Vec<f64>>,
}

impl Controller {
    /// A controller of `entries` on nodes of these capacities; the entries' loads are what is
    /// expected of the first period.
    ///
    /// # Errors
    /// As [`Cluster::new`]; a setting that breaks its rule.
    pub fn new(
        settings: Settings,
        capacity: Vec<f64>,
        base: Vec<f64>,
        entries: Vec<Entry>,
    ) -> Result<Self, Error> {
        let part = |what, value: f64| {
            let rule = "must be above 0 and at most 1";
            let good = value > 0.0 && value <= 1.0;
            if good { Ok(()) } else { Err(Error::Number { what, value, rule }) }
        };
        part("release", settings.release)?;
        part("alpha", settings.alpha)?;
        non_negative("drift", settings.drift)?;
        non_negative("least_gain", settings.least_gain)?;
        Cluster::new(&capacity, &base, &entries)?;
        let inner = Band::new(settings.release * settings.band.phi(), settings.band.tau())?;
        let count = entries.len();
        Ok(Self {
            settings,
            inner,
            capacity,
            base,
            entries,
            seen: vec![0.0; count],
            moved: vec![None; count],
            period: 0,
            requested: false,
            solved: None,
        })
    }

    /// The entries as they are planned to be: owners, forecasts, bytes.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds load to an entry in this period. O(1).
    ///
    /// # Errors
    /// No such entry; a load that is no finite number from 0, or sums to none.
    pub fn observe(&mut self, entry: u32, load: f64) -> Result<(), Error> {
        let known = self.seen.len();
        let (what, rule) = ("the entry's index", "there is no such entry");
        let missing = Error::Count { what, count: entry as usize, rule };
        let seen = self.seen.get_mut(entry as usize).ok_or(missing)?;
        let sum = *seen + non_negative("load", load)?;
        if sum > f64::MAX / 1e6 / known as f64 {
            return Err(Error::Overflow { what: "loads" });
        }
        *seen = sum;
        Ok(())
    }

    /// Sets an entry's bytes. O(1).
    ///
    /// # Errors
    /// No such entry. Bytes of all that overflow are told by the next tick.
    pub fn set_bytes(&mut self, entry: u32, bytes: u64) -> Result<(), Error> {
        let (what, rule) = ("the entry's index", "there is no such entry");
        let missing = Error::Count { what, count: entry as usize, rule };
        self.entries.get_mut(entry as usize).ok_or(missing)?.bytes = bytes;
        Ok(())
    }

    /// Sets a node's capacity: 0 for a dead one, whose load is to leave; entries without any load
    /// (below [`Entry::LEAST_LOAD`]) are for the host to move. O(1).
    ///
    /// # Errors
    /// No such node; a capacity that is no finite number from 0.
    pub fn set_capacity(&mut self, node: u32, capacity: f64) -> Result<(), Error> {
        let (what, rule) = ("the node's index", "there is no such node");
        let missing = Error::Count { what, count: node as usize, rule };
        *self.capacity.get_mut(node as usize).ok_or(missing)? = non_negative("capacity", capacity)?;
        // What was solved was another cluster.
        self.solved = None;
        Ok(())
    }

    /// Asks for a plan at the next tick, whatever the trigger (but `Off`), warm-up and gates.
    pub fn request(&mut self) {
        self.requested = true;
    }

    /// Ends the period: takes its loads into the forecasts, and plans if there is reason to.
    ///
    /// O(nodes + entries), and a [`plan`] where there is one. The band of `options` is that of the
    /// settings. `None`: nothing is to be moved.
    ///
    /// # Errors
    /// As [`plan`] and [`Cluster::new`]; the loads of the period are taken in all the same.
    pub fn tick(&mut self, options: &Options<'_>) -> Result<Option<Plan>, Error> {
        self.period += 1;
        for (entry, seen) in self.entries.iter_mut().zip(&mut self.seen) {
            // In this form a constant load stays exactly what it is.
            entry.load += self.settings.alpha * (*seen - entry.load);
            *seen = 0.0;
        }
        let asked = std::mem::take(&mut self.requested);
        let auto = self.settings.trigger == Trigger::Auto && self.period > self.settings.warm_up;
        if self.settings.trigger == Trigger::Off || !(asked || auto) {
            return Ok(None);
        }
        let band = self.settings.band;
        let (base, movable) = self.split();
        let entries: Vec<Entry> = movable.iter().map(|&at| self.entries[at as usize]).collect();
        let cluster = Cluster::new(&self.capacity, &base, &entries)?;
        let loads = cluster.loads();
        let over = |(&p, &s): (&f64, &f64)| band.is_over(p, s);
        if !self.capacity.iter().zip(loads).any(over) || !(asked || self.has_drifted(loads)) {
            return Ok(None);
        }
        let mut plan = plan(&cluster, self.inner, options)?;
        let after = after(&plan, &cluster);
        let gain = gain(&plan, &self.capacity, loads, &after);
        if plan.moves.is_empty() || !(asked || gain >= self.settings.least_gain) {
            // Not tried again before something changes.
            self.solved = Some(loads.to_vec());
            return Ok(None);
        }
        for step in &mut plan.moves {
            step.entry = movable[step.entry as usize];
            self.entries[step.entry as usize].owner = step.to;
            self.moved[step.entry as usize] = Some(self.period);
        }
        if let crate::balance::Outcome::HotEntry(hot) = &mut plan.outcome {
            hot.iter_mut().for_each(|entry| *entry = movable[*entry as usize]);
        }
        self.solved = Some(after);
        Ok(Some(plan))
    }

    /// Loads that can't move, and the entries that can: those that are not cooling down.
    fn split(&self) -> (Vec<f64>, Vec<u32>) {
        let mut base = self.base.clone();
        let mut movable = Vec::with_capacity(self.entries.len());
        for (at, (entry, moved)) in (0_u32..).zip(self.entries.iter().zip(&self.moved)) {
            let cooling = |moved: u64| self.period - moved <= self.settings.cool_down;
            if moved.is_some_and(cooling) {
                base[entry.owner as usize] += entry.load;
            } else {
                movable.push(at);
            }
        }
        (base, movable)
    }

    /// True if the loads are not what the last plan left.
    fn has_drifted(&self, loads: &[f64]) -> bool {
        let Some(solved) = &self.solved else { return true };
        let gone: f64 = loads.iter().zip(solved).map(|(now, then)| (now - then).abs()).sum();
        gone > self.settings.drift * self.capacity.iter().sum::<f64>()
    }
}

fn after(plan: &Plan, cluster: &Cluster<'_>) -> Vec<f64> {
    let mut loads = cluster.loads().to_vec();
    for step in &plan.moves {
        let load = cluster.entries()[step.entry as usize].load;
        loads[step.from as usize] -= load;
        loads[step.to as usize] += load;
    }
    loads
}

/// The largest utilisation of the touched nodes before, over that after.
fn gain(plan: &Plan, capacity: &[f64], before: &[f64], after: &[f64]) -> f64 {
    let largest = |loads: &[f64]| {
        let touched = plan.moves.iter().flat_map(|step| [step.from, step.to]);
        let each = touched.map(|node| (loads[node as usize], capacity[node as usize]));
        each.map(|(s, p)| if s > 0.0 { s / p } else { 0.0 }).fold(0.0, f64::max)
    };
    let (before, after) = (largest(before), largest(after));
    // A dead node that is not empty yet is infinitely loaded, before and after.
    if before == after { 1.0 + f64::from(u8::from(before.is_infinite())) } else { before / after }
}
