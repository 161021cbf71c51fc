//! Combiners at the sending worker: tuples become partial results, which travel in their place.
//!
//! What is held of an epoch is a page: a batch of partial results, which of them is whose key, and of
//! each attempt that gave something to it an id. A page that is let go is a root of its own, with one
//! attempt. Once it is done the ids are acked, and where it fails the attempts fail. They come again,
//! and then each travels alone: a poisonous tuple takes its companions along once.

use core::any::Any;
use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

use acker::{Delta, RootId, Update};
use hashbrown::HashTable;

use super::ackers::ByRoot;
use super::epochs::EpochCounts;
use super::host::{fail_astray, guarded};
use super::message::FailOp;
use super::port::{AnyPort, Port, Run, Span};
use super::shared::Shared;
use super::{ComponentId, Edge, EdgeDef, EdgeId, Epoch, Nanos, Plan, TaskId, VerdictOp, WorkerId};
use crate::batch::{Batch, cut};
use crate::combine::Combine;
use crate::report::Reason;

/// A combining edge as declared: makes its part at one worker.
pub(crate) struct CombineDef<B: Batch> {
    #[allow(clippy::type_complexity)]
    pub(crate) make: Arc<dyn Fn(&Plan, WorkerId) -> Box<dyn Absorb<B>> + Send + Sync>,
}

impl<B: Batch> CombineDef<B> {
    pub(crate) fn new<C: Combine<B>>(combine: C, keys: usize, def: EdgeDef<C::Out>) -> Self {
        let combine = Arc::new(combine);
        let make = move |plan: &Plan, me| -> Box<dyn Absorb<B>> {
            Box::new(Combining::new(Arc::clone(&combine), keys, &def, plan, me))
        };
        CombineDef { make: Arc::new(make) }
    }
}

/// A combining edge at one sending worker, the type of its partial results forgotten.
pub(crate) trait Absorb<B: Batch>: Send {
    /// Takes in what is buffered; `roots` are the runs that the spans name.
    fn absorb(
        &mut self,
        items: &B,
        spans: &[Span],
        roots: &mut [Run],
        epoch: Epoch,
        cx: &mut Shared,
    );
    /// Lets go of what is held of epochs up to `upto` since `before` or earlier.
    fn let_go(&mut self, upto: Epoch, before: Nanos, cx: &mut Shared);
    /// When the oldest page was begun.
    fn held_since(&self) -> Option<Nanos>;
    /// The least epoch of which something is held or has no verdict.
    fn held(&self) -> Option<(Epoch, TaskId)>;
    /// Hears a verdict; whether it was of a page.
    fn verdict(&mut self, verdict: &VerdictOp, cx: &mut Shared) -> bool;
    /// Says of every attempt in a page without a verdict that it is alive.
    fn touch(&self, cx: &mut Shared);
    /// The port by which partial results leave.
    fn out(&mut self) -> &mut dyn AnyPort;
    fn out_ref(&self) -> &dyn AnyPort;
}

/// An attempt, and the id that it gave for its part of a page.
type Pair = (RootId, Delta);

/// What is held of one epoch.
struct Page<O: Batch> {
    epoch: Epoch,
    since: Nanos,
    partials: O,
    hashes: Vec<u64>,
    places: HashTable<u32>,
    pairs: Vec<Pair>,
    /// What came into it, counted as combined.
    tuples: u64,
}

impl<O: Batch> Page<O> {
    fn new() -> Self {
        Page {
            epoch: 0,
            since: 0,
            partials: O::default(),
            hashes: Vec::new(),
            places: HashTable::new(),
            pairs: Vec::new(),
            tuples: 0,
        }
    }

    /// Takes in items from `*at` up to `end`; stops at one that makes the combiner panic.
    fn take<B: Batch, C: Combine<B, Out = O>>(
        &mut self,
        combine: &C,
        items: &B,
        at: &mut usize,
        end: usize,
    ) -> Result<(), String> {
        let Page { partials, hashes, places, .. } = self;
        guarded(|| {
            while *at < end {
                let hash = combine.hash(items, *at);
                let same = |&p: &u32| {
                    hashes.get(p as usize) == Some(&hash)
                        && combine.same(items, *at, partials, p as usize)
                };
                if let Some(&p) = places.find(hash, same) {
                    combine.merge(items, *at, partials, p as usize);
                } else {
                    let p = partials.len();
                    combine.start(items, *at, partials);
                    assert!(partials.len() == p + 1, "a combiner must start one partial result");
                    hashes.push(hash);
                    let p = u32::try_from(p).unwrap_or(u32::MAX);
                    places.insert_unique(hash, p, |&p| hashes.get(p as usize).map_or(0, |&h| h));
                }
                *at += 1;
            }
        })
    }

    /// Empties it; the memory stays.
    fn clear(&mut self) {
        cut(&mut self.partials, 0);
        self.hashes.clear();
        self.places.clear();
        self.pairs.clear();
        self.tuples = 0;
    }
}

impl<O: Batch> Drop for Page<O> {
    fn drop(&mut self) {
        cut(&mut self.partials, 0);
    }
}

