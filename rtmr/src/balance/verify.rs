//! Whether a plan is what it says, from the cluster and the band alone.
//!
//! Shares no code with the solver but the types: sums are compensated, bounds come by sorting.

use super::cluster::{Band, Cluster, Entry};
use super::plan::{Move, Outcome, Plan};

/// What a plan was found to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// Bytes of all moves.
    pub bytes: u64,
    /// Bytes that every plan moves at least that relieves the same nodes.
    pub lower_bound: f64,
    /// Bytes over the bound, less 1.
    pub gap: f64,
    /// The load of each node after the moves.
    pub loads: Vec<f64>,
}

/// Where a plan is not what it says, or breaks a rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A move of an entry or to a node that is not there.
    #[error("move {0} is of an entry or to a node that is not there")]
    Unknown(usize),
    /// A move that is not from the entry's owner, or to it, or of another number of bytes.
    #[error("move {0} has another owner or other bytes than the entry, or does not move it")]
    NotTheEntry(usize),
    /// Moves that are not in the order of their entries, or two of one entry: constraint (5).
    #[error("entry {0} moves twice, or out of order")]
    Twice(u32),
    /// A node gives that is not overloaded, or gets that is not idle.
    #[error("node {0} was not overloaded and gives, or not idle and gets")]
    WrongEnd(u32),
    /// A node that was relieved became idle.
    #[error("node {0} was overloaded and is idle now")]
    SourceIdle(u32),
    /// A node that was idle became overloaded: constraint (8).
    #[error("node {0} was idle and is overloaded now")]
    TargetOver(u32),
    /// The nodes named as overloaded or idle after the plan are others: constraints (6), (7).
    #[error("node {0} is named as out of its band and is not, or is and is not named")]
    Left(u32),
    /// The outcome does not go with the nodes that are left.
    #[error("the outcome does not go with the nodes that are left out of their band")]
    Outcome,
    /// Another sum of bytes.
    #[error("the moves are of {is} bytes, not {said}")]
    Bytes {
        /// What they are.
        is: u64,
        /// What the plan says.
        said: u64,
    },
    /// A lower bound that can't be shown.
    #[error("a bound of {said} bytes can't be shown, only one of {is}")]
    Bound {
        /// What can be shown.
        is: f64,
        /// What the plan says.
        said: f64,
    },
}

/// Checks every constraint of a plan, its bytes and its bound. O(nodes + h log h) time.
///
/// Loads may be outside of a band by [`Band::TOLERANCE`].
///
/// # Errors
/// The first mismatch.
pub fn verify(cluster: &Cluster<'_>, band: Band, plan: &Plan) -> Result<Report, Mismatch> {
    let nodes = cluster.capacity().len();
    let mut before = vec![Sum::default(); nodes];
    for (sum, &base) in before.iter_mut().zip(cluster.base()) {
        sum.add(base);
    }
    for entry in cluster.entries() {
        before[entry.owner as usize].add(entry.load);
    }
    let mut after = before.clone();
    let (mut gives, mut gets) = (vec![false; nodes], vec![false; nodes]);
    let mut bytes = 0_u64;
    let mut last: Option<u32> = None;
    for (at, step) in plan.moves.iter().enumerate() {
        let entry = find(cluster, step).ok_or(Mismatch::Unknown(at))?;
        if entry.owner != step.from || entry.bytes != step.bytes || step.to == step.from {
            return Err(Mismatch::NotTheEntry(at));
        }
        if last.is_some_and(|last| last >= step.entry) {
            return Err(Mismatch::Twice(step.entry));
        }
        last = Some(step.entry);
        after[step.from as usize].add(-entry.load);
        after[step.to as usize].add(entry.load);
        gives[step.from as usize] = true;
        gets[step.to as usize] = true;
        // No overflow: entries move once, and all of them fit.
        bytes += step.bytes;
    }
    let loads: Vec<f64> = after.iter().map(Sum::value).collect();
    let ends = Ends { cluster, band, before: before.iter().map(Sum::value).collect() };
    for node in 0..nodes {
        check_rules(&ends, node, loads[node], gives[node], gets[node])?;
    }
    for (node, &load) in loads.iter().enumerate() {
        check_names(&ends, node, load, plan)?;
    }
    let outcome = match plan.outcome {
        Outcome::Balanced => plan.left_over.is_empty() && plan.left_idle.is_empty(),
        Outcome::Partial => plan.left_over.is_empty() && !plan.left_idle.is_empty(),
        _ => !plan.left_over.is_empty(),
    };
    if !outcome {
        return Err(Mismatch::Outcome);
    }
    if bytes != plan.bytes {
        return Err(Mismatch::Bytes { is: bytes, said: plan.bytes });
    }
    let lower_bound = bound(&ends, &plan.left_over);
    // Not `>`: a bound that is no number is refused.
    if !(plan.lower_bound >= 0.0 && plan.lower_bound <= lower_bound * (1.0 + 1e-9)) {
        return Err(Mismatch::Bound { is: lower_bound, said: plan.lower_bound });
    }
    Ok(Report { bytes, lower_bound, gap: super::plan::gap(bytes, lower_bound), loads })
}

