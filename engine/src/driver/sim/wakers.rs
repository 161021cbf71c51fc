//! Wakers of spouts: a flag a seat, looked at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use super::post::Slot;

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
    pub(super) fn new() -> Self {
        Wakers { flags: Vec::new(), any: Arc::new(AtomicBool::new(false)) }
    }

    /// The waker of a seat, which may be the first of its number.
    pub(super) fn waker(&mut self, slot: Slot) -> Waker {
        let any = &self.any;
        let flag = || Arc::new(Flag { woken: AtomicBool::new(false), any: Arc::clone(any) });
        self.flags.resize_with(self.flags.len().max(slot as usize + 1), flag);
        Waker::from(Arc::clone(&self.flags[slot as usize]))
    }

    /// Whether anyone was woken since the last look.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire) && self.any.swap(false, Ordering::AcqRel)
    }

    /// Seats whose flag is set, in order.
    pub(super) fn woken(&self) -> Vec<Slot> {
        let set = |flag: &&Arc<Flag>| flag.woken.load(Ordering::Acquire);
        (0..).zip(&self.flags).filter(|(_, flag)| set(flag)).map(|(slot, _)| slot).collect()
    }

    /// Whether this one was woken; clears its flag.
    pub(super) fn take(&self, slot: Slot) -> bool {
        // A seat that never had a worker has no flag yet.
        let Some(Flag { woken, .. }) = self.flags.get(slot as usize).map(|flag| &**flag) else {
            return false;
        };
        woken.load(Ordering::Acquire) && woken.swap(false, Ordering::AcqRel)
    }
}
