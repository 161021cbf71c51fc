//! Waits for memory, side by side.

use core::hash::{BuildHasher, Hash};
use core::hint::black_box;
use core::mem::needs_drop;

use super::KeyWindows;
use crate::Aggregate;
use crate::kernel::Kernel;

/// Keys that are brought near before the first of them is visited.
pub(super) const AHEAD: usize = 64;

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A>, S: BuildHasher> KeyWindows<K, A, Q, S> {
    /// Reads the keys of these numbers, up to `AHEAD` of them, and then the slices that `far` finds
    /// there. In loops that do nothing else, and whose steps do not wait for one another: so a
    /// processor reads on while it waits, as far as its list of what is under way allows.
    #[inline]
    pub(super) fn bring(
        &self,
        ids: impl Iterator<Item = u32> + Clone,
        far: impl Fn(&Q) -> Option<&A::Acc>,
    ) {
        let places = ids.clone().filter_map(|id| self.keys.place(id));
        black_box(places.map(|place| usize::from(place.is_some())).sum::<usize>());
        // Only where that is a matter of a line of memory and no more.
        if needs_drop::<A::Acc>() || size_of::<A::Acc>() > 64 {
            return;
        }
        let mut slices = [None; AHEAD];
        for (slice, id) in slices.iter_mut().zip(ids) {
            *slice = self.keys.get(id).and_then(|key| far(&key.slices));
        }
        for &slice in slices.iter().flatten() {
            black_box(slice.clone());
        }
    }

    /// Brings those near that the next slices leave, but for the first, which has been before.
    #[inline(never)]
    pub(super) fn bring_leaving(&mut self) {
        let soon = self.departures.soon().take(AHEAD);
        self.near = soon.clone().count();
        self.bring(soon, Q::next_popped);
    }
}
