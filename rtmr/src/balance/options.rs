//! What may be chosen about a plan.

use super::anneal::{Anneal, Costs};
use super::decompose::GroupRule;

/// How a group is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Search {
    /// Covers by ratio, packed greedily: near-linear, and no search at all if they do not fit.
    Ratio,
    /// `Ratio` improved by Algorithm 2.
    Anneal(Anneal),
    /// `Ratio`, then branch and bound until the steps are over: for a few dozen entries.
    Exact,
    /// `Ratio`, and the others as far as it leaves something to be gained.
    #[default]
    Auto,
}

/// How a plan is made.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How nodes are grouped.
    pub groups: GroupRule,
    /// How a group is solved.
    pub search: Search,
    /// What time steps and bytes take: for Algorithm 2, and for when to stop.
    pub costs: Costs,
    /// Steps that searches may take in all: neighbours and nodes. The dynamic program of a cover
    /// looks at 60 000 states and a little more at most, for each overloaded node and whatever
    /// this says; they count all the same.
    pub steps: u64,
    /// The seed of the searches.
    pub seed: u64,
    /// The capacity of a node that could be added, for
    /// [`Outcome::NeedNodes`](super::Outcome::NeedNodes); by default the largest there is.
    pub new_node: Option<f64>,
    /// Asked now and then: at `false` searches end with what they have, and the plan is marked as
    /// not reproducible. This is how a host keeps a deadline, as this crate has no clock.
    pub keep_going: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            groups: GroupRule::default(),
            search: Search::default(),
            costs: Costs::default(),
            steps: 4_000_000,
            seed: 0,
            new_node: None,
            keep_going: None,
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("groups", &self.groups)
            .field("search", &self.search)
            .field("costs", &self.costs)
            .field("steps", &self.steps)
            .field("seed", &self.seed)
            .field("new_node", &self.new_node)
            .field("keep_going", &self.keep_going.is_some())
            .finish()
    }
}
