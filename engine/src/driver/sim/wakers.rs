//! Wakers of spouts: a flag a worker, looked at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

/// The flags of one run.
#[derive(Debug)]
pub(super) struct Wakers {
    any: Arc<AtomicBool>,
    flags: Vec<Arc<Flag>>,
}

#[derive(Debug)]
struct Flag {
    woken: AtomicBool,
    any: Arc<AtomicBool>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.any.store(true, Ordering::Release);
    }
}

impl Wakers {
    pub(super) fn new(workers: u32) -> Self {
        let any = Arc::new(AtomicBool::new(false));
        let flag = |_| Arc::new(Flag { woken: AtomicBool::new(false), any: Arc::clone(&any) });
        Wakers { flags: (0..workers).map(flag).collect(), any }
    }

    pub(super) fn waker(&self, worker: u32) -> Waker {
        Waker::from(Arc::clone(&self.flags[worker as usize]))
    }

    /// Whether anyone was woken since the last look.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire) && self.any.swap(false, Ordering::AcqRel)
    }

    /// Workers whose flag is set, in order.
    pub(super) fn woken(&self) -> Vec<u32> {
        let set = |flag: &&Arc<Flag>| flag.woken.load(Ordering::Acquire);
        (0..).zip(&self.flags).filter(|(_, flag)| set(flag)).map(|(worker, _)| worker).collect()
    }

    /// Whether this worker was woken; clears its flag.
    pub(super) fn take(&self, worker: u32) -> bool {
        let woken = &self.flags[worker as usize].woken;
        woken.load(Ordering::Acquire) && woken.swap(false, Ordering::AcqRel)
    }
}
