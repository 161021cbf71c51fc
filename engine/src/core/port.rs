//! One output stream of a component at one worker: the buffer that user code emits into, the edges
//! it is routed to, and the roots that were born here.

use core::any::Any;
use core::fmt;

use acker::{Delta, RootId};

use super::aside::{Aside, route_by_epoch};
use super::book::{Book, Due};
use super::combine::Absorb;
use super::lineage;
use super::route::{Edge, Tags};
use super::shared::Shared;
use super::{EdgeId, Epoch, Nanos, Plan, TaskId, WorkerId};
use crate::batch::{Batch, Loose, Places, cut};
use crate::grouping::CopyItem;
use crate::topology::attach;

/// A root's attempt, and the ids that were consumed and produced for it and not yet told.
#[derive(Clone, Debug)]
pub struct Run {
    /// The attempt.
    pub track: RootId,
    /// Who tracks it.
    pub(crate) owner: WorkerId,
    /// Ids consumed and produced, XORed: told whole, so none is told apart from the other.
    pub(crate) untold: Delta,
    /// Failed or partly lost: not to be acked.
    pub(crate) tainted: bool,
    /// A root that has failed before: combiners let it travel alone.
    pub(crate) alone: bool,
}

impl Run {
    pub(crate) fn new(track: RootId, owner: WorkerId, untold: Delta) -> Self {
        Run { track, owner, untold, tainted: false, alone: false }
    }

    /// What hangs from an id of this run.
    pub(crate) fn child(&self, id: Delta) -> Self {
        Run { track: self.track, owner: self.owner, untold: id, tainted: false, alone: self.alone }
    }
}

/// Tuples up to `end` (exclusive) hang from run `run`; they start where the span before ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) run: u32,
    pub(crate) end: u32,
}

/// A stream's buffer, edges and roots.
pub struct Port<B: Batch> {
    pub(crate) items: B,
    pub(crate) spans: Vec<Span>,
    /// Exactly once: the lineage of each finished item.
    pub(crate) lineages: Vec<u64>,
    /// This stream, as lineages know it.
    pub(crate) origin: u64,
    /// Items of finished tuples; those after it belong to the call under way.
    pub(crate) done: usize,
    /// Buffered records over the size limit: place and size.
    pub(crate) oversize: Vec<(usize, usize)>,
    /// Items and bytes at which the buffer is due to be routed.
    pub(crate) batch: usize,
    pub(crate) batch_bytes: usize,
    pub(crate) emitted: u64,
    pub(crate) keep: Option<CopyItem<B>>,
    pub(crate) copy: Option<CopyItem<B>>,
    pub(crate) edges: Vec<Edge<B>>,
    /// Combining edges.
    pub(crate) combiners: Vec<Box<dyn Absorb<B>>>,
    pub(crate) book: Book<B>,
    /// What releases of tickets emit, until their call has succeeded.
    pub(crate) side: Option<Box<Aside<B>>>,
}

impl<B: Batch> Drop for Port<B> {
    fn drop(&mut self) {
        cut(&mut self.items, 0);
    }
}

impl<B: Batch> Default for Port<B> {
    fn default() -> Self {
        Port {
            items: B::default(),
            spans: Vec::new(),
            lineages: Vec::new(),
            origin: 0,
            done: 0,
            oversize: Vec::new(),
            batch: 1,
            batch_bytes: 1,
            emitted: 0,
            keep: None,
            copy: None,
            edges: Vec::new(),
            combiners: Vec::new(),
            book: Book::default(),
            side: None,
        }
    }
}

impl<B: Batch> fmt::Debug for Port<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("edges", &self.edges.len()).finish_non_exhaustive()
    }
}

/// All output ports of a component.
pub trait Ports: Default + Send {
    /// Books what was emitted since the last tuple to run `run` of the input. Returns whether the
    /// buffer is due to be routed.
    fn finish_tuple(&mut self, run: u32, tracked: bool) -> bool;
    /// Forgets what was emitted since the last tuple.
    fn rollback(&mut self);
    /// Items emitted since the last tuple, on each stream, mixed: equal where the numbers are.
    fn counts(&self) -> u64;
    /// Gives the items that the last tuple led to their lineages.
    fn descend(&mut self, parent: u64);
    /// Visits each port.
    fn each(&mut self, f: &mut dyn FnMut(usize, &mut dyn AnyPort));
    /// Gives each port the edges of its stream.
    fn attach(&mut self, outgoing: &[(u32, Box<dyn Any + Send + Sync>)], plan: &Plan, me: WorkerId);
}

