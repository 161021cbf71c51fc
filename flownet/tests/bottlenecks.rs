//! Bottlenecks: exactly what helps when it alone is raised.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{cases, id, net, plan};
use flownet::{ArcId, Bottleneck, Error, Limit, Network, Place, bottlenecks, verify};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn named_exactly_if_one_more_helps(plan in plan(6, 12), rate in proptest::option::of(0_u64..9)) {
        let solve = |net: &Network<u64>, rate: Option<u64>| match rate {
            Some(rate) => net.solve_to(rate),
            None => net.solve(),
        };
        let net = plan.network();
        let Ok(answer) = solve(&net, rate) else { return Ok(()) };
        let named: Vec<Place> = bottlenecks(&net, &answer).iter().map(|b| b.at).collect();
        let mut helpful = Vec::new();
        // Whether the value rises; a network that becomes unbounded has no more to prove.
        let rises = |net: &Network<u64>, rate| solve(net, rate).map_or(true, |a| a.value > answer.value);
        if let Some(rate) = rate.filter(|&rate| rate > 0)
            && rises(&net, Some(rate + 1))
        {
            helpful.push(Place::Rate);
        }
        for index in 0..plan.sources.len() {
            let mut more = plan.clone();
            if raise(&mut more.sources[index].1) && rises(&more.network(), rate) {
                helpful.push(Place::Source(id(more.sources[index].0)));
            }
        }
        for (node, c) in net.node_capacities().filter(|&(_, c)| c > 0) {
            let mut more = net.clone();
            more.set_node_capacity(node, c + 1).unwrap();
            if rises(&more, rate) {
                helpful.push(Place::Node(node));
            }
        }
        for index in 0..plan.arcs.len() {
            let mut more = plan.clone();
            if raise(&mut more.arcs[index].2) && rises(&more.network(), rate) {
                helpful.push(Place::Arc(ArcId(u32::try_from(index).unwrap())));
            }
        }
        for index in 0..plan.sinks.len() {
            let mut more = plan.clone();
            if raise(&mut more.sinks[index].1) && rises(&more.network(), rate) {
                helpful.push(Place::Sink(id(more.sinks[index].0)));
            }
        }
        let (mut named, mut helpful) = (named, helpful);
        named.sort();
        helpful.sort();
        prop_assert_eq!(named, helpful);
    }
}

/// One more, unless it is unbounded or zero.
fn raise(limit: &mut Limit<u64>) -> bool {
    match limit {
        Limit::Finite(c) if *c > 0 => *c += 1,
        _ => return false,
    }
    true
}

#[test]
fn two_cuts_in_series_leave_none() {
    let net = net(3, 0, 2, &[(0, 1, 3_u64), (1, 2, 3)]);
    assert_eq!(bottlenecks(&net, &net.solve().unwrap()), []);
}

#[test]
fn the_limit_is_told_in_tuples() {
    let mut net = net(3, 0, 2, &[(0, 1, 100_u64), (1, 2, 30)]);
    net.set_gain(id(1), 7.0).unwrap();
    let answer = net.solve().unwrap();
    assert_eq!(answer.value, 4);
    assert_eq!(bottlenecks(&net, &answer), [Bottleneck { at: Place::Arc(ArcId(1)), limit: 30 }]);
}

#[test]
fn a_bound_that_is_named_can_be_raised() {
    let mut net: Network<i64> = Network::new();
    net.add_nodes(3).unwrap();
    net.add_arc(id(0), id(1), 9).unwrap();
    net.add_arc(id(1), id(2), Limit::Unbounded).unwrap();
    net.add_source(id(0), 2).unwrap();
    net.add_sink(id(2), 5).unwrap();
    let names = |net: &Network<i64>| {
        let answer = net.solve().unwrap();
        assert_eq!(verify(net, &answer), Ok(()));
        let found = bottlenecks(net, &answer).iter().map(|b| b.at).collect::<Vec<_>>();
        (answer.value, found)
    };
    assert_eq!(names(&net), (2, vec![Place::Source(id(0))]));
    net.set_source_bound(id(0), 7).unwrap();
    assert_eq!(names(&net), (5, vec![Place::Sink(id(2))]));
    net.set_sink_bound(id(2), Limit::Unbounded).unwrap();
    assert_eq!(names(&net), (7, vec![Place::Source(id(0))]));
    net.set_source_bound(id(0), Limit::Unbounded).unwrap();
    assert_eq!(names(&net), (9, vec![Place::Arc(ArcId(0))]));

    // What is refused changes nothing.
    let before = net.clone();
    for node in [1, 2, 3] {
        let at = Place::Source(id(node));
        assert_eq!(net.set_source_bound(id(node), 1), Err(Error::NotATerminal { at }));
    }
    for node in [0, 1, 3] {
        let at = Place::Sink(id(node));
        assert_eq!(net.set_sink_bound(id(node), 1), Err(Error::NotATerminal { at }));
    }
    let at = Place::Source(id(0));
    assert_eq!(net.set_source_bound(id(0), -1), Err(Error::BadCapacity { at, value: -1 }));
    let at = Place::Sink(id(2));
    assert_eq!(net.set_sink_bound(id(2), -1), Err(Error::BadCapacity { at, value: -1 }));
    let shown = Error::<i64>::NotATerminal { at }.to_string();
    assert_eq!(shown, "the sink at node 2 does not exist: add it first");
    assert_eq!(net, before);
    net.set_sink_bound(id(2), 1).unwrap();
    assert_ne!(net, before);
}
