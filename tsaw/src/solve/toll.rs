//! What it costs to leave a standing placement, and the budget for it.

use super::model::Model;
use crate::{Placement, TaskGraph};

/// Where the tasks of a unit are now, by node: how many, bytes of their state.
type Home = Vec<(u32, i64, i64)>;

#[derive(Clone, Debug)]
pub(crate) struct Toll {
    homes: Vec<Home>,
    size: Vec<(i64, i64)>,
    /// What a move must save, in tuples a second times distance.
    pub(super) per_move: i128,
    /// The model's unit of rates in tuples a second.
    unit_rate: i128,
    pub(crate) moves: i64,
    pub(crate) bytes: i64,
    max_moves: i64,
    max_bytes: i64,
}

impl Toll {
    /// For a search that starts at `place`.
    pub(crate) fn new(
        model: &Model<'_>,
        graph: &TaskGraph,
        standing: &Placement,
        place: &[u32],
        budget: &crate::Budget,
    ) -> Self {
        let mut homes: Vec<Home> = vec![Vec::new(); model.units()];
        let mut size = vec![(0, 0); model.units()];
        for ((task, &unit), &at) in graph.tasks.iter().zip(model.unit_of()).zip(standing.nodes()) {
            let (node, bytes) = (model.number(at), task.state_bytes.cast_signed());
            homes[unit as usize].push((node, 1, bytes));
            size[unit as usize].0 += 1;
            size[unit as usize].1 += bytes;
        }
        // A large group may stand on as many nodes: sorted, so that none is looked for in a row.
        for home in homes.iter_mut().filter(|home| home.len() > 1) {
            home.sort_unstable();
            home.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    (kept.1, kept.2) = (kept.1 + next.1, kept.2 + next.2);
                }
                same
            });
        }
        let limit = |limit: Option<u64>| {
            limit.map_or(i64::MAX, |limit| limit.min(i64::MAX.unsigned_abs()).cast_signed())
        };
        let mut toll = Self {
            homes,
            size,
            per_move: i128::from(budget.min_gain_per_move),
            unit_rate: i128::from(model.unit_rate),
            moves: 0,
            bytes: 0,
            max_moves: limit(budget.max_moves),
            max_bytes: limit(budget.max_bytes),
        };
        for (unit, &node) in place.iter().enumerate() {
            let (moves, bytes) = toll.away(unit, node);
            toll.moves += moves;
            toll.bytes += bytes;
        }
        toll
    }

    /// What the moves so far must save.
    pub(crate) fn due(&self) -> i128 {
        self.per_move * i128::from(self.moves)
    }

    /// A cost of the model in tuples a second times distance. Both sides are compared in that unit,
    /// so that nothing is rounded.
    pub(crate) fn full_cost(&self, cost: i128) -> i128 {
        cost * self.unit_rate
    }

    /// Where most of a unit's tasks stand, on the first of several such nodes; `None` if that is
    /// no live node.
    pub(super) fn home(&self, unit: usize) -> Option<u32> {
        let most = self.homes[unit].iter().max_by_key(|(node, count, _)| (*count, !node))?;
        (most.0 != super::NOWHERE).then_some(most.0)
    }

    pub(crate) fn within_budget(&self) -> bool {
        self.moves <= self.max_moves && self.bytes <= self.max_bytes
    }

    /// Tasks and bytes of a unit that have moved if it is on `node`.
    fn away(&self, unit: usize, node: u32) -> (i64, i64) {
        let (count, bytes) = self.size[unit];
        let homes = &self.homes[unit];
        match homes.binary_search_by_key(&node, |&(home, _, _)| home) {
            Ok(at) => (count - homes[at].1, bytes - homes[at].2),
            Err(_) => (count, bytes),
        }
    }

    /// How many moves more it takes; `None` if that takes more than the budget has.
    pub(super) fn moves(&self, unit: usize, from: u32, to: u32) -> Option<i64> {
        let ((before, freed), (after, bytes)) = (self.away(unit, from), self.away(unit, to));
        let (more, more_bytes) = (after - before, bytes - freed);
        let kept = (more <= 0 || self.moves + more <= self.max_moves)
            && (more_bytes <= 0 || self.bytes + more_bytes <= self.max_bytes);
        kept.then_some(more)
    }

    pub(super) fn book(&mut self, unit: usize, from: u32, to: u32) {
        let ((before, freed), (after, bytes)) = (self.away(unit, from), self.away(unit, to));
        self.moves += after - before;
        self.bytes += bytes - freed;
    }
}
