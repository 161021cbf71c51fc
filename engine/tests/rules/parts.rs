//! Spouts and bolts of the tests, and the log of what they saw.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use streamwright::core::{Epoch, Nanos};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Poll, Spout, SpoutEmitter, TaskContext, Watermark,
};

/// A record, and its way so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    pub root: u64,
    pub key: u64,
    /// What happened to it: components and places, mixed.
    pub path: u64,
}

pub type Items = Vec<Item>;

/// One execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub node: u32,
    pub task: u32,
    pub epoch: Epoch,
    pub item: Item,
    pub at: Nanos,
    /// Crashes before it.
    pub life: usize,
}

/// One `close` or `flush`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    pub node: u32,
    pub task: u32,
    pub epoch: Epoch,
    pub mark: Watermark,
    pub life: usize,
}

#[derive(Debug, Default)]
struct Book {
    seen: Vec<Seen>,
    closes: Vec<Called>,
    flushes: Vec<Called>,
    stamps: Vec<(u32, u32, Epoch, Nanos)>,
    /// By node: the newest epoch that some task of it has closed, plus one.
    closed: HashMap<u32, Epoch>,
    closed_by_task: HashMap<(u32, u32), Epoch>,
    closed_everywhere: Epoch,
    window: u64,
    /// The first epoch of each incarnation but the first.
    lives: Vec<Epoch>,
    unsound: Option<String>,
}

/// What spouts and bolts saw, and what was wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Log {
    book: Arc<Mutex<Book>>,
    spent: Arc<AtomicU64>,
}