fn find<'a>(cluster: &Cluster<'a>, step: &Move) -> Option<&'a Entry> {
    cluster
        .entries()
        .get(step.entry as usize)
        .filter(|_| (step.to as usize) < cluster.capacity().len())
}

/// Neumaier's sum: off by a unit or so in the last place, however many are added.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let (large, small) =
            if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.lost += (large - sum) + small;
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

/// Loads before the plan, and what follows from them.
struct Ends<'a> {
    cluster: &'a Cluster<'a>,
    band: Band,
    before: Vec<f64>,
}

impl Ends<'_> {
    fn low(&self, node: usize) -> f64 {
        (1.0 - self.band.tau()) * self.cluster.capacity()[node]
    }

    fn high(&self, node: usize) -> f64 {
        (1.0 + self.band.phi()) * self.cluster.capacity()[node]
    }

    /// `part` of the tolerance, in the unit of loads.
    fn slack(&self, node: usize, part: f64) -> f64 {
        part * Band::TOLERANCE * self.high(node).max(self.before[node])
    }
}

/// One node: who may give and get, and constraint (8) and its mirror.
fn check_rules(
    ends: &Ends<'_>,
    node: usize,
    after: f64,
    gives: bool,
    gets: bool,
) -> Result<(), Mismatch> {
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    let id = node as u32;
    let (low, high, before) = (ends.low(node), ends.high(node), ends.before[node]);
    // Half the tolerance, more or less, is where a node begins to be out of its band.
    let near = ends.slack(node, 0.25);
    if gives && before <= high + near || gets && before >= low - near {
        return Err(Mismatch::WrongEnd(id));
    }
    let slack = ends.slack(node, 1.0);
    if gives && after < low - slack {
        return Err(Mismatch::SourceIdle(id));
    }
    if gets && after > high + slack {
        return Err(Mismatch::TargetOver(id));
    }
    Ok(())
}

/// One node: constraints (6) and (7), unless it is named as left.
fn check_names(ends: &Ends<'_>, node: usize, after: f64, plan: &Plan) -> Result<(), Mismatch> {
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    let id = node as u32;
    let (near, slack) = (ends.slack(node, 0.25), ends.slack(node, 1.0));
    let (over, under) = (after - ends.high(node), ends.low(node) - after);
    for (list, beyond) in [(&plan.left_over, over), (&plan.left_idle, under)] {
        let named = list.binary_search(&id).is_ok();
        if (named && beyond <= near) || (!named && beyond > slack) {
            return Err(Mismatch::Left(id));
        }
    }
    Ok(())
}

/// Σ F_j(need_j) over overloaded nodes that are not in `left_over`: fractional covers by sorting.
fn bound(ends: &Ends<'_>, left_over: &[u32]) -> f64 {
    let nodes = ends.before.len();
    let room = |node: &usize| ends.high(*node) - ends.before[*node] + ends.slack(*node, 1.0);
    let idle = |node: &usize| ends.before[*node] < ends.low(*node);
    let widest = (0..nodes).filter(idle).map(|node| room(&node)).fold(0.0, f64::max);
    let mut of_node: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); nodes];
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    let relieved = |node: usize| {
        ends.before[node] > ends.high(node) && left_over.binary_search(&(node as u32)).is_err()
    };
    for entry in ends.cluster.entries() {
        let node = entry.owner as usize;
        let most = ends.before[node] - ends.low(node) + ends.slack(node, 1.0);
        // What is larger than all room, or would leave its node idle, can't move in any plan.
        if relieved(node) && entry.load >= Entry::LEAST_LOAD && entry.load <= widest.min(most) {
            #[allow(clippy::cast_precision_loss, reason = "a bound in floats")]
            let bytes = entry.bytes as f64;
            of_node[node].push((bytes / entry.load, entry.load, bytes));
        }
    }
    let mut sum = Sum::default();
    for (node, entries) in of_node.iter_mut().enumerate() {
        entries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut need = ends.before[node] - ends.high(node);
        for &(_, load, bytes) in entries.iter() {
            if need <= 0.0 {
                break;
            }
            sum.add(bytes * (need / load).min(1.0));
            need -= load;
        }
    }
    sum.value()
}
