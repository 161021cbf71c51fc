//! One batch for one worker: a part a task, and the roots that its tuples hang from.

use core::any::Any;

use super::port::{Run, Span};
use crate::batch::{Batch, cut};

/// Draws how many tuples pass before the next one is lost.
pub type Picks<'a> = &'a mut dyn FnMut() -> usize;

/// A batch whose item type is forgotten on the way.
pub trait AnyDelivery: Any + Send {
    /// Tuples in it.
    fn len(&self) -> usize;

    /// Whether it holds no tuple.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Payload bytes, as [`Batch::size`] has them. O(1).
    fn size(&self) -> usize;

    /// Attempts that tuples in it hang from.
    fn tracks(&self) -> &[Run];

    /// Loses tuples on the way: passes `skip()` of them, loses the next, and so on. The receiver
    /// drops them unseen; their roots are not acked. Returns how many.
    fn lose(&mut self, skip: Picks<'_>) -> u64;

    /// Another one like it, for a network that repeats; `None` where items cannot be copied.
    fn repeat(&self) -> Option<Box<dyn AnyDelivery>>;

    #[doc(hidden)]
    fn as_any_mut(&mut self) -> &mut dyn Any;

    #[doc(hidden)]
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The tuples for one task.
#[derive(Debug, Default)]
pub(crate) struct Part<B> {
    pub(crate) items: B,
    /// Which run each tuple hangs from; empty where roots are not tracked.
    pub(crate) spans: Vec<Span>,
    /// Exactly once: the lineage of each item.
    pub(crate) lineages: Vec<u64>,
    /// Tuples lost on the way, by place, rising.
    pub(crate) lost: Vec<u32>,
}

/// The tuples for one worker, a part for each of its tasks.
///
/// All tuples of one root that travel together hang from one id, a run: the receiver answers one
/// XOR delta for it once the last of them is done, so tracking costs nothing a tuple.
#[derive(Debug)]
pub(crate) struct Delivery<B: Batch> {
    pub(crate) parts: Vec<Part<B>>,
    pub(crate) runs: Vec<Run>,
    pub(crate) tuples: usize,
    /// Payload bytes, as of the last time they were added up.
    pub(crate) bytes: usize,
    pub(crate) copy: Option<crate::grouping::CopyItem<B>>,
}

impl<B: Batch> Drop for Delivery<B> {
    fn drop(&mut self) {
        if B::DROPS {
            self.reset();
        }
    }
}

impl<B: Batch> Delivery<B> {
    pub(crate) fn new(copy: Option<crate::grouping::CopyItem<B>>) -> Self {
        Delivery { parts: Vec::new(), runs: Vec::new(), tuples: 0, bytes: 0, copy }
    }

    /// Empties it for the next use; the memory stays.
    pub(crate) fn reset(&mut self) {
        for part in &mut self.parts {
            cut(&mut part.items, 0);
            part.spans.clear();
            part.lineages.clear();
            part.lost.clear();
        }
        self.runs.clear();
        self.tuples = 0;
        self.bytes = 0;
    }

    /// Adds up the payload bytes. O(parts).
    pub(crate) fn weigh(&mut self) {
        self.bytes = self.parts.iter().map(|part| part.items.size()).sum();
    }

    /// The part of the task of this local number.
    pub(crate) fn part(&mut self, local: usize) -> &mut Part<B> {
        if self.parts.len() <= local {
            self.parts.resize_with(local + 1, || Part {
                items: B::default(),
                spans: Vec::new(),
                lineages: Vec::new(),
                lost: Vec::new(),
            });
        }
        &mut self.parts[local]
    }
}

impl<B: Batch> AnyDelivery for Delivery<B> {
    fn len(&self) -> usize {
        self.tuples
    }

    fn size(&self) -> usize {
        self.bytes
    }

    fn tracks(&self) -> &[Run] {
        &self.runs
    }

    fn lose(&mut self, skip: Picks<'_>) -> u64 {
        let mut lost = 0;
        let mut left = skip();
        for part in &mut self.parts {
            let len = part.items.len();
            let mut at = 0;
            while left < len - at {
                at += left;
                part.lost.push(u32::try_from(at).unwrap_or(u32::MAX));
                lost += 1;
                at += 1;
                left = skip();
            }
            left -= len - at;
        }
        lost
    }

    fn repeat(&self) -> Option<Box<dyn AnyDelivery>> {
        let copy = self.copy?;
        let mut other = Delivery::<B>::new(self.copy);
        for part in &self.parts {
            let mut items = B::default();
            for i in 0..part.items.len() {
                copy(&part.items, i, &mut items);
            }
            other.parts.push(Part {
                items,
                spans: part.spans.clone(),
                lineages: part.lineages.clone(),
                lost: part.lost.clone(),
            });
        }
        other.runs.clone_from(&self.runs);
        other.tuples = self.tuples;
        other.bytes = self.bytes;
        Some(Box::new(other))
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
