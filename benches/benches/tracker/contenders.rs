//! The trackers: ours, and what one would write with a hash map.

use std::collections::hash_map as std_map;

use acker::{Applied, Message, Op, Outcome, RootId, Timeout, Tracker, TrackerConfig, Verdict};
use hashbrown::HashTable;
use hashbrown::hash_map as brown_map;
use hashbrown::hash_table::Entry as Slot;

pub trait Contender {
    fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>);
    fn heap_bytes(&self) -> usize;
    /// Lets all that is left time out.
    fn expire(&mut self, _verdicts: &mut Vec<Verdict>) {}
}

fn tracker() -> Tracker {
    let timeout = Timeout::After(30_000);
    Tracker::new(TrackerConfig { timeout, generations: 8, seed: 42 }).unwrap()
}

struct Batched(Tracker);

pub fn batched() -> Box<dyn Contender> {
    Box::new(Batched(tracker()))
}

impl Contender for Batched {
    fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>) {
        let mut refused = Vec::new();
        self.0.apply(ops, verdicts, &mut refused);
        assert!(refused.is_empty());
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

pub struct OneByOne(Tracker);

impl Default for OneByOne {
    fn default() -> Self {
        OneByOne(tracker())
    }
}

impl Contender for OneByOne {
    fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>) {
        for op in ops {
            let applied = match op.message {
                Message::Init { task, produced } => self.0.init(op.root, task, produced).unwrap(),
                Message::Update(update) => self.0.update(op.root, update),
                Message::Fail | Message::Touch => unreachable!("the workload has none"),
            };
            if let Applied::Verdict(verdict) = applied {
                verdicts.push(verdict);
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    fn expire(&mut self, verdicts: &mut Vec<Verdict>) {
        self.0.advance(u64::MAX, verdicts);
    }
}

const ARMED: u32 = 1 << 30;
const TASK: u32 = (1 << 27) - 1;

fn done(root: RootId, meta: u32) -> Verdict {
    Verdict { root, task: meta & TASK, outcome: Outcome::Done }
}

/// The same 20 bytes as ours.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Record {
    root: u64,
    check: u64,
    meta: u32,
}

/// A bare table of records, one multiplication for the hash.
#[derive(Default)]
pub struct Brown(HashTable<Record>);

fn hash(root: u64) -> u64 {
    let wide = u128::from(root ^ 0x243F_6A88_85A3_08D3) * 0x9E37_79B9_7F4A_7C15;
    (wide as u64) ^ ((wide >> 64) as u64)
}

impl Contender for Brown {
    fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>) {
        for op in ops {
            let root = op.root.get();
            let slot = self.0.entry(hash(root), |r| r.root == root, |r| hash(r.root));
            let (sum, meta) = match op.message {
                Message::Init { task, produced } => (produced.bits(), task | ARMED),
                Message::Update(update) => (update.bits(), 0),
                Message::Fail | Message::Touch => unreachable!("the workload has none"),
            };
            match slot {
                Slot::Vacant(slot) => {
                    slot.insert(Record { root, check: sum, meta });
                }
                Slot::Occupied(mut slot) => {
                    let record = slot.get_mut();
                    record.check ^= sum;
                    record.meta |= meta;
                    if record.check == 0 && record.meta & ARMED != 0 {
                        let (record, _) = slot.remove();
                        verdicts.push(done(op.root, record.meta));
                    }
                }
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        self.0.allocation_size()
    }
}

/// What is left of a record beside its root.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Rest {
    check: u64,
    meta: u32,
}

/// A map as it comes, with the hash that it comes with: the entries of the two have one shape.
macro_rules! plain {
    ($(#[$doc:meta])* $name:ident, $map:ident :: $entry:ident, $bytes:expr) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct $name($map::HashMap<RootId, Rest>);

        impl Contender for $name {
            fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>) {
                for op in ops {
                    let (sum, meta) = match op.message {
                        Message::Init { task, produced } => (produced.bits(), task | ARMED),
                        Message::Update(update) => (update.bits(), 0),
                        Message::Fail | Message::Touch => unreachable!("the workload has none"),
                    };
                    match self.0.entry(op.root) {
                        $map::$entry::Vacant(slot) => {
                            slot.insert(Rest { check: sum, meta });
                        }
                        $map::$entry::Occupied(mut slot) => {
                            let rest = slot.get_mut();
                            rest.check ^= sum;
                            rest.meta |= meta;
                            if rest.check == 0 && rest.meta & ARMED != 0 {
                                let rest = slot.remove();
                                verdicts.push(done(op.root, rest.meta));
                            }
                        }
                    }
                }
            }

            fn heap_bytes(&self) -> usize {
                $bytes(&self.0)
            }
        }
    };
}

plain!(
    /// The map of the standard library.
    Siphash,
    std_map::Entry,
    // A slot of 24 bytes and a byte of control; a power of two of them, 7/8 used.
    |map: &std_map::HashMap<_, _>| (map.capacity() * 8 / 7).next_power_of_two() * 25
);
plain!(
    /// The map of hashbrown.
    Foldhash,
    brown_map::Entry,
    brown_map::HashMap::allocation_size
);
