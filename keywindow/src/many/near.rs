//! Waits for memory, side by side.

use core::hash::{BuildHasher, Hash};
use core::hint::black_box;
use core::mem::needs_drop;

use super::{KeyWindows, NONE};
use crate::Aggregate;
use crate::kernel::Kernel;

/// Keys that are brought near before the first of them is visited.
pub(super) const AHEAD: usize = 64;

/// Reads these, where that is a matter of a line of memory and no more.
#[inline]
fn read<T: Clone>(places: &[Option<&T>]) {
    if !needs_drop::<T>() && size_of::<T>() <= 64 {
        for &place in places.iter().flatten() {
            black_box(place.clone());
        }
    }
}

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A>, S: BuildHasher> KeyWindows<K, A, Q, S> {
    /// Reads the keys of these numbers, up to `AHEAD` of them, and then the slices that `far` finds
    /// there: in loops that do nothing else, so that a processor reads on while it waits.
    #[inline]
    pub(super) fn bring(
        &self,
        ids: impl IntoIterator<Item = u32>,
        far: impl Fn(&Q) -> Option<&A::Acc>,
    ) {
        let mut places = [None; AHEAD];
        for (place, id) in places.iter_mut().zip(ids) {
            *place = self.keys.place(id);
        }
        for place in places.iter().flatten() {
            black_box(place.is_some());
        }
        let slices = places.map(|place| far(&place?.as_ref()?.slices));
        read(&slices);
    }

    /// Brings those near that the next slices leave.
    pub(super) fn bring_leaving(&mut self) {
        let mut soon = [NONE; AHEAD];
        for (near, id) in soon.iter_mut().zip(self.departures.soon()) {
            *near = id;
        }
        self.bring(soon, Q::next_popped);
        self.near = AHEAD;
    }
}
