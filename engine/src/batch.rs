//! What travels between tasks: batches of items, erased once a batch and never once a tuple.

/// A growable sequence of items of one stream.
///
/// `Vec<T>` is the batch of any `T: Send + 'static`; [`Text`](crate::Text) keeps byte strings in
/// one arena, so that a stream of words makes no allocation a word. Implement it for a layout of
/// your own (columns, say) and streams carry that.
pub trait Batch: Default + Send + 'static {
    /// Whether dropping an item runs code. That code may panic, so such items are dropped one by
    /// one, and a panic is no one's fault but theirs.
    const DROPS: bool = true;

    /// What a bolt sees of one item.
    type Item<'a>;

    /// Items held.
    fn len(&self) -> usize;

    /// Whether no item is held.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Item `i`, where `i < len()`.
    ///
    /// # Panics
    /// Where `i >= len()`.
    fn item(&self, i: usize) -> Self::Item<'_>;

    /// Drops every item from `len` on; the memory stays.
    fn truncate(&mut self, len: usize);

    /// Drops every item; the memory stays.
    fn clear(&mut self) {
        self.truncate(0);
    }

    /// Payload bytes held, in O(1): the sum over the items, whatever their order. For `Vec<T>` it is
    /// the size of the `T`s themselves, without what they point to: where that is large, and the
    /// bounds in bytes are to mean something, use a batch type of your own.
    fn size(&self) -> usize;

    /// Moves every item out, in order: item `i` to `to.place(i)`, or nowhere where that is `None`.
    /// Leaves `self` empty.
    fn scatter<P: Places<Self>>(&mut self, to: &mut P);
}

/// Where [`Batch::scatter`] puts each item.
pub trait Places<B> {
    /// The batch that takes item `i`; called once an item, in order.
    fn place(&mut self, i: usize) -> Option<&mut B>;
}

/// A batch whose items can be copied: needed for fan-out, `all` grouping and replay.
pub trait CloneBatch: Batch {
    /// Appends a copy of item `i` to `to`.
    fn copy_to(&self, i: usize, to: &mut Self);
}

/// A batch that takes items given as `T`.
pub trait Push<T>: Batch {
    /// Appends one item.
    fn push_item(&mut self, item: T);
}

/// Drops all items from `len` on, come what may: an item whose drop panics is gone all the same.
pub(crate) fn cut<B: Batch>(items: &mut B, len: usize) {
    if !B::DROPS {
        items.truncate(len);
        return;
    }
    while items.len() > len {
        // One at a time: two panics in one `truncate` would abort the process.
        let outcome = crate::core::guarded(|| {
            while items.len() > len {
                items.truncate(items.len() - 1);
            }
        });
        drop(outcome);
    }
}

/// Items that are let go as [`cut`] does, however they come to be dropped.
#[derive(Debug, Default)]
pub(crate) struct Loose<B: Batch>(pub(crate) B);

impl<B: Batch> Drop for Loose<B> {
    fn drop(&mut self) {
        cut(&mut self.0, 0);
    }
}

impl<T: Send + 'static> Batch for Vec<T> {
    const DROPS: bool = core::mem::needs_drop::<T>();

    type Item<'a> = &'a T;

    fn len(&self) -> usize {
        self.len()
    }

    fn item(&self, i: usize) -> &T {
        &self[i]
    }

    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }

    fn size(&self) -> usize {
        self.len() * size_of::<T>()
    }

    fn scatter<P: Places<Self>>(&mut self, to: &mut P) {
        for (i, item) in self.drain(..).enumerate() {
            if let Some(part) = to.place(i) {
                part.push(item);
            }
        }
    }
}

impl<T: Clone + Send + 'static> CloneBatch for Vec<T> {
    fn copy_to(&self, i: usize, to: &mut Self) {
        to.push(self[i].clone());
    }
}

impl<T: Send + 'static> Push<T> for Vec<T> {
    fn push_item(&mut self, item: T) {
        self.push(item);
    }
}
