//! What the tracker keeps for a root: the paper's ⟨spring id, check value, task⟩ in 20 bytes.

/// One root's record, flags and generation included (paper sections 2 and 3.1).
///
/// ```text
/// meta   31      30     29..27      26..0
///        failed  armed  generation  task
///                                   26..24  23..0   where time-outs follow progress
///                                   cap     task
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct Record {
    pub(crate) root: u64,
    pub(crate) check: u64,
    pub(crate) meta: u32,
}

const _: () = assert!(size_of::<Record>() == 20);

/// Bits of a task where a root has one generation.
pub(crate) const TASK_BITS: u32 = 27;
/// Bits of a task where a root has two: since its last progress, and since its init.
pub(crate) const SHORT_TASK_BITS: u32 = 24;
pub(crate) const ARMED: u32 = 1 << 30;
pub(crate) const FAILED: u32 = 1 << 31;
const GENERATION: u32 = 0b111;

impl Record {
    pub(crate) const VACANT: Self = Self { root: 0, check: 0, meta: 0 };

    /// Something of each of its cache lines, so that the processor has all of it.
    #[inline]
    pub(crate) const fn touch(&self) -> u64 {
        self.root ^ self.meta as u64
    }

    #[inline]
    pub(crate) const fn is(self, flag: u32) -> bool {
        self.meta & flag != 0
    }

    /// The generation in which the time-out started, modulo 8.
    #[inline]
    pub(crate) const fn slot(self) -> usize {
        (self.meta >> TASK_BITS & GENERATION) as usize
    }

    /// The same record in another generation.
    #[inline]
    pub(crate) const fn in_slot(self, slot: u32) -> Self {
        let meta = self.meta & !(GENERATION << TASK_BITS) | slot << TASK_BITS;
        Self { meta, ..self }
    }

    /// The generation of the init, modulo 8, where time-outs follow progress.
    #[inline]
    pub(crate) const fn cap_slot(self) -> usize {
        (self.meta >> SHORT_TASK_BITS & GENERATION) as usize
    }
}

/// The task of an armed record.
#[inline]
pub(crate) const fn task_of(record: Record, has_cap: bool) -> u32 {
    let bits = if has_cap { SHORT_TASK_BITS } else { TASK_BITS };
    record.meta & ((1 << bits) - 1)
}