/// A page on its way.
struct Sent {
    epoch: Epoch,
    pairs: Vec<Pair>,
}

struct Combining<B: Batch, C: Combine<B>> {
    combine: Arc<C>,
    keys: usize,
    bytes: usize,
    edge: EdgeId,
    to: ComponentId,
    /// Hears the verdicts: the first task here of the component that emits.
    task: TaskId,
    out: Port<C::Out>,
    pages: VecDeque<Page<C::Out>>,
    /// For what travels alone.
    alone: Page<C::Out>,
    spare: Vec<Page<C::Out>>,
    sent: ByRoot<Sent>,
    empty: Vec<Vec<Pair>>,
    epochs: EpochCounts,
    runs: Vec<Run>,
}

impl<B: Batch, C: Combine<B>> fmt::Debug for Combining<B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combining").field("edge", &self.edge).finish_non_exhaustive()
    }
}

impl<B: Batch, C: Combine<B>> Combining<B, C> {
    fn new(combine: Arc<C>, keys: usize, def: &EdgeDef<C::Out>, plan: &Plan, me: WorkerId) -> Self {
        let from = plan.edges[def.id as usize].from;
        let mut out = Port::<C::Out>::default();
        let bytes = plan.config.batch_bytes.saturating_mul(4);
        // A page may be as large without its memory being given back.
        (out.batch, out.batch_bytes) = (plan.config.batch.max(keys), bytes);
        out.edges.push(Edge::new(def, def.copy, plan, me));
        Combining {
            combine,
            keys,
            bytes,
            edge: def.id,
            to: def.to,
            task: plan.hosted(from, me, 0).next().unwrap_or(0),
            out,
            pages: VecDeque::new(),
            alone: Page::new(),
            spare: Vec::new(),
            sent: ByRoot::default(),
            empty: Vec::new(),
            epochs: EpochCounts::default(),
            runs: Vec::new(),
        }
    }

    /// Which page is that of `epoch`, begun if need be.
    fn page(&mut self, epoch: Epoch, cx: &Shared) -> usize {
        let at = self.pages.partition_point(|page| page.epoch < epoch);
        if self.pages.get(at).is_none_or(|page| page.epoch != epoch) {
            let mut page = self.spare.pop().unwrap_or_else(Page::new);
            (page.epoch, page.since) = (epoch, cx.now.mono);
            self.epochs.add(epoch, 1);
            self.pages.insert(at, page);
        }
        at
    }

    /// Takes in one run's items, or all where nothing is tracked.
    fn take(
        &mut self,
        items: &B,
        mut at: usize,
        end: usize,
        mut of: Option<(u32, &mut Run)>,
        epoch: Epoch,
        cx: &mut Shared,
    ) {
        let alone = of.as_ref().is_some_and(|(_, run)| run.alone);
        while at < end {
            let from = at;
            let place = if alone { None } else { Some(self.page(epoch, cx)) };
            let page = match place {
                Some(place) => &mut self.pages[place],
                None => {
                    self.alone.epoch = epoch;
                    &mut self.alone
                }
            };
            let outcome = page.take(&*self.combine, items, &mut at, end);
            page.tuples += (at - from) as u64;
            cx.edges[self.edge as usize].combined += (at - from) as u64;
            if let Some((_, run)) = &mut of
                && page.pairs.last().is_none_or(|&(track, _)| track != run.track)
            {
                let id = Delta::EMPTY.with(cx.edge_ids.next_id());
                run.untold = run.untold.merge(id);
                page.pairs.push((run.track, id));
            }
            if let Err(message) = outcome {
                self.torn(place, of.as_ref().map(|&(at, _)| at), &message, cx);
                // A root has failed whole; where there is none, those after it go on.
                let left = if of.is_some() { end - at } else { 1 };
                cx.edges[self.edge as usize].astray += left as u64;
                at += left;
                continue;
            }
            let full = page.partials.len() >= self.keys || page.partials.size() >= self.bytes;
            match place {
                None => {
                    let page = std::mem::replace(&mut self.alone, Page::new());
                    self.alone = self.send(page, true, cx);
                }
                Some(place) if full => self.send_page(place, cx),
                Some(_) => {}
            }
        }
    }

    /// A panic may have torn what is held: none of it can be trusted, and none of it is sent.
    fn torn(&mut self, place: Option<usize>, run: Option<u32>, message: &str, cx: &mut Shared) {
        let component = cx.plan.components[self.to as usize].name.clone();
        let reason = Reason::Combiner { component, message: message.to_owned() };
        match run {
            Some(run) => cx.astray.push((run, reason.clone())),
            None => cx.regret(reason.clone()),
        }
        let page = place.and_then(|place| self.pages.remove(place));
        let gone = page.as_ref().map_or(self.alone.tuples, |page| page.tuples);
        let edge = &mut cx.edges[self.edge as usize];
        edge.combined -= gone;
        edge.astray += gone;
        let Some(mut page) = page else {
            self.alone.clear();
            return;
        };
        self.epochs.add(page.epoch, -1);
        fail(&page.pairs, page.epoch, &Arc::new(reason), cx);
        page.clear();
        self.spare.push(page);
    }

