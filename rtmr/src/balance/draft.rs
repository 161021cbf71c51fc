//! Moves in the making: what nodes have after them, what is left undone, and why.

use super::cluster::{Band, Cluster, Entry};
use super::decompose::{Decomposition, Group, GroupRule, GroupState};
use super::effort::best_effort;
use super::options::Options;
use super::plan::{Move, Outcome, Plan, Shortage};
use super::problem::{Problem, Source, items_of, largest_room, problems, relievable};
use super::select::break_item;
use super::solve::Solved;
use super::widest::Widest;

/// Moves in the making, and the loads after them.
pub(crate) struct Draft {
    moves: Vec<Move>,
    bytes: u64,
    loads: Vec<f64>,
}

impl Draft {
    pub(crate) fn new(cluster: &Cluster<'_>) -> Self {
        Self { moves: Vec::new(), bytes: 0, loads: cluster.loads().to_vec() }
    }

    pub(crate) fn add(&mut self, problem: &Problem, moves: &[(u32, u32)]) {
        let mut source = vec![0_u32; if moves.is_empty() { 0 } else { problem.items.len() }];
        if !moves.is_empty() {
            for s in &problem.sources {
                source[s.range()].fill(s.node);
            }
        }
        for &(item, target) in moves {
            let from = source[item as usize];
            let (item, to) = (&problem.items[item as usize], problem.targets[target as usize].node);
            self.loads[from as usize] -= item.load;
            self.loads[to as usize] += item.load;
            self.bytes += item.bytes;
            self.moves.push(Move { entry: item.entry, from, to, bytes: item.bytes });
        }
    }

    /// Does what it can for nodes without a group, by the room that is left.
    pub(crate) fn serve(&mut self, cluster: &Cluster<'_>, band: Band, left_over: &[u32]) {
        if left_over.is_empty() {
            return;
        }
        let nodes = cluster.capacity().iter().zip(cluster.loads());
        let idle: Vec<u32> = (0_u32..)
            .zip(nodes)
            .filter(|&(_, (&p, &s))| band.is_idle(p, s))
            .map(|(node, _)| node)
            .collect();
        let group = Group {
            over: left_over.to_vec(),
            spared: idle.clone(),
            idle,
            d1: 0.0,
            d2: 0.0,
            d3: 0.0,
            d4: 0.0,
            state: GroupState::Incomplete,
        };
        for mut problem in problems(cluster, band, &[group]) {
            for target in &mut problem.targets {
                let node = target.node as usize;
                target.high -= self.loads[node] - cluster.loads()[node];
            }
            let moves = best_effort(&problem);
            self.add(&problem, &moves);
        }
    }

    /// Takes off nodes without capacity what is so light that their sums do not show it, to where
    /// most room is: such a node is to be left with nothing that has load.
    pub(crate) fn sweep(&mut self, cluster: &Cluster<'_>, band: Band) {
        let (p, s) = (cluster.capacity(), cluster.loads());
        if !p.iter().zip(s).any(|(&p, &s)| p == 0.0 && s > 0.0) {
            return;
        }
        let mut moved = vec![false; cluster.entries().len()];
        self.moves.iter().for_each(|step| moved[step.entry as usize] = true);
        let nodes = (0_u32..).zip(p.iter().zip(s));
        let idle = nodes.filter(|&(_, (&p, &s))| band.is_idle(p, s)).map(|(node, _)| node);
        let idle: Vec<u32> = idle.collect();
        let room = |&node: &u32| band.high(p[node as usize]) - self.loads[node as usize];
        let mut rooms = Widest::new(idle.iter().map(room));
        for (entry, e) in (0_u32..).zip(cluster.entries()) {
            let from = e.owner as usize;
            let light = e.load >= Entry::LEAST_LOAD && e.load <= Band::TOLERANCE * s[from];
            if p[from] > 0.0 || !light || moved[entry as usize] {
                continue;
            }
            let Some((at, _)) = rooms.peek().filter(|&(_, room)| room >= e.load) else { return };
            rooms.take(e.load);
            let to = idle[at as usize];
            self.loads[from] -= e.load;
            self.loads[to as usize] += e.load;
            self.bytes += e.bytes;
            self.moves.push(Move { entry, from: e.owner, to, bytes: e.bytes });
        }
    }

