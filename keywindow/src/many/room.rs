//! Room in lists that are used again.

use alloc::vec::Vec;

/// Entries for which room is kept where there is no key.
const ROOM: usize = 64;

/// Gives back the room that a list, of at most two entries a key, had for keys that are gone.
#[inline]
pub(super) fn give_back<T>(list: &mut Vec<T>, keys: usize) {
    let room = keys.max(ROOM);
    // A list that doubles as it grows has room for four a key.
    if keys == 0 || list.capacity() / 4 > room {
        list.shrink_to(room);
    }
}