impl Ports for () {
    fn finish_tuple(&mut self, _: u32, _: bool) -> bool {
        false
    }
    fn rollback(&mut self) {}
    fn counts(&self) -> u64 {
        0
    }
    fn descend(&mut self, _: u64) {}
    fn each(&mut self, _: &mut dyn FnMut(usize, &mut dyn AnyPort)) {}
    fn attach(&mut self, _: &[(u32, Box<dyn Any + Send + Sync>)], _: &Plan, _: WorkerId) {}
}

impl<B: Batch> Ports for Port<B> {
    #[inline]
    fn finish_tuple(&mut self, run: u32, tracked: bool) -> bool {
        let len = self.items.len();
        if len > self.done {
            self.emitted += (len - self.done) as u64;
            self.done = len;
            if tracked {
                let end = u32::try_from(len).unwrap_or(u32::MAX);
                match self.spans.last_mut() {
                    Some(span) if span.run == run => span.end = end,
                    _ => self.spans.push(Span { run, end }),
                }
            }
        }
        len >= self.batch || self.items.size() >= self.batch_bytes
    }

    fn rollback(&mut self) {
        cut(&mut self.items, self.done);
        self.oversize.clear();
    }

    #[inline]
    fn counts(&self) -> u64 {
        (self.items.len() - self.done) as u64
    }

    #[inline]
    fn descend(&mut self, parent: u64) {
        let first = self.lineages.len();
        let origin = self.origin;
        let places = 0..(self.items.len() - first) as u64;
        self.lineages.extend(places.map(|place| lineage::child(parent, origin, place)));
    }

    fn each(&mut self, f: &mut dyn FnMut(usize, &mut dyn AnyPort)) {
        f(0, self);
    }

    fn attach(
        &mut self,
        outgoing: &[(u32, Box<dyn Any + Send + Sync>)],
        plan: &Plan,
        me: WorkerId,
    ) {
        attach(self, 0, outgoing, plan, me);
    }
}

macro_rules! ports {
    ($($name:ident $n:tt),+) => {
        impl<$($name: Batch),+> Ports for ($(Port<$name>,)+) {
            #[inline]
            fn finish_tuple(&mut self, run: u32, tracked: bool) -> bool {
                let mut due = false;
                $(due |= self.$n.finish_tuple(run, tracked);)+
                due
            }
            fn rollback(&mut self) {
                $(self.$n.rollback();)+
            }
            #[inline]
            fn counts(&self) -> u64 {
                let mut counts = 0_u64;
                $(counts = counts.rotate_left(21) ^ self.$n.counts();)+
                counts
            }
            #[inline]
            fn descend(&mut self, parent: u64) {
                $(self.$n.descend(parent);)+
            }
            fn each(&mut self, f: &mut dyn FnMut(usize, &mut dyn AnyPort)) {
                $(f($n, &mut self.$n);)+
            }
            fn attach(
                &mut self,
                outgoing: &[(u32, Box<dyn Any + Send + Sync>)],
                plan: &Plan,
                me: WorkerId,
            ) {
                $(attach(&mut self.$n, $n, outgoing, plan, me);)+
            }
        }
    };
}
ports!(A 0, B 1);
ports!(A 0, B 1, C 2);

/// What became of a root by its verdict.
#[derive(Debug)]
pub enum Ended {
    Acked { task: TaskId, bytes: usize, born: Nanos },
    Retry,
    Dead { task: TaskId, bytes: usize },
}