impl Log {
    fn with<T>(&self, f: impl FnOnce(&mut Book) -> T) -> T {
        f(&mut self.book.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// The call under way costs this much more.
    pub fn spend(&self, time: Nanos) {
        self.spent.fetch_add(time, Ordering::Relaxed);
    }

    pub fn take_spent(&self) -> Nanos {
        self.spent.swap(0, Ordering::Relaxed)
    }

    pub fn window(&self, window: u64) {
        self.with(|book| book.window = window);
    }

    pub fn closed_everywhere(&self, epoch: Epoch) {
        self.with(|book| book.closed_everywhere = epoch);
    }

    /// A crash: new instances go on at `epoch`.
    pub fn crash(&self, epoch: Epoch) {
        self.with(|book| {
            book.lives.push(epoch);
            book.closed.clear();
            book.closed_by_task.clear();
            book.closed_everywhere = epoch;
        });
    }

    pub fn stamp(&self, node: u32, task: u32, epoch: Epoch, at: Nanos) {
        self.with(|book| {
            if epoch >= book.closed_everywhere + book.window {
                let closed = book.closed_everywhere;
                book.unsound = Some(format!("spout stamps {epoch} when {closed} is not closed"));
            }
            book.stamps.push((node, task, epoch, at));
        });
    }

    pub fn execute(&self, mut seen: Seen) {
        self.with(|book| {
            seen.life = book.lives.len();
            if book.closed.get(&seen.node).is_some_and(|&closed| seen.epoch < closed) {
                book.unsound = Some(format!("a batch after its epoch was closed: {seen:?}"));
            }
            book.seen.push(seen);
        });
    }

    pub fn flush(&self, node: u32, task: u32, epoch: Epoch) {
        self.with(|book| {
            if book.closed_by_task.get(&(node, task)).is_some_and(|&closed| epoch < closed) {
                book.unsound = Some(format!("flush({epoch}) after close at {node}[{task}]"));
            }
            let life = book.lives.len();
            book.flushes.push(Called { node, task, epoch, mark: None, life });
        });
    }

    pub fn close(&self, node: u32, task: u32, epoch: Epoch, mark: Watermark) {
        self.with(|book| {
            let base = book.lives.last().copied().unwrap_or(0);
            let next = book.closed_by_task.entry((node, task)).or_insert(base);
            if *next != epoch {
                book.unsound = Some(format!("{node}[{task}] closes {epoch}, not {next}"));
            }
            *next = epoch + 1;
            let flushed = book.flushes.iter().rev().find(|f| f.node == node && f.task == task);
            if flushed.is_none_or(|f| f.epoch != epoch) {
                book.unsound = Some(format!("{node}[{task}] closes {epoch} without a flush"));
            }
            let all = book.closed.entry(node).or_default();
            *all = (*all).max(epoch + 1);
            let life = book.lives.len();
            book.closes.push(Called { node, task, epoch, mark, life });
        });
    }

    /// Fails if an epoch was closed too early, twice, out of order, or without a flush.
    pub fn sound(&self) {
        if let Some(what) = self.with(|book| book.unsound.take()) {
            panic!("{what}");
        }
    }

    pub fn seen(&self, node: u32) -> Vec<Seen> {
        self.with(|book| book.seen.iter().filter(|s| s.node == node).copied().collect())
    }

    /// Items that a node saw, in the order of the items.
    pub fn items(&self, node: u32) -> Vec<Item> {
        let mut items: Vec<Item> = self.seen(node).into_iter().map(|s| s.item).collect();
        items.sort_unstable();
        items
    }

    /// How often a node saw each root.
    pub fn roots(&self, node: u32) -> HashMap<u64, u64> {
        let mut roots = HashMap::new();
        self.seen(node).into_iter().for_each(|s| *roots.entry(s.item.root).or_default() += 1);
        roots
    }

    pub fn closes(&self, node: u32) -> Vec<Called> {
        self.with(|book| book.closes.iter().filter(|c| c.node == node).copied().collect())
    }

    pub fn flushes(&self, node: u32) -> Vec<Called> {
        self.with(|book| book.flushes.iter().filter(|c| c.node == node).copied().collect())
    }

    /// Spout, task, epoch and time of every record.
    pub fn stamps(&self) -> Vec<(u32, u32, Epoch, Nanos)> {
        self.with(|book| book.stamps.clone())
    }
}

type Out<'a> = SpoutEmitter<'a, Items>;
type Next = Box<dyn FnMut(&mut Out<'_>, u32) -> Poll + Send>;

/// A spout from a closure, which is told its task's number.
pub struct Source {
    log: Log,
    node: u32,
    task: u32,
    next: Next,
}

impl Source {
    pub fn new(
        log: &Log,
        node: u32,
        context: &TaskContext,
        next: impl FnMut(&mut Out<'_>, u32) -> Poll + Send + 'static,
    ) -> Result<Self, BoxError> {
        Ok(Source { log: log.clone(), node, task: context.index(), next: Box::new(next) })
    }

    /// `count` records, one a call, of roots `first + i` and keys below `keys`.
    pub fn count(
        log: &Log,
        node: u32,
        context: &TaskContext,
        count: u64,
        keys: u64,
    ) -> Result<Self, BoxError> {
        let mut i = 0;
        Source::new(log, node, context, move |out, task| {
            if i == count {
                return Poll::End;
            }
            let root = (u64::from(node) << 40) + (u64::from(task) << 32) + i;
            out.emit(Item { root, key: i % keys.max(1), path: 0 });
            i += 1;
            Poll::More
        })
    }
}

impl Spout for Source {
    type Out = Items;

    fn next(&mut self, out: &mut Out<'_>) -> Result<Poll, BoxError> {
        let before = out.room();
        let poll = (self.next)(out, self.task);
        for _ in out.room()..before {
            self.log.stamp(self.node, self.task, out.epoch(), out.now());
        }
        Ok(poll)
    }
}

type To<'a> = Emitter<'a, Items>;
type Work = Box<dyn FnMut(&Item, &mut To<'_>) -> Result<(), BoxError> + Send>;
type OnEpoch = Box<dyn FnMut(Epoch, Watermark, &mut To<'_>) + Send>;
type OnFlush = Box<dyn FnMut(Epoch, &mut To<'_>) -> Result<(), BoxError> + Send>;
type OnTimer = Box<dyn FnMut(Nanos, &mut To<'_>) + Send>;

/// A bolt from closures.
pub struct Node {
    log: Log,
    node: u32,
    task: u32,
    work: Work,
    flush: Option<OnFlush>,
    close: Option<OnEpoch>,
    timer: Option<OnTimer>,
}

impl Node {
    pub fn new(
        log: &Log,
        node: u32,
        context: &TaskContext,
        work: impl FnMut(&Item, &mut To<'_>) -> Result<(), BoxError> + Send + 'static,
    ) -> Self {
        let (log, task) = (log.clone(), context.index());
        Node { log, node, task, work: Box::new(work), flush: None, close: None, timer: None }
    }

    /// Takes everything, emits nothing.
    pub fn sink(log: &Log, node: u32, context: &TaskContext) -> Result<Self, BoxError> {
        Ok(Node::new(log, node, context, |_, _| Ok(())))
    }

    /// Hands every item on, `copies` times, its path extended by the node and the copy.
    pub fn pass(
        log: &Log,
        node: u32,
        context: &TaskContext,
        copies: u64,
    ) -> Result<Self, BoxError> {
        Ok(Node::new(log, node, context, move |item, out| {
            for copy in 0..copies {
                out.emit(Item { path: step(item.path, node, copy), ..*item });
            }
            Ok(())
        }))
    }

    pub fn on_flush(
        mut self,
        mut f: impl FnMut(Epoch, Watermark, &mut To<'_>) + Send + 'static,
    ) -> Self {
        self.flush = Some(Box::new(move |epoch, out| {
            f(epoch, None, out);
            Ok(())
        }));
        self
    }

    pub fn try_flush(
        mut self,
        f: impl FnMut(Epoch, &mut To<'_>) -> Result<(), BoxError> + Send + 'static,
    ) -> Self {
        self.flush = Some(Box::new(f));
        self
    }

    pub fn on_close(
        mut self,
        f: impl FnMut(Epoch, Watermark, &mut To<'_>) + Send + 'static,
    ) -> Self {
        self.close = Some(Box::new(f));
        self
    }

    pub fn on_timer(mut self, f: impl FnMut(Nanos, &mut To<'_>) + Send + 'static) -> Self {
        self.timer = Some(Box::new(f));
        self
    }
}

/// A path extended by a copy made at a node.
pub fn step(path: u64, node: u32, copy: u64) -> u64 {
    let x = path.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(node) << 8) ^ copy;
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1)
}

impl Bolt for Node {
    type Out = Items;

    fn flush(&mut self, epoch: Epoch, out: &mut To<'_>) -> Result<(), BoxError> {
        self.log.flush(self.node, self.task, epoch);
        if let Some(flush) = &mut self.flush {
            flush(epoch, out)?;
        }
        Ok(())
    }

    fn close(&mut self, epoch: Epoch, mark: Watermark, out: &mut To<'_>) -> Result<(), BoxError> {
        self.log.close(self.node, self.task, epoch, mark);
        if let Some(close) = &mut self.close {
            close(epoch, mark, out);
        }
        Ok(())
    }

    fn timer(&mut self, now: Nanos, out: &mut To<'_>) -> Result<(), BoxError> {
        if let Some(timer) = &mut self.timer {
            timer(now, out);
        }
        Ok(())
    }
}

impl Execute<Items> for Node {
    fn execute(&mut self, item: &Item, out: &mut To<'_>) -> Result<(), BoxError> {
        let (node, task, epoch, at) = (self.node, self.task, out.epoch(), out.now());
        self.log.execute(Seen { node, task, epoch, item: *item, at, life: 0 });
        (self.work)(item, out)
    }
}

/// Settings for small runs: short epochs, time-outs of 100 ms.
pub fn settings(workers: u32, change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.batch = 3;
    config.queue = 2;
    config.window = 2;
    config.max_pending = 16;
    config.epoch = streamwright::EpochEnd::Records(5);
    config.timeout = std::time::Duration::from_millis(100);
    config.linger = std::time::Duration::from_millis(1);
    change(&mut config);
    config
}
