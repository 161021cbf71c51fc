//! Chunks on their way from the reader thread to the spout, and empty again on their way back.
//!
//! A bounded channel with a return path: a fixed number of buffers goes round, so nothing is
//! allocated once they have grown, and a reader whose buffers are all out waits. The taking side
//! never waits; it leaves a waker.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::{fmt, io};

use super::{InputError, Source};

/// Whole lines, and pieces of lines that were too long.
pub(super) struct Chunk {
    /// The buffer, all of it initialised.
    pub(super) bytes: Vec<u8>,
    /// Bytes of the buffer that are settled.
    pub(super) len: usize,
    /// Where pieces end that no line end ends.
    pub(super) cuts: Vec<usize>,
}

impl fmt::Debug for Chunk {
    /// Without the bytes: there may be a megabyte of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").field("len", &self.len).finish_non_exhaustive()
    }
}

/// How the reading ended: whether the file shrank, or why it failed.
pub(super) type Outcome = Result<bool, InputError>;

/// What the taking side finds.
pub(super) enum Next {
    Chunk(Chunk),
    Idle,
    End(Outcome),
}

/// The reader's end.
pub(super) struct Filler {
    feed: Arc<Feed>,
    input: Source,
}

/// The spout's end.
#[derive(Debug)]
pub(super) struct Taker(Arc<Feed>);

/// A feed of `chunks` buffers of `size` bytes, filled from `input`.
pub(super) fn feed(input: Source, chunks: usize, size: usize) -> (Filler, Taker) {
    let state = State {
        ready: VecDeque::with_capacity(chunks),
        spare: Vec::with_capacity(chunks),
        unmade: chunks,
        end: None,
        abandoned: false,
        idle: false,
        waker: None,
    };
    let feed = Arc::new(Feed { size, state: Mutex::new(state), returned: Condvar::new() });
    (Filler { feed: Arc::clone(&feed), input }, Taker(feed))
}

#[derive(Debug)]
struct Feed {
    size: usize,
    state: Mutex<State>,
    /// A buffer has come back, or the taker has gone.
    returned: Condvar,
}

#[derive(Debug)]
struct State {
    ready: VecDeque<Chunk>,
    spare: Vec<Chunk>,
    /// Buffers not made yet: a short input needs only one.
    unmade: usize,
    end: Option<Outcome>,
    abandoned: bool,
    /// The taker found nothing and has not been woken since.
    idle: bool,
    waker: Option<Waker>,
}

impl State {
    fn has_news(&self) -> bool {
        !self.ready.is_empty() || self.end.is_some()
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of others runs under the lock, so the state is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, then wakes an idle taker, outside the lock that it may want.
    fn announce(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.clone().filter(|_| state.idle && state.has_news());
        state.idle &= waker.is_none();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Filler {
    /// An empty buffer; waits for one. `None` if the taker has gone.
    pub(super) fn spare(&self) -> Option<Chunk> {
        let mut state = self.feed.lock();
        loop {
            if state.abandoned {
                return None;
            }
            if let Some(chunk) = state.spare.pop() {
                return Some(chunk);
            }
            if state.unmade > 0 {
                state.unmade -= 1;
                drop(state);
                return Some(Chunk { bytes: vec![0; self.feed.size], len: 0, cuts: Vec::new() });
            }
            state = self.feed.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn send(&self, chunk: Chunk) {
        self.feed.announce(|state| state.ready.push_back(chunk));
    }

    /// Ends the feed: the chunks sent before come first.
    pub(super) fn finish(self, outcome: Outcome) {
        self.feed.announce(|state| state.end = Some(outcome));
    }

    /// Whether nobody will take what is sent.
    pub(super) fn is_abandoned(&self) -> bool {
        self.feed.lock().abandoned
    }
}

impl Drop for Filler {
    /// A reader that dies must not pass for one that reached the end.
    fn drop(&mut self) {
        let cause = io::Error::other("the reader thread ended early");
        let input = self.input.clone();
        self.feed.announce(|state| {
            state.end.get_or_insert(Err(InputError::Read { input, at: 0, cause }));
        });
    }
}

impl Taker {
    /// The next chunk, if there is one. The outcome is given once.
    pub(super) fn next(&self) -> Next {
        let mut state = self.0.lock();
        if let Some(chunk) = state.ready.pop_front() {
            return Next::Chunk(chunk);
        }
        match state.end.take() {
            Some(outcome) => Next::End(outcome),
            None => {
                state.idle = true;
                Next::Idle
            }
        }
    }

    /// Gives a drained chunk back to the reader.
    pub(super) fn give_back(&self, mut chunk: Chunk) {
        chunk.len = 0;
        chunk.cuts.clear();
        self.0.lock().spare.push(chunk);
        self.0.returned.notify_one();
    }

    /// Sets who is woken by news after an [`Next::Idle`]; at once if there is news already.
    pub(super) fn set_waker(&self, waker: Waker) {
        self.0.announce(|state| {
            state.idle |= state.has_news();
            state.waker = Some(waker);
        });
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        self.0.returned.notify_one();
    }
}
