//! The thread of one worker: takes its mail in, lets the core work, sleeps when there is nothing.

use std::sync::Arc;
use std::time::Duration;

use super::mailbox::Mailbox;
use super::meter::Meter;
use super::office::{Office, Post};
use crate::config::whole;
use crate::core::{
    ComponentId, Empty, Envelope, In, Message, Nanos, Report, Sink, TaskId, Worker, WorkerId,
};
use crate::driver::SLICE;
use crate::report::{DeadLetter, RunError, WorkerFigures, WorkerStats};

/// The longest sleep: a bound on how late a stopped clock is noticed.
const NAP: Duration = Duration::from_millis(500);

/// The core's hands in this thread.
struct Hands {
    office: Arc<Office>,
    me: WorkerId,
    meter: Meter,
    overrun: Nanos,
    wake: Vec<u32>,
    /// When the step has had its share of time.
    late_at: Nanos,
}

impl Sink for Hands {
    fn offer(&mut self, envelope: Envelope) -> Result<(), Envelope> {
        let (to, component) = (envelope.to, envelope.component);
        match self.office.mailbox(to).offer(component, self.me, Post::Batch(envelope)) {
            Ok(()) => Ok(()),
            Err(Post::Batch(envelope)) => Err(envelope),
            // `offer` gives back what it was given.
            Err(_) => unreachable!("a batch was offered"),
        }
    }

    fn send(&mut self, to: WorkerId, message: Message) {
        self.office.mailbox(to).post(Post::Message(message));
    }

    fn report(&mut self, report: Report, urgent: bool) {
        self.office.desk().report(report, urgent);
    }

    fn recycle(&mut self, to: WorkerId, empty: Empty) {
        self.office.mailbox(to).leave(Post::Empty(empty));
    }

    fn consumed(&mut self, component: ComponentId) {
        self.office.mailbox(self.me).consumed(component, &mut self.wake);
        for sender in self.wake.drain(..) {
            if sender != self.me {
                self.office.mailbox(sender).wake();
            }
        }
    }

    fn dead_letter(&mut self, letter: DeadLetter) {
        self.office.desk().letter(letter);
    }

    fn enter(&mut self, task: TaskId) {
        let now = self.office.watch.enter(self.me, task);
        self.meter.enter(now);
    }

    fn late(&mut self, _: u64) -> bool {
        self.office.watch.mono() >= self.late_at
    }

    fn lap(&mut self, task: TaskId, _: u64) -> Nanos {
        let wall = self.office.watch.leave(self.me);
        let cost = self.meter.lap(wall);
        if wall > self.overrun {
            self.office.desk().overran(task, wall);
        }
        cost
    }
}

/// Draws how many tuples pass before the next one is lost, at `ppm` in a million.
struct Loss {
    state: u64,
    log_keep: f64,
}

impl Loss {
    fn new(ppm: u32, seed: u64) -> Option<Self> {
        let keep = 1.0 - f64::from(ppm) / 1e6;
        (ppm > 0).then(|| Loss { state: seed, log_keep: keep.ln() })
    }

    /// Geometric: ⌊ln U / ln(1 − p)⌋.
    fn skip(&mut self) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        #[allow(clippy::cast_precision_loss)]
        let unit = ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let skip = (unit.ln() / self.log_keep) as usize;
        skip
    }
}

/// Runs a worker until it is told to stop.
pub(crate) fn run(
    worker: &mut Worker,
    office: &Arc<Office>,
    me: WorkerId,
) -> Result<(WorkerFigures, WorkerStats), RunError> {
    let config = &office.plan.config;
    let mut loss = Loss::new(config.drop_ppm, config.seed ^ (u64::from(me) << 48) ^ 0xd509);
    let mut hands = Hands {
        office: Arc::clone(office),
        me,
        meter: Meter::default(),
        overrun: whole(config.overrun),
        wake: Vec::new(),
        late_at: 0,
    };
    let mailbox = office.mailbox(me);
    let mut posts = Vec::with_capacity(Mailbox::<Post>::ROOM);
    let mut times = WorkerStats::default();
    let mut awake_since = office.watch.mono();
    let mut left = 0;
    loop {
        mailbox.take(&mut posts);
        // Here and nowhere else: see `live`.
        let asked = office.live.asked();
        if asked != left {
            left = asked;
            office.live.leave(me, asked, sample(worker, times, awake_since, office));
        }
        let mut stopped = false;
        for post in posts.drain(..) {
            let input = match post {
                Post::Batch(mut envelope) => {
                    if let Some(loss) = &mut loss {
                        envelope.body.lose(&mut || loss.skip());
                    }
                    In::Batch(envelope)
                }
                Post::Message(message) => In::Message(message),
                Post::Word(order) => In::Word(order),
                Post::Empty(empty) => In::Empty(empty),
                Post::Wake => In::Wake,
            };
            let now = office.watch.now();
            office.watch.begin(me, now.mono);
            stopped |= worker.step(now, input, &mut hands)?.stopped;
        }
        if stopped {
            break;
        }
        let now = office.watch.now();
        office.watch.begin(me, now.mono);
        hands.late_at = now.mono.saturating_add(SLICE);
        let status = worker.step(now, In::Run, &mut hands)?;
        office.watch.end(me);
        if status.ran {
            continue;
        }
        let now = office.watch.mono();
        times.busy += Duration::from_nanos(now.saturating_sub(awake_since));
        let nap = status
            .wake_at
            .map_or(NAP, |at| Duration::from_nanos(at.saturating_sub(now).max(1000)).min(NAP));
        mailbox.park(nap);
        awake_since = office.watch.mono();
        let slept = Duration::from_nanos(awake_since.saturating_sub(now));
        if status.blocked {
            times.blocked += slept;
        } else {
            times.idle += slept;
        }
    }
    Ok(sample(worker, times, awake_since, office))
}

/// The figures of a worker so far, which has been awake since that time.
fn sample(
    worker: &mut Worker,
    mut times: WorkerStats,
    awake_since: Nanos,
    office: &Office,
) -> (WorkerFigures, WorkerStats) {
    let now = office.watch.mono();
    times.busy += Duration::from_nanos(now.saturating_sub(awake_since));
    let figures = worker.figures();
    times.outbox_peak = figures.outbox_peak;
    (figures, times)
}
