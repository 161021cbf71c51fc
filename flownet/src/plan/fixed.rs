//! Loads where every node splits in a fixed way: no choice is left, and nothing to solve.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::Plan;
use super::planner::{PlanError, Split, tail};
use crate::capacity::to_f64;
use crate::{Capacity, Error, Limit, Network, NodeId};

/// How finely fixed shares are counted.
const STEPS: f64 = (1_u64 << 53) as f64;

/// The plan of a network in which every node's split is fixed: loads are passed on from the sources
/// in topological order. Gains may depend on the way here. O(V log V + E).
pub(super) fn plan<C: Capacity>(
    net: &Network<C>,
    splits: &BTreeMap<NodeId, Split>,
    rate: f64,
) -> Result<Plan, PlanError<C>> {
    net.sources().next().ok_or(Error::NoSource)?;
    net.sinks().next().ok_or(Error::NoSink)?;
    let n = net.node_count();
    let mut leaving = vec![Vec::new(); n];
    for (id, arc) in net.arcs().enumerate() {
        leaving[arc.from.index()].push((id, arc.to));
    }
    let mut is_sink = vec![false; n];
    net.sinks().for_each(|(node, _)| is_sink[node.index()] = true);
    let mut shares = vec![0.0; net.arc_count()];
    for (node, arcs) in (0..).map(NodeId).zip(&leaving) {
        let sinks = is_sink[node.index()];
        match splits.get(&node) {
            Some(Split::Fixed(ratios)) => {
                let sum: f64 = ratios.iter().sum();
                let sound = ratios.iter().all(|&r| r >= 0.0) && (sum - 1.0).abs() <= 1e-9;
                if ratios.len() != arcs.len() || !sound || sinks {
                    return Err(PlanError::BadSplit { node, arcs: arcs.len() });
                }
                for (&(arc, _), &ratio) in arcs.iter().zip(ratios) {
                    shares[arc] = ratio / sum;
                }
            }
            _ if arcs.len() == 1 && !sinks => shares[arcs[0].0] = 1.0,
            _ => {}
        }
    }
    let mut loads = sources(net)?;
    let carries = |arc: usize| shares[arc] > 0.0;
    let reached = reached(&loads, &leaving, carries);
    // What no tuple reaches may be open, and lead around in circles.
    let mut feeders = vec![0_usize; n];
    for (node, arcs) in (0..).map(NodeId).zip(&leaving).filter(|(node, _)| reached[node.index()]) {
        if !arcs.is_empty() && !arcs.iter().any(|&(arc, _)| carries(arc)) {
            return Err(PlanError::MixedSplit { node });
        }
        for &(_, to) in arcs.iter().filter(|&&(arc, _)| carries(arc)) {
            feeders[to.index()] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..n).filter(|&v| feeders[v] == 0).collect();
    let mut arc_loads = vec![0.0; net.arc_count()];
    let mut done = 0;
    while let Some(v) = ready.pop() {
        done += 1;
        let units = loads[v] * net.gain(NodeId(v as u32));
        if !units.is_finite() {
            let node = NodeId(v as u32);
            return Err(Error::GainOutOfRange { node, units }.into());
        }
        for &(arc, to) in &leaving[v] {
            if !reached[v] || !carries(arc) {
                continue;
            }
            arc_loads[arc] = units * shares[arc];
            loads[to.index()] += arc_loads[arc];
            feeders[to.index()] -= 1;
            if feeders[to.index()] == 0 {
                ready.push(to.index());
            }
        }
    }
    if done < n {
        let node = feeders.iter().position(|&left| left > 0).unwrap_or(0);
        return Err(PlanError::CyclicSplit { node: NodeId(node as u32) });
    }
    // Where what comes in cannot go on, nothing may come in.
    for (node, load) in (0..).map(NodeId).zip(&loads) {
        if *load > 0.0 && leaving[node.index()].is_empty() && !is_sink[node.index()] {
            return Err(PlanError::DeadEnd { node });
        }
    }
    let most = largest_rate(net, &loads, &arc_loads);
    let value = rate.min(most);
    let parts = arc_loads.iter().zip(&shares);
    let by_arc: Vec<_> =
        parts.map(|(&load, &share)| if load > 0.0 { part(share) } else { 0 }).collect();
    let scale = |loads: Vec<f64>| loads.into_iter().map(|load| load * value).collect();
    let ends = (0..net.arc_count()).map(|arc| tail(net, arc));
    Ok(Plan::new(ends, &by_arc, [rate, value], scale(arc_loads), scale(loads)))
}

/// The nodes that something is sent to.
fn reached(
    loads: &[f64],
    leaving: &[Vec<(usize, NodeId)>],
    carries: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut reached: Vec<bool> = loads.iter().map(|&load| load > 0.0).collect();
    let mut stack: Vec<usize> = (0..reached.len()).filter(|&v| reached[v]).collect();
    while let Some(v) = stack.pop() {
        for &(arc, to) in &leaving[v] {
            if carries(arc) && !core::mem::replace(&mut reached[to.index()], true) {
                stack.push(to.index());
            }
        }
    }
    reached
}

/// A share as a whole number; a positive one is never zero, however small.
#[expect(clippy::cast_sign_loss, reason = "shares are zero or more")]
fn part(share: f64) -> u128 {
    ((share * STEPS) as u128).max(1)
}

/// The share of each node in what all sources send: in proportion to their bounds.
fn sources<C: Capacity>(net: &Network<C>) -> Result<Vec<f64>, PlanError<C>> {
    let mut loads = vec![0.0; net.node_count()];
    if net.sources().len() == 1 {
        for (node, _) in net.sources() {
            loads[node.index()] = 1.0;
        }
        return Ok(loads);
    }
    for (node, bound) in net.sources() {
        let Limit::Finite(bound) = bound else { return Err(PlanError::OpenSource { node }) };
        loads[node.index()] = to_f64(bound);
    }
    // First so that the largest is one: their sum may be beyond all floats.
    let largest = loads.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        loads.iter_mut().for_each(|load| *load /= largest);
        let sum: f64 = loads.iter().sum();
        loads.iter_mut().for_each(|load| *load /= sum);
    }
    Ok(loads)
}

/// The largest rate that no limit forbids.
fn largest_rate<C: Capacity>(net: &Network<C>, loads: &[f64], arc_loads: &[f64]) -> f64 {
    let mut limits = Vec::new();
    for (arc, &load) in net.arcs().zip(arc_loads) {
        limits.push((arc.capacity, load));
    }
    for (node, capacity) in net.node_capacities() {
        limits.push((Limit::Finite(capacity), loads[node.index()]));
    }
    for (node, bound) in net.sinks() {
        limits.push((bound, loads[node.index()]));
    }
    let float = |bound: Limit<C>| match bound {
        Limit::Finite(bound) => to_f64(bound),
        Limit::Unbounded => f64::INFINITY,
    };
    let sent = net.sources().map(|(_, bound)| float(bound)).sum();
    let passing = limits.into_iter().filter(|&(_, load)| load > 0.0);
    passing.map(|(limit, load)| float(limit) / load).fold(sent, f64::min)
}
