//! When to reschedule: the paper's trigger with ε and τ, and what it lacks.

/// What the trigger says of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Not yet: the spread has been over ε for so long.
    Hold {
        /// Time since the first sample over ε without one at or under it; 0 if there is none.
        above_for: u64,
    },
    /// Reschedule.
    Fire {
        /// Largest less smallest load.
        spread: f64,
        /// Time that it has been over ε.
        held: u64,
    },
    /// It has fired lately.
    Cooling {
        /// When it may fire again.
        until: u64,
    },
    /// It has fired, and the spread has not been down to the release level since.
    Unreleased {
        /// Largest less smallest load.
        spread: f64,
    },
}

/// What is wrong with a trigger or a sample.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TriggerError {
    /// ε or the release level is no number from 0 on, or the release level is over ε.
    #[error("levels need 0 <= release <= epsilon, both finite")]
    Levels,
    /// A period without length: every sample would come after a gap, and it would never fire.
    #[error("the period between samples must be longer than 0")]
    Period,
    /// A load is no finite number from 0 on. The sample is ignored.
    #[error("the load of node {0} is no finite number from 0 on: drop the sample")]
    Load(usize),
    /// A sample from before the last one. It is ignored.
    #[error("a sample of time {now} after one of time {last}")]
    Backwards {
        /// Its time.
        now: u64,
        /// The last time.
        last: u64,
    },
}

/// Fires when the spread of loads has been over ε at every sample for τ (section 4.2).
///
/// The paper's: ε = 20 percentage points of CPU, τ = 80 s, no release level, no cool-down. Pure:
/// the caller tells the time, in any unit. The clock starts anew at a sample at or under ε, at a
/// change of members, and after a gap of more than twice the period between samples.
///
/// ```
/// use tsaw::{Decision, Trigger};
///
/// let mut trigger = Trigger::new(20.0, 80)?.with_period(5)?.with_cooldown(300);
/// for now in (0..80).step_by(5) {
///     assert_eq!(trigger.observe(now, &[75.0, 40.0], 1)?, Decision::Hold { above_for: now });
/// }
/// assert_eq!(trigger.observe(80, &[75.0, 40.0], 1)?, Decision::Fire { spread: 35.0, held: 80 });
/// assert_eq!(trigger.observe(85, &[75.0, 40.0], 1)?, Decision::Cooling { until: 380 });
/// # Ok::<(), tsaw::TriggerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trigger {
    epsilon: f64,
    tau: u64,
    release: Option<f64>,
    cooldown: u64,
    period: Option<u64>,
    last: Option<u64>,
    members: Option<u64>,
    above_since: Option<u64>,
    cooling_until: Option<u64>,
    released: bool,
}

impl Trigger {
    /// With ε in the unit of the loads and τ in the unit of time.
    ///
    /// # Errors
    ///
    /// [`TriggerError::Levels`] if ε is no number from 0 on.
    pub fn new(epsilon: f64, tau: u64) -> Result<Self, TriggerError> {
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(TriggerError::Levels);
        }
        Ok(Self {
            epsilon,
            tau,
            release: None,
            cooldown: 0,
            period: None,
            last: None,
            members: None,
            above_since: None,
            cooling_until: None,
            released: true,
        })
    }

    /// After firing, waits for a spread of at most `release` before the clock may start again.
    ///
    /// # Errors
    ///
    /// [`TriggerError::Levels`] if that is no number from 0 to ε.
    pub fn with_release(self, release: f64) -> Result<Self, TriggerError> {
        if !(0.0..=self.epsilon).contains(&release) {
            return Err(TriggerError::Levels);
        }
        Ok(Self { release: Some(release), ..self })
    }

    /// After firing, is quiet for that long.
    #[must_use]
    pub fn with_cooldown(self, cooldown: u64) -> Self {
        Self { cooldown, ..self }
    }

    /// Expects a sample every `period`, and starts the clock anew after a gap of over two.
    ///
    /// # Errors
    ///
    /// [`TriggerError::Period`] for 0.
    pub fn with_period(self, period: u64) -> Result<Self, TriggerError> {
        if period == 0 {
            return Err(TriggerError::Period);
        }
        Ok(Self { period: Some(period), ..self })
    }

    /// Takes a sample: the time, the loads of the live nodes, and a number that changes when the
    /// members of the cluster do. Without loads the spread is 0.
    ///
    /// A change of members also ends the wait for the release level, as the loads of before are
    /// no measure any more; the cool-down goes on.
    ///
    /// # Errors
    ///
    /// A load that is no finite number from 0 on, or a sample older than the last: the sample is
    /// ignored.
    pub fn observe(
        &mut self,
        now: u64,
        loads: &[f64],
        members: u64,
    ) -> Result<Decision, TriggerError> {
        if let Some(wrong) = loads.iter().position(|load| !(0.0..=f64::MAX).contains(load)) {
            return Err(TriggerError::Load(wrong));
        }
        if let Some(last) = self.last.filter(|&last| now < last) {
            return Err(TriggerError::Backwards { now, last });
        }
        let gap = self.last.map_or(0, |last| now - last);
        let changed = self.members.is_some_and(|known| known != members);
        if changed || self.period.is_some_and(|period| gap > period.saturating_mul(2)) {
            self.above_since = None;
        }
        self.released |= changed;
        (self.last, self.members) = (Some(now), Some(members));
        let most = loads.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = if loads.is_empty() { 0.0 } else { most - least };
        self.released |= self.release.is_none_or(|release| spread <= release);
        Ok(self.decide(now, spread))
    }

    fn decide(&mut self, now: u64, spread: f64) -> Decision {
        if spread <= self.epsilon {
            self.above_since = None;
        }
        if let Some(until) = self.cooling_until.filter(|&until| now < until) {
            self.above_since = None;
            return Decision::Cooling { until };
        }
        if spread <= self.epsilon {
            return Decision::Hold { above_for: 0 };
        }
        if !self.released {
            return Decision::Unreleased { spread };
        }
        let held = now - *self.above_since.get_or_insert(now);
        if held < self.tau {
            return Decision::Hold { above_for: held };
        }
        self.above_since = None;
        self.released = self.release.is_none();
        self.cooling_until = Some(now.saturating_add(self.cooldown));
        Decision::Fire { spread, held }
    }
}
