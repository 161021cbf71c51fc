//! What releases emit lies in a buffer of its own until their call has succeeded.

use std::collections::BTreeMap;

use super::Epoch;
use super::host::fail_astray;
use super::port::{AnyPort, Port, Run, Span};
use super::shared::Shared;
use crate::batch::{Batch, Loose, Places, cut};

/// A buffer that changes places with a port's own.
#[derive(Debug, Default)]
pub(crate) struct Aside<B: Batch> {
    items: B,
    spans: Vec<Span>,
    done: usize,
    oversize: Vec<(usize, usize)>,
}

impl<B: Batch> Drop for Aside<B> {
    fn drop(&mut self) {
        cut(&mut self.items, 0);
    }
}

impl<B: Batch> Aside<B> {
    pub(crate) fn swap(port: &mut Port<B>) {
        let mut side = port.side.take().unwrap_or_default();
        std::mem::swap(&mut side.items, &mut port.items);
        std::mem::swap(&mut side.spans, &mut port.spans);
        std::mem::swap(&mut side.done, &mut port.done);
        std::mem::swap(&mut side.oversize, &mut port.oversize);
        port.side = Some(side);
    }

    pub(crate) fn forget(port: &mut Port<B>) {
        if let Some(side) = &mut port.side {
            // It was counted as it was finished, and is not to be sent.
            port.emitted -= side.done as u64;
            cut(&mut side.items, 0);
            side.spans.clear();
            side.oversize.clear();
            side.done = 0;
        }
    }
}

/// Parts items by the epochs of the runs that they hang from.
struct ByEpoch<'a, B: Batch> {
    parts: BTreeMap<Epoch, (Loose<B>, Vec<Span>)>,
    spans: &'a [Span],
    epochs: &'a [Epoch],
    span: usize,
}

impl<B: Batch> Places<B> for ByEpoch<'_, B> {
    fn place(&mut self, i: usize) -> Option<&mut B> {
        while self.spans.get(self.span).is_some_and(|span| span.end as usize <= i) {
            self.span += 1;
        }
        let run = self.spans.get(self.span)?.run;
        let epoch = self.epochs.get(run as usize).copied()?;
        let (Loose(items), spans) = self.parts.entry(epoch).or_default();
        let end = u32::try_from(items.len() + 1).unwrap_or(u32::MAX);
        match spans.last_mut() {
            Some(span) if span.run == run => span.end = end,
            _ => spans.push(Span { run, end }),
        }
        Some(items)
    }
}

/// Sends what is buffered, each item at the epoch of its run: the least one first.
pub(crate) fn route_by_epoch<B: Batch>(
    port: &mut Port<B>,
    epochs: &[Epoch],
    runs: &mut [Run],
    cx: &mut Shared,
) {
    let tracked = cx.tracked();
    if !tracked && epochs.windows(2).all(|two| two[0] == two[1]) {
        port.spans.clear();
    }
    if epochs.windows(2).all(|two| two[0] == two[1]) {
        let Some(&epoch) = epochs.first() else { return };
        port.route(epoch, runs, cx);
        fail_astray(runs, epoch, cx);
        return;
    }
    let spans = std::mem::take(&mut port.spans);
    let mut parts = ByEpoch { parts: BTreeMap::new(), spans: &spans, epochs, span: 0 };
    port.items.scatter(&mut parts);
    for (epoch, (mut items, spans)) in parts.parts {
        std::mem::swap(&mut port.items, &mut items.0);
        port.spans = if tracked { spans } else { Vec::new() };
        port.route(epoch, runs, cx);
        fail_astray(runs, epoch, cx);
    }
}
