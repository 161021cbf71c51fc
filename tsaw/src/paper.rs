//! Algorithm 1 of the paper: nodes are filled one after the other with the task of largest gain.

use crate::frontier::{Frontier, Gap};
use crate::options::{NodeOrder, PaperOptions, SeedRule, Stop, Target};
use crate::rng::SplitMix64;
use crate::steps::Steps;
use crate::{Cluster, Kind, NodeId, Placement, TaskGraph, TaskId};

/// Runs Algorithm 1 over the live nodes. When the steps end, what is left stays on the last
/// node, as it does when all nodes are full.
///
/// Of several runs each one after the first takes a step for each task, stream and node besides,
/// as it sets up and measures them; one that the steps end in counts for nothing, as what it has left
/// on the last node is not cut.
///
/// O((tasks + streams) · log tasks + nodes · log nodes) time a run and O(tasks + streams) space.
pub(crate) fn place(
    graph: &TaskGraph,
    cluster: &Cluster,
    options: &PaperOptions,
    seed: u64,
    steps: &mut Steps,
) -> Placement {
    let runs = match options.seed_rule {
        SeedRule::BestOf(runs) => u64::from(runs.max(1)),
        _ => 1,
    };
    let (mut best, mut ended) = Growth::new(graph, cluster, options, seed).run(steps);
    let mut least = if runs > 1 { cut_of(graph, &best) } else { 0 };
    let setup = graph.len() + 2 * graph.pair_count() + cluster.nodes().len();
    for run in 1..runs {
        if ended || !steps.take(setup) {
            break;
        }
        let growth = Growth::new(graph, cluster, options, seed.wrapping_add(run));
        let (nodes, short) = growth.run(steps);
        let cut = cut_of(graph, &nodes);
        if !short && cut < least {
            (least, best) = (cut, nodes);
        }
        ended = short;
    }
    Placement::new(best)
}

fn cut_of(graph: &TaskGraph, nodes: &[NodeId]) -> i64 {
    let cut = |task: usize| {
        graph.row(task).filter(move |&(other, _)| nodes[other as usize] != nodes[task])
    };
    (0..graph.len()).flat_map(cut).map(|(_, rate)| rate).sum::<i64>() / 2
}

/// A task as the growth sees it: what it exchanges with the last node and with the growing one.
#[derive(Clone, Copy, Debug)]
struct View {
    last: i64,
    growing: i64,
    /// The round in which `growing` was written.
    round: u32,
    placed: bool,
}

struct Growth<'a> {
    graph: &'a TaskGraph,
    cluster: &'a Cluster,
    options: &'a PaperOptions,
    order: Vec<NodeId>,
    views: Vec<View>,
    nodes: Vec<NodeId>,
    spouts: Pool,
    bolts: Pool,
    reserved: Option<u32>,
    rng: SplitMix64,
    frontier: Frontier,
    load_left: u64,
}

impl<'a> Growth<'a> {
    fn new(
        graph: &'a TaskGraph,
        cluster: &'a Cluster,
        options: &'a PaperOptions,
        seed: u64,
    ) -> Self {
        let mut order: Vec<NodeId> = cluster.alive().collect();
        let node = |id: &NodeId| cluster.nodes()[id.index()];
        match options.order {
            NodeOrder::Input => {}
            NodeOrder::CapacityDescending => {
                order.sort_by_key(|id| std::cmp::Reverse(node(id).cpu));
            }
            NodeOrder::SourcesFirst => order.sort_by_key(|id| !node(id).has_source),
        }
        let is_spout = |task: &u32| graph.kind(TaskId(*task)) == Some(Kind::Spout);
        let ids = 0..graph.len() as u32;
        let (mut spouts, bolts): (Vec<u32>, Vec<u32>) = ids.partition(is_spout);
        let source_on_last = order.last().is_some_and(|last| node(last).has_source);
        let reserve = options.reserve_spout_on_last && source_on_last;
        let last = order.last().copied().unwrap_or(NodeId(0));
        let reserved = spouts.first().copied().filter(|_| reserve);
        spouts.retain(|&task| reserved != Some(task));
        let strength = |task: usize| graph.row(task).map(|(_, rate)| rate).sum();
        let view = |task| View { last: strength(task), growing: 0, round: 0, placed: false };
        Self {
            reserved,
            views: (0..graph.len()).map(view).collect(),
            nodes: vec![last; graph.len()],
            spouts: Pool::new(spouts, graph, options.seed_rule),
            bolts: Pool::new(bolts, graph, options.seed_rule),
            rng: SplitMix64::new(seed),
            frontier: Frontier::default(),
            load_left: graph.total_cpu(),
            graph,
            cluster,
            options,
            order,
        }
    }

    /// The node of each task, and whether the steps have ended before all nodes were filled.
    fn run(mut self, steps: &mut Steps) -> (Vec<NodeId>, bool) {
        let mut built = 0..self.order.len().saturating_sub(1);
        let ended = built.any(|position| !self.fill(position, steps));
        (self.nodes, ended)
    }