    fn send_page(&mut self, place: usize, cx: &mut Shared) {
        let Some(page) = self.pages.remove(place) else { return };
        let page = self.send(page, false, cx);
        self.spare.push(page);
    }

    /// Lets a page go, and returns its memory. One of `alone` was not counted yet.
    fn send(&mut self, mut page: Page<C::Out>, alone: bool, cx: &mut Shared) -> Page<C::Out> {
        let epoch = page.epoch;
        std::mem::swap(&mut self.out.items, &mut page.partials);
        self.runs.clear();
        let mut track = None;
        if cx.tracked() {
            let root = acker::mix(cx.root_ids.next_id().get(), 1);
            track = Some(root);
            let owner = cx.plan.tables.at(epoch).owner(root);
            self.runs.push(Run { alone, ..Run::new(root, owner, Delta::EMPTY) });
            let end = u32::try_from(self.out.items.len()).unwrap_or(u32::MAX);
            self.out.spans.push(Span { run: 0, end });
        }
        // This may be in the midst of routing for others, who have led some astray.
        let others = std::mem::take(&mut cx.astray);
        self.out.route(epoch, &mut self.runs, cx);
        if let (Some(track), Some(run)) = (track, self.runs.first()) {
            cx.init(run, self.task, epoch);
            let pairs = std::mem::replace(&mut page.pairs, self.empty.pop().unwrap_or_default());
            self.epochs.add(epoch, i64::from(alone));
            self.sent.insert(track, Sent { epoch, pairs });
        } else {
            self.epochs.add(epoch, -1);
        }
        fail_astray(&mut self.runs, epoch, cx);
        cx.astray = others;
        std::mem::swap(&mut self.out.items, &mut page.partials);
        page.clear();
        page
    }
}

/// Fails attempts for what became of something that they share.
fn fail(pairs: &[Pair], epoch: Epoch, reason: &Arc<Reason>, cx: &mut Shared) {
    for &(track, _) in pairs {
        cx.fails.push(FailOp { track, epoch, reason: Arc::clone(reason) });
    }
}

impl<B: Batch, C: Combine<B>> Absorb<B> for Combining<B, C> {
    fn absorb(
        &mut self,
        items: &B,
        spans: &[Span],
        roots: &mut [Run],
        epoch: Epoch,
        cx: &mut Shared,
    ) {
        if !cx.tracked() {
            self.take(items, 0, items.len(), None, epoch, cx);
            return;
        }
        let mut from = 0;
        for span in spans {
            let end = span.end as usize;
            if let Some(run) = roots.get_mut(span.run as usize) {
                self.take(items, from, end, Some((span.run, run)), epoch, cx);
            }
            from = end;
        }
    }

    fn let_go(&mut self, upto: Epoch, before: Nanos, cx: &mut Shared) {
        let mut place = 0;
        while let Some(page) = self.pages.get(place)
            && page.epoch <= upto
        {
            if page.since <= before {
                self.send_page(place, cx);
            } else {
                place += 1;
            }
        }
    }

    fn held_since(&self) -> Option<Nanos> {
        self.pages.iter().map(|page| page.since).min()
    }

    fn held(&self) -> Option<(Epoch, TaskId)> {
        self.epochs.min().map(|epoch| (epoch, self.task))
    }

    fn verdict(&mut self, verdict: &VerdictOp, cx: &mut Shared) -> bool {
        let Some(Sent { epoch, mut pairs }) = self.sent.remove(&verdict.track) else {
            return false;
        };
        self.epochs.add(epoch, -1);
        match &verdict.failed {
            None => {
                for &(track, id) in &pairs {
                    cx.ack_attempt(track, epoch, Update::new(id, Delta::EMPTY));
                }
            }
            Some(reason) if pairs.len() > 1 && !reason.worth_a_retry() => {
                // Not worth one for what they came to: each of them alone may well be.
                let component = cx.plan.components[self.to as usize].name.clone();
                let message = reason.to_string();
                fail(&pairs, epoch, &Arc::new(Reason::Combiner { component, message }), cx);
            }
            Some(reason) => fail(&pairs, epoch, reason, cx),
        }
        pairs.clear();
        self.empty.push(pairs);
        true
    }

    fn touch(&self, cx: &mut Shared) {
        let pages = self.pages.iter().map(|page| (page.epoch, &page.pairs));
        let sent = self.sent.values().map(|sent| (sent.epoch, &sent.pairs));
        for (epoch, pairs) in pages.chain(sent) {
            for &(track, _) in pairs {
                cx.touch(track, epoch, self.to);
            }
        }
    }

    fn out(&mut self) -> &mut dyn AnyPort {
        &mut self.out
    }

    fn out_ref(&self) -> &dyn AnyPort {
        &self.out
    }
}

/// A combining edge whose item type is forgotten until the port of its stream takes it.
pub(crate) fn combining<B: Batch>(
    def: &(dyn Any + Send + Sync),
    plan: &Plan,
    me: WorkerId,
) -> Option<Box<dyn Absorb<B>>> {
    def.downcast_ref::<CombineDef<B>>().map(|def| (def.make)(plan, me))
}
