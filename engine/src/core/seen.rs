//! What a bolt that keeps state has seen, by epoch: a tuple that comes again changes nothing.

use std::collections::VecDeque;

use hashbrown::HashSet;

use super::{Epoch, lineage};
use crate::report::SeenStats;

/// The lineages applied by one component at one worker. The set of an epoch goes as it closes.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pages: VecDeque<(Epoch, HashSet<u64>)>,
    spare: Vec<HashSet<u64>>,
    stats: SeenStats,
    live: usize,
}

impl Seen {
    /// The set of `epoch`, made if need be.
    pub(crate) fn page(&mut self, epoch: Epoch) -> Page<'_> {
        let at = self.pages.partition_point(|(of, _)| *of < epoch);
        if self.pages.get(at).is_none_or(|(of, _)| *of != epoch) {
            self.pages.insert(at, (epoch, self.spare.pop().unwrap_or_default()));
        }
        Page { set: &mut self.pages[at].1, live: &mut self.live, stats: &mut self.stats }
    }

    /// Epochs below `epoch` are closed here.
    pub(crate) fn forget_below(&mut self, epoch: Epoch) {
        while self.pages.front().is_some_and(|(of, _)| *of < epoch) {
            let Some((_, mut set)) = self.pages.pop_front() else { break };
            self.live -= set.len();
            self.stats.collision_bound += bound(set.len());
            set.clear();
            self.spare.push(set);
        }
    }

    pub(crate) fn stats(&self) -> SeenStats {
        let open = self.pages.iter().map(|(_, set)| bound(set.len())).sum::<f64>();
        let collision_bound = self.stats.collision_bound + open;
        SeenStats { collision_bound, ..self.stats }
    }
}

/// Probability that any two of `n` lineages are equal by chance: at most n² / 2^65.
fn bound(n: usize) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let n = n as f64;
    n * n / 2_f64.powi(65)
}

/// The set of one epoch.
pub(crate) struct Page<'a> {
    set: &'a mut HashSet<u64>,
    live: &'a mut usize,
    stats: &'a mut SeenStats,
}

impl Page<'_> {
    /// Whether the tuple was applied before; counts it then.
    #[inline]
    pub(crate) fn repeats(&mut self, lineage: u64, input: u32) -> bool {
        let seen = self.set.contains(&lineage::by_input(lineage, input));
        self.stats.repeats += u64::from(seen);
        seen
    }

    /// The tuple is applied: only now is it seen.
    #[inline]
    pub(crate) fn note(&mut self, lineage: u64, input: u32) {
        if self.set.insert(lineage::by_input(lineage, input)) {
            *self.live += 1;
            self.stats.peak = self.stats.peak.max(*self.live);
        }
    }
}