    pub(crate) fn finish(
        mut self,
        cluster: &Cluster<'_>,
        band: Band,
        options: &Options<'_>,
        decomposition: Decomposition,
        made: &[(Problem, Solved)],
        reproducible: bool,
    ) -> Plan {
        self.moves.sort_unstable_by_key(|a| a.entry);
        let (mut left_over, mut left_idle) = (Vec::new(), Vec::new());
        for (node, (&p, &before)) in (0_u32..).zip(cluster.capacity().iter().zip(cluster.loads())) {
            let after = self.loads[node as usize];
            let slack = band.slack(p, before, 0.5 * Band::TOLERANCE);
            if after > band.high(p) + slack {
                left_over.push(node);
            } else if after < band.low(p) - slack {
                left_idle.push(node);
            }
        }
        let lower_bound = lower_bound(cluster, band, made, &left_over);
        let outcome = if left_over.is_empty() {
            if left_idle.is_empty() { Outcome::Balanced } else { Outcome::Partial }
        } else {
            self.outcome(cluster, band, options, &left_over)
        };
        Plan {
            moves: self.moves,
            bytes: self.bytes,
            lower_bound,
            group_bound: made.iter().map(|(_, solved)| solved.bound).sum(),
            outcome,
            left_over,
            left_idle,
            groups: decomposition.groups,
            steps: made.iter().map(|(_, solved)| solved.steps).sum(),
            optimal: decomposition.left_over.is_empty()
                && made.iter().all(|(_, solved)| solved.feasible && solved.proven),
            reproducible,
        }
    }

    /// Why nodes stay overloaded.
    fn outcome(
        &self,
        cluster: &Cluster<'_>,
        band: Band,
        options: &Options<'_>,
        left_over: &[u32],
    ) -> Outcome {
        let (mut needed, mut room) = (0.0, 0.0);
        for (&p, &s) in cluster.capacity().iter().zip(cluster.loads()) {
            if band.is_over(p, s) {
                needed += s - band.high(p);
            } else if band.is_idle(p, s) {
                room += band.high(p) - s;
            }
        }
        let over =
            |&node: &u32| self.loads[node as usize] - band.high(cluster.capacity()[node as usize]);
        let largest = cluster.capacity().iter().copied().fold(0.0, f64::max);
        let capacity = options.new_node.unwrap_or(largest);
        let left: f64 = left_over.iter().map(over).sum();
        #[allow(clippy::cast_sign_loss, reason = "neither is below 0")]
        let nodes = (capacity > 0.0).then(|| (left / band.high(capacity)).ceil() as u64);
        // A node that can't be relieved by any number of idle nodes says more than the sums.
        let fixed = |&node: &u32| {
            band.is_over(cluster.capacity()[node as usize], cluster.base()[node as usize])
        };
        let fixed: Vec<u32> = left_over.iter().copied().filter(fixed).collect();
        if !fixed.is_empty() {
            return Outcome::FixedLoad(fixed);
        }
        if needed > room * (1.0 + Band::TOLERANCE) {
            let why = Shortage::Room { needed, room };
            return Outcome::NeedNodes { nodes, why };
        }
        let widest = largest_room(cluster, band);
        let relievable = relievable(cluster, band, widest);
        let stuck: Vec<u32> =
            left_over.iter().copied().filter(|&node| !relievable[node as usize]).collect();
        let hot = items_of(cluster, band, &stuck, widest).1;
        if !hot.is_empty() {
            return Outcome::HotEntry(hot);
        }
        if matches!(options.groups, GroupRule::Paper | GroupRule::Pairwise | GroupRule::Star) {
            let why = Shortage::Grouping;
            return Outcome::NeedNodes { nodes, why };
        }
        Outcome::Unsolved
    }
}

/// Σ F_j(need_j) over the overloaded nodes that are no longer so.
fn lower_bound(
    cluster: &Cluster<'_>,
    band: Band,
    made: &[(Problem, Solved)],
    left_over: &[u32],
) -> f64 {
    let relieved = |node: &u32| left_over.binary_search(node).is_err();
    // Each group has the sum at hand, unless it is of other nodes or of other entries.
    let mut sum = 0.0;
    let mut anew: Vec<u32> = Vec::new();
    let mut grouped = vec![false; cluster.capacity().len()];
    for (problem, solved) in made {
        problem.sources.iter().for_each(|source| grouped[source.node as usize] = true);
        let as_is = |source: &Source| !source.narrowed && relieved(&source.node);
        if solved.covers > 0.0 && problem.sources.iter().all(as_is) {
            sum += solved.covers;
        } else {
            anew.extend(problem.sources.iter().map(|source| source.node).filter(relieved));
        }
    }
    let nodes = cluster.capacity().iter().zip(cluster.loads());
    for (node, (&p, &s)) in (0_u32..).zip(nodes) {
        if band.is_over(p, s) && !grouped[node as usize] && relieved(&node) {
            anew.push(node);
        }
    }
    if anew.is_empty() {
        return sum;
    }
    let (lists, _) = items_of(cluster, band, &anew, largest_room(cluster, band));
    for (node, mut items) in anew.into_iter().zip(lists) {
        let (p, s) = (cluster.capacity()[node as usize], cluster.loads()[node as usize]);
        let need = s - band.high(p) - band.slack(p, s, 0.1 * Band::TOLERANCE);
        sum += break_item(&mut items, need).fractional(&items, need);
    }
    sum
}
