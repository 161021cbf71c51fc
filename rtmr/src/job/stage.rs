//! The controller of a stage (figure 5): a pool of threads behind a queue, whose batch and pool
//! size follow the queue's length and the time of service.
//!
//! A pure state machine: the host tells it once a period what it saw, and does as it says.

use crate::error::{Error, positive};

/// Bounds and aims of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageSettings {
    /// Most threads.
    pub most_threads: u32,
    /// Most records of a batch.
    pub most_batch: u32,
    /// How long a batch may take, in seconds: what a record waits for its companions.
    pub batch_seconds: f64,
    /// The share of its time that a thread should be busy, above 0 and below 1.
    pub utilisation: f64,
    /// Periods in which a backlog should be worked off.
    pub drain: u32,
    /// Periods for which fewer threads must do before one is let go.
    pub patience: u32,
}

impl Default for StageSettings {
    fn default() -> Self {
        Self {
            most_threads: 16,
            most_batch: 4096,
            batch_seconds: 0.01,
            utilisation: 0.8,
            drain: 4,
            patience: 8,
        }
    }
}

/// What the stage should be for the next period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageSize {
    /// Threads of its pool.
    pub threads: u32,
    /// Records of a batch.
    pub batch: u32,
}

/// Decides the size of a stage once a period.
#[derive(Clone, Debug, PartialEq)]
pub struct StageController {
    settings: StageSettings,
    period: f64,
    size: StageSize,
    /// The queue at the end of the last period, and the smoothed time of service.
    queue: u64,
    service: Option<f64>,
    /// Periods for which fewer threads would have done, and the most of them that were needed.
    idle: u32,
    needed: u32,
}

impl StageController {
    /// A stage of one thread and batches of one, looked at every `period` seconds.
    ///
    /// # Errors
    /// Settings that are no numbers above 0, a utilisation that is not below 1, counts of 0.
    pub fn new(settings: StageSettings, period: f64) -> Result<Self, Error> {
        positive("period", period)?;
        positive("batch_seconds", settings.batch_seconds)?;
        let value = positive("utilisation", settings.utilisation)?;
        if value >= 1.0 {
            let rule = "must be below 1: a queue before threads that are always busy never ends";
            return Err(Error::Number { what: "utilisation", value, rule });
        }
        for (what, count) in [
            ("most_threads", settings.most_threads),
            ("most_batch", settings.most_batch),
            ("drain", settings.drain),
            ("patience", settings.patience),
        ] {
            if count == 0 {
                return Err(Error::Count { what, count: 0, rule: "must be 1 or more" });
            }
        }
        let size = StageSize { threads: 1, batch: 1 };
        Ok(Self { settings, period, size, queue: 0, service: None, idle: 0, needed: 0 })
    }

    /// Tells what was seen in a period: how many records wait at its end, how many were served,
    /// and for how many seconds all threads together were busy with them. O(1).
    ///
    /// Threads are added at once, when what arrives and the backlog's share need more; they are let
    /// go one by one, after `patience` periods that all needed fewer. A batch takes what waits for
    /// one thread, as far as that is done in time.
    ///
    /// # Errors
    /// A busy time that is no number from 0 on; nothing has changed then.
    #[allow(clippy::cast_sign_loss, reason = "both are 0 at least")]
    pub fn observe(&mut self, queue: u64, served: u64, busy: f64) -> Result<StageSize, Error> {
        crate::error::non_negative("busy", busy)?;
        let settings = self.settings;
        if served > 0 {
            let now = busy / served as f64;
            self.service = Some(self.service.map_or(now, |before| before / 2.0 + now / 2.0));
        }
        let arrived = served.saturating_add(queue).saturating_sub(self.queue);
        self.queue = queue;
        let Some(service) = self.service else {
            // Records wait and nothing is known: one more thread may find out.
            if queue > 0 {
                self.size.threads = (self.size.threads + 1).min(settings.most_threads);
            }
            return Ok(self.size);
        };
        let work = arrived as f64 + queue as f64 / f64::from(settings.drain);
        let wanted = (work * service / (self.period * settings.utilisation)).ceil();
        let most = f64::from(settings.most_threads);
        let wanted = if wanted >= most { settings.most_threads } else { (wanted as u32).max(1) };
        if wanted >= self.size.threads {
            (self.size.threads, self.idle, self.needed) = (wanted, 0, 0);
        } else {
            (self.idle, self.needed) = (self.idle + 1, self.needed.max(wanted));
            if self.idle >= settings.patience {
                self.size.threads = (self.size.threads - 1).max(self.needed);
                (self.idle, self.needed) = (0, 0);
            }
        }
        let waiting = queue.div_ceil(u64::from(self.size.threads)).max(1);
        let in_time = if service > 0.0 { settings.batch_seconds / service } else { f64::MAX };
        let in_time = if in_time >= 1.0 { in_time as u64 } else { 1 };
        let batch = waiting.min(in_time).min(u64::from(settings.most_batch));
        self.size.batch = batch as u32;
        Ok(self.size)
    }

    /// What the stage should be now.
    #[must_use]
    pub fn size(&self) -> StageSize {
        self.size
    }
}
