//! Dealing a buffer out over few tasks: every task's part is at hand before the first item goes, so
//! that an item costs one look-up, and what a batch or a root needs is done once a buffer or a root.

use acker::IdGen;

use super::Epoch;
use super::delivery::{Delivery, Part};
use super::placer::{give_out, hang};
use super::port::{Run, Span};
use super::route::{Edge, Tags};
use super::shared::Shared;
use crate::batch::{Batch, Places};
use crate::grouping::{CopyItem, Rule};

/// Tasks at most: that many hands stand on the stack.
const FEW: usize = 16;

/// What one task gets.
struct Hand<'a, B> {
    part: &'a mut Part<B>,
    /// The pile that it is of.
    pile: usize,
    /// Its items before the root at hand.
    before: usize,
}

/// What one worker gets.
struct Pile<'a> {
    runs: &'a mut Vec<Run>,
    /// The run of the input that the newest of `runs` stands for, this time of routing.
    last: Option<u32>,
}

/// Puts item after item into its task's part, and root after root under ids of their own.
struct Dealer<'a, B> {
    chosen: &'a [u32],
    hands: [Option<Hand<'a, B>>; FEW],
    piles: [Option<Pile<'a>>; FEW],
    /// The spans not yet dealt.
    spans: &'a [Span],
    /// Where the first of them ends.
    end: usize,
    roots: &'a mut [Run],
    ids: &'a mut IdGen,
}

impl<B: Batch> Places<B> for Dealer<'_, B> {
    #[inline]
    fn place(&mut self, i: usize) -> Option<&mut B> {
        while i >= self.end {
            self.close();
        }
        let hand = self.hands.get_mut(*self.chosen.get(i)? as usize)?.as_mut()?;
        Some(&mut hand.part.items)
    }
}

impl<B: Batch> Dealer<'_, B> {
    fn end_of(spans: &[Span]) -> usize {
        spans.first().map_or(usize::MAX, |span| span.end as usize)
    }

    /// All items of the first span are dealt: those that go to one worker hang from one id.
    fn close(&mut self) {
        let Some((span, rest)) = self.spans.split_first() else { return };
        for hand in self.hands.iter_mut().flatten() {
            let len = hand.part.items.len();
            if len == hand.before {
                continue;
            }
            hand.before = len;
            let (Some(pile), Some(root)) =
                (&mut self.piles[hand.pile], self.roots.get_mut(span.run as usize))
            else {
                continue;
            };
            if pile.last != Some(span.run) {
                hang(root, pile.runs, self.ids);
                pile.last = Some(span.run);
            }
            let run = u32::try_from(pile.runs.len() - 1).unwrap_or(u32::MAX);
            let end = u32::try_from(len).unwrap_or(u32::MAX);
            match hand.part.spans.last_mut() {
                Some(span) if span.run == run => span.end = end,
                _ => hand.part.spans.push(Span { run, end }),
            }
        }
        self.spans = rest;
        self.end = Self::end_of(rest);
    }
}

impl<B: Batch> Edge<B> {
    /// Whether the buffer, whose tasks are chosen, may be dealt: few tasks, an ordinary buffer, no
    /// item without a task, no lineages.
    pub(super) fn deals(&self, items: &B, tags: Tags<'_>) -> bool {
        let tasks = self.tasks as usize;
        tasks <= FEW
            && items.len() >= 2 * tasks
            && self.fits(items)
            && self.panics.is_empty()
            && !matches!(self.rule, Rule::All(_) | Rule::Direct(_))
            && tags.lineages.is_empty()
            && tags.spans.last().is_none_or(|last| last.end as usize >= items.len())
    }

    /// Deals a buffer whose tasks are chosen. A batch is looked at after it: one that was not full may
    /// have become as large as that and the whole buffer, which is at most twice a batch.
    pub(super) fn deal(
        &mut self,
        items: &mut B,
        copy: Option<CopyItem<B>>,
        tags: Tags<'_>,
        roots: &mut [Run],
        epoch: Epoch,
        cx: &mut Shared,
    ) {
        self.open_all(epoch, cx);
        let mut hands = [const { None }; FEW];
        let mut piles = [const { None }; FEW];
        let mut order = self.order.iter().map(|&task| (task as usize, self.places[task as usize]));
        let mut next = order.next();
        // Others may hold batches of epochs before: a worker that has no task any more.
        let open = self.open.iter_mut().enumerate().filter(|(_, open)| open.epoch == epoch);
        let filling = open.filter_map(|(i, open)| Some((i, open.delivery.as_mut()?)));
        for (pile, (worker, delivery)) in filling.enumerate() {
            let Delivery { parts, runs, .. } = &mut **delivery;
            for (local, part) in parts.iter_mut().enumerate() {
                let Some((task, _)) = next.filter(|&(_, at)| at == (worker as u32, local as u32))
                else {
                    continue;
                };
                let before = part.items.len();
                hands[task] = Some(Hand { part, pile, before });
                next = order.next();
            }
            piles[pile] = Some(Pile { runs, last: None });
        }
        let mut dealer = Dealer {
            chosen: &self.chosen,
            hands,
            piles,
            spans: tags.spans,
            end: Dealer::<B>::end_of(tags.spans),
            roots,
            ids: &mut cx.edge_ids,
        };
        give_out(items, copy, &mut dealer);
        while !dealer.spans.is_empty() {
            dealer.close();
        }
        self.count_all(epoch, cx);
    }

    /// Makes sure that each worker with a task has a batch of `epoch` that is not full.
    fn open_all(&mut self, epoch: Epoch, cx: &mut Shared) {
        for task in 0..self.places.len() {
            let (worker, local) = self.places[task];
            let worker = worker as usize;
            let open = &self.open[worker];
            if open.delivery.is_some() && open.epoch != epoch {
                self.seal_for(worker, cx);
            }
            if self.open[worker].delivery.is_none() {
                self.open_for(worker, epoch, cx);
            }
            if let Some(delivery) = &mut self.open[worker].delivery {
                delivery.part(local as usize);
            }
        }
    }

    /// Counts what each batch got; one that was opened for nothing is taken back.
    fn count_all(&mut self, epoch: Epoch, cx: &mut Shared) {
        for open in &mut self.open {
            let Some(delivery) = &mut open.delivery else { continue };
            let before = delivery.tuples;
            delivery.tuples = delivery.parts.iter().map(|part| part.items.len()).sum();
            open.left = self.batch.saturating_sub(delivery.tuples);
            if delivery.tuples == 0 {
                open.left = 0;
                self.pool.extend(open.delivery.take());
            } else if before == 0 {
                // In flight from here on: the frontier must not pass a batch that is filling up.
                cx.changes.in_flight(self.to, epoch, 1);
            }
        }
    }
}