    /// Steps 2 to 5 for one node. False if the steps have ended.
    fn fill(&mut self, position: usize, steps: &mut Steps) -> bool {
        let id = self.order[position];
        let has_source = self.cluster.nodes()[id.index()].has_source;
        let round = position as u32 + 1;
        let (target, parts) = self.target(position);
        self.frontier.clear();
        let mut load: u64 = 0;
        let mut first = true;
        loop {
            let missing = target - i128::from(load) * parts;
            // Step 5: W ≥ W̄, as with > a sum that meets the ideal exactly takes one task more.
            if missing <= 0 && !first {
                return true;
            }
            let gap = Gap { missing, parts };
            // Step 3 and 4; step 2 if nothing left is associated.
            let (views, tasks) = (&self.views, self.graph.tasks());
            let live = |task: u32| {
                let view = &views[task as usize];
                (!view.placed && view.round == round).then(|| view.growing - view.last)
            };
            let grown = self.frontier.pop(gap, live, |task| tasks[task as usize].cpu);
            let Some(task) = grown.or_else(|| self.seed(has_source)) else { return true };
            let cpu = tasks[task as usize].cpu;
            let over = i128::from(cpu) * parts > missing;
            let refused = match self.options.stop {
                Stop::Cross => false,
                Stop::Under => over,
                Stop::Nearest => over && gap.distance(cpu) > missing.unsigned_abs(),
            };
            if refused && !first {
                return true;
            }
            if !steps.take(1 + self.graph.row(task as usize).len()) {
                return false;
            }
            first = false;
            load += cpu;
            self.load_left -= cpu;
            self.take(task, id, round);
        }
    }

    /// The target of the node at that position, as a fraction.
    fn target(&self, position: usize) -> (i128, i128) {
        let total = i128::from(self.graph.total_cpu());
        let nodes = self.order.len();
        match self.options.target {
            Target::FixedIdeal => (total, nodes as i128),
            Target::RemainingIdeal => (i128::from(self.load_left), (nodes - position) as i128),
            Target::Proportional => {
                let cpu = |id: &NodeId| i128::from(self.cluster.nodes()[id.index()].cpu);
                let sum: i128 = self.order.iter().map(cpu).sum();
                (total * cpu(&self.order[position]), sum)
            }
        }
    }

    /// Step 2: a spout where a source is or no bolt is left, else a bolt, else what there is.
    fn seed(&mut self, has_source: bool) -> Option<u32> {
        let spout_first = match has_source {
            true => self.spouts.left > 0,
            false => self.bolts.left == 0,
        };
        let pool = if spout_first { &mut self.spouts } else { &mut self.bolts };
        pool.pick(&mut self.rng)
    }

    fn take(&mut self, task: u32, node: NodeId, round: u32) {
        self.views[task as usize].placed = true;
        self.nodes[task as usize] = node;
        let kind = self.graph.kind(TaskId(task));
        let pool = if kind == Some(Kind::Spout) { &mut self.spouts } else { &mut self.bolts };
        pool.remove(task);
        for (other, rate) in self.graph.row(task as usize) {
            let view = &mut self.views[other as usize];
            if view.placed {
                continue;
            }
            if view.round != round {
                view.round = round;
                view.growing = 0;
            }
            view.growing += rate;
            view.last -= rate;
            if self.reserved != Some(other) {
                let cpu = self.graph.tasks()[other as usize].cpu;
                self.frontier.push(view.growing - view.last, other, cpu);
            }
        }
    }
}

/// The spouts or the bolts that are still on the last node.
struct Pool {
    /// In the order of the rule; where it is random, without those that are gone.
    tasks: Vec<u32>,
    /// Where each task of the graph is in `tasks`, or [`GONE`].
    places: Vec<u32>,
    next: usize,
    left: usize,
    random: bool,
}

const GONE: u32 = u32::MAX;

impl Pool {
    fn new(mut tasks: Vec<u32>, graph: &TaskGraph, rule: SeedRule) -> Self {
        if rule == SeedRule::MaxStrength {
            let strength = |task: u32| graph.row(task as usize).map(|(_, rate)| rate).sum::<i64>();
            tasks.sort_by_cached_key(|&task| std::cmp::Reverse(strength(task)));
        }
        let mut places = vec![GONE; graph.len()];
        for (place, &task) in (0..).zip(&tasks) {
            places[task as usize] = place;
        }
        let random = matches!(rule, SeedRule::Random | SeedRule::BestOf(_));
        Self { left: tasks.len(), tasks, places, next: 0, random }
    }

    fn pick(&mut self, rng: &mut SplitMix64) -> Option<u32> {
        if self.random {
            return self.tasks.get(rng.index(self.tasks.len())).copied();
        }
        while self.places[*self.tasks.get(self.next)? as usize] == GONE {
            self.next += 1;
        }
        self.tasks.get(self.next).copied()
    }

    fn remove(&mut self, task: u32) {
        let place = std::mem::replace(&mut self.places[task as usize], GONE) as usize;
        self.left -= 1;
        if self.random {
            self.tasks.swap_remove(place);
            if let Some(&moved) = self.tasks.get(place) {
                self.places[moved as usize] = place as u32;
            }
        }
    }
}
