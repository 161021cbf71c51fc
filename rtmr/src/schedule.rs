//! When the moves of a plan are made: all at once, one by one, or in batches in which no node has
//! more than one.

use std::collections::BTreeMap;

use crate::balance::Move;

/// How a plan is carried out; the names are Megaphone's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Migration {
    /// All moves in one step: soonest done, and the longest standstill.
    Sudden,
    /// One move a step.
    Fluid,
    /// Every step is a matching: a node sends or receives one entry at most. As few steps as the
    /// busiest node has moves, which is the least there can be.
    Batched,
}

/// The moves in steps; within a step they are in the order in which they were given.
///
/// O(moves) for sudden and fluid. Batched is an edge colouring of the bipartite graph from senders
/// to receivers by alternating paths (Kőnig): O(moves · nodes · log moves) at worst. A node that
/// sends and receives, which no plan of this crate has, counts as two.
#[must_use]
pub fn schedule(moves: &[Move], migration: Migration) -> Vec<Vec<Move>> {
    match migration {
        Migration::Sudden if moves.is_empty() => Vec::new(),
        Migration::Sudden => vec![moves.to_vec()],
        Migration::Fluid => moves.iter().map(|&step| vec![step]).collect(),
        Migration::Batched => batches(moves),
    }
}

fn batches(moves: &[Move]) -> Vec<Vec<Move>> {
    let mut colouring = Colouring::new(moves);
    for edge in 0..moves.len() {
        colouring.colour(edge);
    }
    let mut steps = vec![Vec::new(); colouring.colours];
    for (step, &colour) in moves.iter().zip(&colouring.of_edge) {
        steps[colour].push(*step);
    }
    steps
}

/// One end of an edge: its colours, and the edge of each.
#[derive(Clone, Debug, Default)]
struct Node {
    edges: BTreeMap<usize, usize>,
    /// No colour below this one is free.
    free_from: usize,
}

impl Node {
    fn free(&mut self) -> usize {
        while self.edges.contains_key(&self.free_from) {
            self.free_from += 1;
        }
        self.free_from
    }
}

struct Colouring {
    /// Senders, then receivers.
    nodes: Vec<Node>,
    ends: Vec<(usize, usize)>,
    of_edge: Vec<usize>,
    colours: usize,
}

impl Colouring {
    fn new(moves: &[Move]) -> Self {
        let mut ids = BTreeMap::new();
        let mut ends = Vec::with_capacity(moves.len());
        for step in moves {
            let mut id = |key| {
                let next = ids.len();
                *ids.entry(key).or_insert(next)
            };
            ends.push((id((0, step.from)), id((1, step.to))));
        }
        let nodes = vec![Node::default(); ids.len()];
        Self { nodes, of_edge: vec![0; ends.len()], ends, colours: 0 }
    }

    /// Gives an edge a colour that is free at both of its ends.
    fn colour(&mut self, edge: usize) {
        let (from, to) = self.ends[edge];
        let (a, b) = (self.nodes[from].free(), self.nodes[to].free());
        if a != b {
            // Along the path from `to` of edges coloured a, b, a, …, change the two. It ends
            // elsewhere than at `from`, where a is free, as the graph is bipartite.
            self.swap(to, a, b);
        }
        self.set(edge, a);
    }

    fn set(&mut self, edge: usize, colour: usize) {
        let (from, to) = self.ends[edge];
        self.nodes[from].edges.insert(colour, edge);
        self.nodes[to].edges.insert(colour, edge);
        self.of_edge[edge] = colour;
        self.colours = self.colours.max(colour + 1);
    }

    fn swap(&mut self, start: usize, first: usize, second: usize) {
        let (mut path, mut node, mut colour) = (Vec::new(), start, first);
        while let Some(&edge) = self.nodes[node].edges.get(&colour) {
            path.push(edge);
            let (from, to) = self.ends[edge];
            node = if node == from { to } else { from };
            colour = first + second - colour;
        }
        for &edge in &path {
            let colour = self.of_edge[edge];
            for node in [self.ends[edge].0, self.ends[edge].1] {
                let node = &mut self.nodes[node];
                node.edges.remove(&colour);
                node.free_from = node.free_from.min(colour);
            }
        }
        for edge in path {
            self.set(edge, first + second - self.of_edge[edge]);
        }
    }
}
