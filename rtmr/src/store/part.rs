//! Single pairs of entries that are spilled: a get takes no more into memory than it asks for, so
//! that a key that is used much does not bring in those that share its entry by chance.

use super::codec::{Codec, take, varint};
use super::error::StoreError;
use super::footprint::Footprint;
use super::place::Place;
use super::spill::Spill;
use super::table::{BLOCK, PART, STORED, Store, USED};
use super::tree::{Tags, Tree};

/// After so many pairs of an entry it is read whole: no get is dearer than a few reads of all.
const MOST: usize = 4;

impl<K, V, S, P> Store<K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    /// The value of a key of an entry that is stored, and not in memory as a whole.
    #[inline(never)]
    pub(super) fn get_away(&mut self, at: usize, key: &K) -> Result<Option<&V>, StoreError> {
        let (slot, tag) = (&self.slots[at], self.place.tag(key));
        if slot.tree.get_tagged(slot.tags, tag, key).is_some() {
            self.flags[at] |= USED;
        } else if !self.read_pair(at, key)? {
            self.touch(at)?;
        }
        let slot = &self.slots[at];
        Ok(slot.tree.get_tagged(slot.tags, tag, key))
    }

    /// Reads one pair back; false if the entry does not have it, or is to be read whole.
    fn read_pair(&mut self, at: usize, key: &K) -> Result<bool, StoreError> {
        let (held, size) = (self.slots[at].tree.len(), self.sizes[at]);
        if held >= MOST || size.keys as usize <= 2 * held + 1 || size.bytes > BLOCK {
            return Ok(false);
        }
        // More than one pair of it can take.
        self.make_room(self.slots[at].tree.step() + size.bytes, at)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let entry = at as u32;
        let found = self.spill.read(entry, &mut scratch).and_then(|there| {
            let wrong = |why| StoreError::Entry { entry, why };
            if !there {
                return Err(wrong("the spill does not hold it"));
            }
            pair_in::<K, V>(&scratch, key).ok_or(wrong("not the keys and values of this store"))
        });
        self.keep(scratch);
        let Some((key, value)) = found? else { return Ok(false) };
        let (slot, tag, mut grown) = (&mut self.slots[at], self.place.tag(&key), 0);
        slot.tree.insert_tagged(&mut slot.tags, tag, key, value, &mut grown);
        self.resident = self.resident.wrapping_add_signed(grown);
        // What is read once only goes first.
        self.flags[at] |= if held == 0 { PART } else { PART | USED };
        self.traffic.loads += 1;
        Ok(true)
    }

    /// Lets the pairs go of an entry that is not in memory as a whole.
    pub(super) fn drop_part(&mut self, at: usize) {
        if self.flags[at] & PART != 0 {
            self.resident -= self.slots[at].tree.footprint().cast_unsigned();
            self.slots[at].tree = Tree::default();
            self.slots[at].tags = Tags::default();
            self.flags[at] = STORED;
        }
    }
}

/// The pair of a key among the bytes of an entry, `Some(None)` if it is not there, `None` if they
/// are not those of an entry.
#[allow(clippy::option_option, reason = "not there is no damage")]
fn pair_in<K: Ord + Codec, V: Codec>(mut from: &[u8], key: &K) -> Option<Option<(K, V)>> {
    for _ in 0..varint(&mut from)? {
        let (held, value) = (K::decode(&mut from)?, V::decode(&mut from)?);
        if K::LEAST + V::LEAST == 0 {
            take(&mut from, 1)?;
        }
        if held >= *key {
            return Some((held == *key).then_some((held, value)));
        }
    }
    Some(None)
}