/// A port whose item type is forgotten: for what happens once a batch or less.
pub trait AnyPort {
    /// Sends what is buffered towards its tasks. `roots` are the runs that the spans name.
    fn route(&mut self, epoch: Epoch, roots: &mut [Run], cx: &mut Shared);
    /// Seals open batches; with `before` only those open since then or earlier.
    fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared);
    /// When the oldest open batch was opened.
    fn open_since(&self) -> Option<Nanos>;
    /// Whether some edge's outbox is full.
    fn full(&self, cx: &Shared) -> bool;
    /// Whether an edge is one of this port's.
    fn has(&self, edge: EdgeId) -> bool;
    /// Lets go of what combiners hold of epochs up to `upto`.
    fn let_go(&mut self, upto: Epoch, cx: &mut Shared);
    /// Whether combiners hold anything.
    fn holds_back(&self) -> bool;
    /// Says of every attempt that combiners hold that it is alive.
    fn touch(&self, cx: &mut Shared);
    /// Takes back used-up memory of an edge.
    fn recycle(&mut self, edge: EdgeId, body: Box<dyn super::AnyDelivery>);
    /// Items buffered and not yet routed.
    fn buffered(&self) -> usize;
    /// Takes the records over the size limit out of the buffer, each alone, with its size.
    fn sift(&mut self, each: &mut dyn FnMut(Box<dyn Any + Send>, usize));
    /// Puts all that is buffered under one new root of `task`; `None` where nothing is buffered.
    fn adopt(&mut self, task: TaskId, epoch: Epoch, cx: &mut Shared) -> Option<Run>;
    /// Hears a verdict; `None` where the attempt is not of this port.
    fn verdict(&mut self, verdict: &super::VerdictOp, cx: &mut Shared) -> Option<Ended>;
    /// When the next attempt of some root is due.
    fn retry_at(&self) -> Option<Nanos>;
    /// Emits the next attempts of roots of one epoch that are due; `None` where there are none.
    fn retry(
        &mut self,
        runs: &mut Vec<Run>,
        tasks: &mut Vec<TaskId>,
        cx: &mut Shared,
    ) -> Option<Epoch>;
    /// The least epoch of which a root has no verdict, and a task that holds it.
    fn held(&self) -> Option<(Epoch, TaskId)>;
    /// Items emitted since the last call.
    fn take_emitted(&mut self) -> u64;
    /// Lets the buffer and that of releases change places.
    fn aside(&mut self);
    /// Drops what releases have emitted.
    fn forget_aside(&mut self);
    /// Sends what is buffered, each item at the epoch of the run that its span names.
    fn route_by_epoch(&mut self, epochs: &[Epoch], runs: &mut [Run], cx: &mut Shared);
    /// Visits every root without a verdict: task, epoch, attempts.
    fn unfinished(&self, each: &mut dyn FnMut(TaskId, Epoch, u32));
}

/// Parts the records over the size limit from the others.
struct Sieve<'a, B: Batch> {
    good: Loose<B>,
    bad: Vec<Loose<B>>,
    which: &'a [(usize, usize)],
}

impl<B: Batch> Places<B> for Sieve<'_, B> {
    fn place(&mut self, i: usize) -> Option<&mut B> {
        if self.which.iter().any(|&(at, _)| at == i) {
            self.bad.push(Loose::default());
            self.bad.last_mut().map(|bad| &mut bad.0)
        } else {
            Some(&mut self.good.0)
        }
    }
}

impl<B: Batch> AnyPort for Port<B> {
    fn route(&mut self, epoch: Epoch, roots: &mut [Run], cx: &mut Shared) {
        let (len, size) = (self.items.len(), self.items.size());
        if len > 0 {
            for combiner in &mut self.combiners {
                combiner.absorb(&self.items, &self.spans, roots, epoch, cx);
            }
            let last = self.edges.len().saturating_sub(1);
            for (i, edge) in self.edges.iter_mut().enumerate() {
                let copy = if i == last { None } else { self.copy };
                let tags = Tags { spans: &self.spans, lineages: &self.lineages };
                edge.route(&mut self.items, copy, tags, roots, epoch, cx);
            }
            cut(&mut self.items, 0);
            if len > 16 * self.batch || size / 2 > self.batch_bytes {
                // One call emitted far more than a batch: that memory is not kept for the next.
                self.items = B::default();
                self.spans = Vec::new();
                self.lineages = Vec::new();
            }
        }
        self.spans.clear();
        self.lineages.clear();
        self.done = 0;
    }

    fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared) {
        for combiner in &mut self.combiners {
            combiner.let_go(Epoch::MAX, before.unwrap_or(Nanos::MAX), cx);
            // They have waited as partial results.
            combiner.out().seal(None, cx);
        }
        for edge in &mut self.edges {
            edge.seal(before, cx);
        }
    }

    fn let_go(&mut self, upto: Epoch, cx: &mut Shared) {
        for combiner in &mut self.combiners {
            combiner.let_go(upto, Nanos::MAX, cx);
        }
    }

    fn holds_back(&self) -> bool {
        self.combiners.iter().any(|combiner| combiner.held().is_some())
    }

    fn touch(&self, cx: &mut Shared) {
        for combiner in &self.combiners {
            combiner.touch(cx);
        }
    }

    fn open_since(&self) -> Option<Nanos> {
        let edges = self.edges.iter().filter_map(Edge::open_since);
        let out = self.combiners.iter().filter_map(|c| c.out_ref().open_since());
        edges.chain(out).chain(self.combiners.iter().filter_map(|c| c.held_since())).min()
    }

    fn full(&self, cx: &Shared) -> bool {
        self.edges.iter().any(|edge| cx.outbox.full(edge.id()))
            || self.combiners.iter().any(|combiner| combiner.out_ref().full(cx))
    }

    fn has(&self, edge: EdgeId) -> bool {
        self.edges.iter().any(|e| e.id() == edge)
            || self.combiners.iter().any(|combiner| combiner.out_ref().has(edge))
    }

    fn recycle(&mut self, edge: EdgeId, body: Box<dyn super::AnyDelivery>) {
        if let Some(edge) = self.edges.iter_mut().find(|e| e.id() == edge) {
            edge.recycle(body);
        } else if let Some(combiner) = self.combiners.iter_mut().find(|c| c.out_ref().has(edge)) {
            combiner.out().recycle(edge, body);
        }
    }

    fn buffered(&self) -> usize {
        self.items.len()
    }

    fn sift(&mut self, each: &mut dyn FnMut(Box<dyn Any + Send>, usize)) {
        let which = std::mem::take(&mut self.oversize);
        let mut sieve = Sieve { good: Loose::default(), bad: Vec::new(), which: &which };
        self.items.scatter(&mut sieve);
        let Sieve { mut good, bad, .. } = sieve;
        std::mem::swap(&mut self.items, &mut good.0);
        for (mut item, &(_, size)) in bad.into_iter().zip(&which) {
            each(Box::new(std::mem::take(&mut item.0)), size);
        }
    }

    fn adopt(&mut self, task: TaskId, epoch: Epoch, cx: &mut Shared) -> Option<Run> {
        let keep = self.keep?;
        if self.items.is_empty() {
            return None;
        }
        let len = self.items.len();
        let (run, lineage) = self.book.open(task, epoch, cx, |kept| {
            for i in 0..len {
                keep(&self.items, i, kept);
            }
        });
        if cx.plan.config.exactly_once() {
            self.lineages.extend((0..len).map(|i| lineage::item(lineage, i, len)));
        }
        Some(run)
    }

    fn verdict(&mut self, verdict: &super::VerdictOp, cx: &mut Shared) -> Option<Ended> {
        self.book.verdict(verdict, self.keep, cx).or_else(|| {
            let heard = self.combiners.iter_mut().any(|combiner| combiner.verdict(verdict, cx));
            // Nobody's root: what it was made of has verdicts of its own.
            heard.then_some(Ended::Retry)
        })
    }

    fn retry_at(&self) -> Option<Nanos> {
        self.book.retry_at()
    }

    fn retry(
        &mut self,
        runs: &mut Vec<Run>,
        tasks: &mut Vec<TaskId>,
        cx: &mut Shared,
    ) -> Option<Epoch> {
        let keep = self.keep?;
        let exactly_once = cx.plan.config.exactly_once();
        let mut epoch = None;
        while self.items.len() < self.batch && self.items.size() < self.batch_bytes {
            let Some(due) = self.book.next_due(epoch, cx) else { break };
            let Due { epoch: of, task, run, lineage, items: kept } = due;
            epoch = Some(of);
            for i in 0..kept.len() {
                keep(kept, i, &mut self.items);
            }
            if exactly_once {
                self.lineages.push(lineage);
            }
            let at = u32::try_from(runs.len()).unwrap_or(u32::MAX);
            runs.push(run);
            tasks.push(task);
            self.finish_tuple(at, true);
        }
        epoch
    }

    fn held(&self) -> Option<(Epoch, TaskId)> {
        self.combiners.iter().filter_map(|c| c.held()).chain(self.book.held()).min()
    }

    fn take_emitted(&mut self) -> u64 {
        std::mem::take(&mut self.emitted)
    }

    fn aside(&mut self) {
        Aside::swap(self);
    }

    fn forget_aside(&mut self) {
        Aside::forget(self);
    }

    fn route_by_epoch(&mut self, epochs: &[Epoch], runs: &mut [Run], cx: &mut Shared) {
        route_by_epoch(self, epochs, runs, cx);
    }

    fn unfinished(&self, each: &mut dyn FnMut(TaskId, Epoch, u32)) {
        self.book.unfinished(each);
    }
}
