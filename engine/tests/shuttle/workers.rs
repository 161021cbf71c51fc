//! The real core on shuttle's threads and the real mailboxes: a worker loop like the driver's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use shuttle::thread;
use streamwright::core::{
    Change, ComponentId, Coordinator, CoordinatorSink, Empty, Envelope, In, Message, Nanos, Now,
    Order, Report, Sink, TaskId, Worker, WorkerId,
};
use streamwright::{DeadLetter, Topology, WorkerFigures};

use super::mailbox::Mailbox;

enum Post {
    Batch(Envelope),
    Message(Message),
    Word(Order),
    Empty(Empty),
}

struct Office {
    mailboxes: Vec<Mailbox<Post>>,
    desk: Mailbox<Report>,
    /// Batches in each queue, by worker and component.
    queued: Vec<Vec<AtomicI64>>,
    capacity: i64,
}

struct Hands {
    office: Arc<Office>,
    me: WorkerId,
}

impl Sink for Hands {
    fn offer(&mut self, envelope: Envelope) -> Result<(), Envelope> {
        let (to, component) = (envelope.to, envelope.component);
        let mailbox = &self.office.mailboxes[to as usize];
        match mailbox.offer(component, self.me, Post::Batch(envelope)) {
            Ok(()) => {
                let queued = &self.office.queued[to as usize][component as usize];
                let now = queued.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(now <= self.office.capacity, "{now} batches in a queue");
                Ok(())
            }
            Err(Post::Batch(envelope)) => Err(envelope),
            Err(_) => unreachable!("a batch was offered"),
        }
    }

    fn send(&mut self, to: WorkerId, message: Message) {
        self.office.mailboxes[to as usize].post(Post::Message(message));
    }

    fn report(&mut self, report: Report, urgent: bool) {
        if urgent {
            self.office.desk.post(report);
        } else {
            self.office.desk.leave(report);
        }
    }

    fn recycle(&mut self, to: WorkerId, empty: Empty) {
        self.office.mailboxes[to as usize].leave(Post::Empty(empty));
    }

    fn consumed(&mut self, component: ComponentId) {
        self.office.queued[self.me as usize][component as usize].fetch_sub(1, Ordering::SeqCst);
        let mut wake = Vec::new();
        self.office.mailboxes[self.me as usize].consumed(component, &mut wake);
        for sender in wake {
            if sender != self.me {
                self.office.mailboxes[sender as usize].wake();
            }
        }
    }

    fn dead_letter(&mut self, letter: DeadLetter) {
        panic!("nothing fails here: {letter:?}");
    }

    fn enter(&mut self, _: TaskId) {}

    fn lap(&mut self, _: TaskId, _: u64) -> Nanos {
        0
    }
}

struct CoordinatorHands(Arc<Office>);

impl CoordinatorSink for CoordinatorHands {
    fn word(&mut self, to: WorkerId, word: Order) {
        self.0.mailboxes[to as usize].post(Post::Word(word));
    }

    fn recycle(&mut self, to: WorkerId, changes: Vec<Change>) {
        self.0.mailboxes[to as usize].leave(Post::Empty(Empty::Changes(changes)));
    }
}

/// Time moves by a nanosecond a step: no linger, time-out or timer ever comes due.
const A_LITTLE: Duration = Duration::from_millis(1);

/// Runs a topology to its end; the figures of its workers.
pub(crate) fn run(topology: Topology) -> Vec<WorkerFigures> {
    let plan = Arc::clone(topology.plan());
    let workers = plan.config.workers;
    let components = plan.components.len();
    let capacity = plan.config.queue;
    let office = Arc::new(Office {
        mailboxes: (0..workers).map(|_| Mailbox::new(components, capacity)).collect(),
        desk: Mailbox::new(0, 0),
        queued: (0..workers)
            .map(|_| (0..components).map(|_| AtomicI64::new(0)).collect())
            .collect(),
        capacity: i64::try_from(capacity).unwrap(),
    });
    let topology = Arc::new(topology);
    let threads: Vec<_> = (0..workers)
        .map(|me| {
            let (topology, office) = (Arc::clone(&topology), Arc::clone(&office));
            thread::spawn(move || work(&topology, &office, me))
        })
        .collect();
    coordinate(&topology, &office);
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn coordinate(topology: &Topology, office: &Arc<Office>) {
    let mut hands = CoordinatorHands(Arc::clone(office));
    let mut coordinator = Coordinator::new(topology, 0);
    let mut now = 1;
    coordinator.start(now, &mut hands);
    let mut reports = Vec::new();
    while !coordinator.finished() {
        office.desk.take(&mut reports);
        if reports.is_empty() {
            office.desk.park(A_LITTLE);
            continue;
        }
        for report in reports.drain(..) {
            coordinator.report(now, report, &mut hands);
        }
        now += 1;
        coordinator.tick(now, &mut hands);
    }
}

fn work(topology: &Topology, office: &Arc<Office>, me: WorkerId) -> WorkerFigures {
    let mut hands = Hands { office: Arc::clone(office), me };
    let mut worker = Worker::new(topology, me, 0, std::task::Waker::noop().clone());
    let mailbox = &office.mailboxes[me as usize];
    let mut posts = Vec::new();
    let mut now = Now { mono: 1, clock: 0 };
    loop {
        mailbox.take(&mut posts);
        let mut stopped = false;
        for post in posts.drain(..) {
            let input = match post {
                Post::Batch(envelope) => In::Batch(envelope),
                Post::Message(message) => In::Message(message),
                Post::Word(word) => In::Word(word),
                Post::Empty(empty) => In::Empty(empty),
            };
            now.mono += 1;
            stopped |= worker.step(now, input, &mut hands).unwrap().stopped;
        }
        if stopped {
            return worker.figures();
        }
        now.mono += 1;
        if !worker.step(now, In::Run, &mut hands).unwrap().ran {
            mailbox.park(A_LITTLE);
        }
    }
}
