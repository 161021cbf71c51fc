//! Handles of streams: they join components, and carry the item type to the compiler.

use core::fmt;
use core::marker::PhantomData;

use crate::batch::{Batch, CloneBatch};
use crate::core::ComponentId;
use crate::grouping::CopyItem;

/// A stream of a topology under construction.
///
/// Give it to the component that takes it in. Where two take it in, give each a clone: the items
/// are then copied, so only streams of cloneable items can be cloned.
///
/// ```compile_fail
/// # use streamwright::{Stream, Topology};
/// struct NotClone;
/// fn fan_out(stream: Stream<Vec<NotClone>>) -> [Stream<Vec<NotClone>>; 2] {
///     [stream.clone(), stream]
/// }
/// ```
#[must_use]
pub struct Stream<B: Batch> {
    pub(crate) topology: u64,
    pub(crate) from: ComponentId,
    pub(crate) stream: u32,
    pub(crate) copy: Option<CopyItem<B>>,
    pub(crate) items: PhantomData<fn() -> B>,
}

impl<B: CloneBatch> Clone for Stream<B> {
    fn clone(&self) -> Self {
        Stream { copy: Some(B::copy_to), items: PhantomData, ..*self }
    }
}

impl<B: Batch> fmt::Debug for Stream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("from", &self.from)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

/// Makes the handles of a component's output streams, in order.
#[derive(Debug)]
pub struct StreamMaker {
    pub(crate) topology: u64,
    pub(crate) from: ComponentId,
    pub(crate) next: u32,
}

impl StreamMaker {
    pub(crate) fn stream<B: Batch>(&mut self) -> Stream<B> {
        let stream = self.next;
        self.next += 1;
        Stream { topology: self.topology, from: self.from, stream, copy: None, items: PhantomData }
    }
}
