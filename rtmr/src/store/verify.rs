//! A store counted anew.

use super::codec::Codec;
use super::footprint::Footprint;
use super::place::Place;
use super::spill::Spill;
use super::table::{DIRTY, PART, RESIDENT, STORED, Store};

impl<K, V, S, P> Store<K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    /// Checks by a walk over all that is in memory that every key is in its entry and above the
    /// one before, and that all counts are right. O(2^b + keys in memory).
    ///
    /// # Errors
    /// The entry and what is wrong with it; it would be a fault of this library, or of a type's
    /// `Ord`, `Footprint` or `Place`.
    pub fn verify(&self) -> Result<(), (u32, &'static str)> {
        let (mut resident, mut total) = (0, 0_u64);
        for (entry, ((slot, size), &flags)) in
            (0_u32..).zip(self.slots.iter().zip(&self.sizes).zip(&self.flags))
        {
            let wrong = |why| Err((entry, why));
            total += u64::from(size.keys);
            let (mut before, mut keys, mut ordered, mut placed) = (None, 0_u32, true, true);
            slot.tree.for_each(&mut |key, _| {
                ordered &= before.as_ref().is_none_or(|before| before < key);
                placed &= self.place.place(key, self.bits) == entry;
                ordered &= slot.tree.get(key).is_some();
                (before, keys) = (Some(key.clone()), keys + 1);
            });
            if !ordered {
                return wrong("keys are not in order");
            }
            if !placed {
                return wrong("a key of another entry");
            }
            if flags & (RESIDENT | PART) == PART {
                if keys == 0 || keys > size.keys || flags & (DIRTY | STORED) != STORED {
                    return wrong("pairs of it are in memory that should not");
                }
                resident += slot.tree.footprint().cast_unsigned();
                continue;
            }
            if flags & RESIDENT == 0 {
                if keys > 0 || flags & DIRTY != 0 || (flags & STORED == 0) != (size.keys == 0) {
                    return wrong("not in memory, and yet something is there or missing");
                }
                continue;
            }
            if keys != size.keys || keys == 0 {
                return wrong("the number of keys is not what was counted");
            }
            if flags & (DIRTY | STORED) == 0 {
                return wrong("neither dirty nor stored");
            }
            if slot.tree.footprint() != size.bytes.cast_signed() {
                return wrong("its bytes are not what was counted");
            }
            if size.bytes > self.largest {
                return wrong("larger than the largest");
            }
            resident += size.bytes;
        }
        if resident != self.resident || total != self.keys {
            return Err((u32::MAX, "the sums are not those of the entries"));
        }
        Ok(())
    }
}
