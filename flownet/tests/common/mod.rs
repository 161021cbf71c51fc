//! What the tests share: random networks and oracles that are obviously right.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use flownet::{Answer, Capacity, Limit, Method, Network, NodeId, Solver, verify};
use proptest::prelude::*;
use proptest::test_runner::Config;

pub const METHODS: [Method; 4] =
    [Method::EdmondsKarp, Method::Dinic, Method::PushRelabel, Method::Auto];

/// `cases` cases, times the environment variable `FLOWNET_CASES`.
pub fn cases(cases: u32) -> Config {
    let times = std::env::var("FLOWNET_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    Config {
        cases: cases.saturating_mul(times),
        max_global_rejects: u32::MAX,
        failure_persistence: None,
        ..Config::default()
    }
}

/// A network as plain data.
#[derive(Clone, Debug)]
pub struct Plan<C> {
    pub nodes: usize,
    pub arcs: Vec<(usize, usize, Limit<C>)>,
    pub capacities: Vec<(usize, C)>,
    pub sources: Vec<(usize, Limit<C>)>,
    pub sinks: Vec<(usize, Limit<C>)>,
}

impl<C: Capacity> Plan<C> {
    /// One source, the first node, and one sink, the last.
    pub fn simple(nodes: usize, arcs: &[(usize, usize, C)]) -> Self {
        Plan {
            nodes,
            arcs: arcs.iter().map(|&(u, v, c)| (u, v, Limit::Finite(c))).collect(),
            capacities: Vec::new(),
            sources: vec![(0, Limit::Unbounded)],
            sinks: vec![(nodes - 1, Limit::Unbounded)],
        }
    }

    pub fn network(&self) -> Network<C> {
        let mut net = Network::new();
        net.add_nodes(self.nodes).unwrap();
        for &(u, v, c) in &self.arcs {
            net.add_arc(id(u), id(v), c).unwrap();
        }
        for &(v, c) in &self.capacities {
            net.set_node_capacity(id(v), c).unwrap();
        }
        for &(v, c) in &self.sources {
            net.add_source(id(v), c).unwrap();
        }
        for &(v, c) in &self.sinks {
            net.add_sink(id(v), c).unwrap();
        }
        net
    }
}

pub fn id(node: usize) -> NodeId {
    NodeId(u32::try_from(node).unwrap())
}

/// A network with one source `s` and one sink `t`.
pub fn net<C: Capacity>(
    nodes: usize,
    s: usize,
    t: usize,
    arcs: &[(usize, usize, C)],
) -> Network<C> {
    let mut plan = Plan::simple(nodes, arcs);
    plan.sources = vec![(s, Limit::Unbounded)];
    plan.sinks = vec![(t, Limit::Unbounded)];
    plan.network()
}

/// The answer of a method, verified.
pub fn solved<C: Capacity>(net: &Network<C>, method: Method) -> Answer<C> {
    let answer = Solver::new(net).method(method).solve().unwrap();
    verify(net, &answer).unwrap_or_else(|violation| panic!("{method:?}: {violation}"));
    answer
}

/// The least capacity of all cuts, by trying each; `None` if all are unbounded. A node of the cut
/// lies with the sources, with the sinks, or is cut through.
pub fn least_cut(plan: &Plan<u64>, rate: Option<u64>) -> Option<u128> {
    let mut sides = vec![0_u8; plan.nodes];
    let mut least: Option<u128> = rate.map(u128::from);
    loop {
        if let Some(capacity) = capacity(plan, &sides) {
            least = Some(least.map_or(capacity, |least| least.min(capacity)));
        }
        // The next number to base three.
        let Some(digit) = sides.iter().position(|&side| side < 2) else { return least };
        sides[..digit].fill(0);
        sides[digit] += 1;
    }
}

/// 0 is the sink side, 1 the source side, 2 through the node.
fn capacity(plan: &Plan<u64>, sides: &[u8]) -> Option<u128> {
    let mut sum = 0_u128;
    let mut add = |limit: Limit<u64>| match limit {
        Limit::Finite(c) => {
            sum += u128::from(c);
            Some(())
        }
        Limit::Unbounded => None,
    };
    for (node, &side) in sides.iter().enumerate() {
        if side == 2 {
            let own = plan.capacities.iter().rev().find(|&&(v, _)| v == node);
            add(own.map_or(Limit::Unbounded, |&(_, c)| Limit::Finite(c)))?;
        }
    }
    for &(u, v, c) in &plan.arcs {
        if sides[u] == 1 && sides[v] == 0 {
            add(c)?;
        }
    }
    for &(v, bound) in &plan.sources {
        if sides[v] == 0 {
            add(bound)?;
        }
    }
    for &(v, bound) in &plan.sinks {
        if sides[v] == 1 {
            add(bound)?;
        }
    }
    Some(sum)
}

/// Small limits, some large ones, some zero, some without bound.
pub fn limit() -> impl Strategy<Value = Limit<u64>> {
    prop_oneof![
        6 => (0_u64..6).prop_map(Limit::Finite),
        1 => (0_u64..1_000_000).prop_map(Limit::Finite),
        1 => Just(Limit::Finite(u64::MAX / 64)),
        1 => Just(Limit::Unbounded),
    ]
}

/// Random multigraphs: parallel and anti-parallel arcs, self loops, node capacities, one or more
/// terminals with and without bounds.
pub fn plan(nodes: usize, arcs: usize) -> impl Strategy<Value = Plan<u64>> {
    (2..=nodes).prop_flat_map(move |n| {
        let arc = (0..n, 0..n, limit());
        let terminals =
            (proptest::collection::vec(0..3_u8, n), proptest::collection::vec(limit(), n));
        (
            proptest::collection::vec(arc, 0..=arcs),
            proptest::collection::vec((0..n, 0_u64..8), 0..3),
            terminals,
            proptest::bool::ANY,
        )
            .prop_map(move |(arcs, capacities, (roles, bounds), lone)| {
                let mut sources = vec![(0, bounds[0])];
                let mut sinks = vec![(n - 1, bounds[n - 1])];
                if lone {
                    sources[0].1 = Limit::Unbounded;
                    sinks[0].1 = Limit::Unbounded;
                } else {
                    for (v, role) in roles.iter().enumerate().take(n - 1).skip(1) {
                        match role {
                            1 => sources.push((v, bounds[v])),
                            2 => sinks.push((v, bounds[v])),
                            _ => {}
                        }
                    }
                }
                Plan { nodes: n, arcs, capacities, sources, sinks }
            })
    })
}
