//! Whether a scenario makes sense: refused before it runs, by name.

use std::time::Duration;

use super::cluster::{Cluster, Cost, Link};
use super::dice::MILLION;
use super::error::SimError;
use super::faults::{Event, Faults};
use crate::core::{ComponentId, Plan};
use crate::nearest::nearest;

/// Longest time that a scenario may name.
const MOST: Duration = Duration::from_secs(10_000 * 24 * 3600);
/// Most nodes: twice as many as there can be workers. Every pair of them has a link.
const NODES: usize = 1024;
/// Least and greatest speed and factor.
const MEASURE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

pub(super) fn cluster(cluster: &Cluster) -> Result<(), SimError> {
    if cluster.nodes.is_empty() {
        return Err(SimError::NoNode);
    }
    if cluster.nodes.len() > NODES {
        return Err(SimError::TooManyNodes { nodes: cluster.nodes.len(), limit: NODES });
    }
    for (at, node) in cluster.nodes.iter().enumerate() {
        let name = node.name.clone();
        if node.cores == 0 {
            return Err(SimError::NoCore { node: at, name });
        }
        if !MEASURE.contains(&node.speed) {
            return Err(SimError::Speed { node: at, name, speed: node.speed });
        }
    }
    link("the link between nodes", &cluster.link)?;
    link("the link within a node", &cluster.local)?;
    let nodes = cluster.nodes.len();
    for &(from, to, ref one) in &cluster.links {
        if from >= nodes || to >= nodes || from == to {
            return Err(SimError::Ends { from, to, nodes });
        }
        link(&format!("the link between nodes {from} and {to}"), one)?;
    }
    Ok(())
}

fn link(name: &str, link: &Link) -> Result<(), SimError> {
    if link.bandwidth == 0 {
        return Err(SimError::Bandwidth { link: name.to_owned() });
    }
    time(|| format!("the latency of {name}"), link.latency)
}

pub(super) fn time(field: impl FnOnce() -> String, time: Duration) -> Result<(), SimError> {
    if time > MOST {
        return Err(SimError::Time { field: field(), time, most: MOST });
    }
    Ok(())
}

pub(super) fn faults(faults: &Faults, nodes: usize) -> Result<(), SimError> {
    let chances = [
        ("lose_tuples", faults.lose_tuples),
        ("lose_batches", faults.lose_batches),
        ("repeat_batches", faults.repeat_batches),
        ("stale_batches", faults.stale_batches),
        ("lose_acks", faults.lose_acks),
        ("repeat_acks", faults.repeat_acks),
        ("lose_control", faults.lose_control),
        ("repeat_control", faults.repeat_control),
    ];
    if let Some(&(field, chance)) = chances.iter().find(|(_, chance)| *chance > MILLION) {
        return Err(SimError::Chance { field, chance });
    }
    time(|| "delay".to_owned(), faults.delay)?;
    time(|| "detection".to_owned(), faults.detection)?;
    time(|| "until".to_owned(), faults.until.unwrap_or_default())?;
    time(|| "unreachable_after".to_owned(), faults.unreachable_after.unwrap_or_default())?;
    for (at, fault) in faults.events.iter().enumerate() {
        let node = fault.event.node();
        if node >= nodes {
            return Err(SimError::FaultNode { fault: at, node, nodes });
        }
        time(|| format!("the time of fault {at}"), fault.at)?;
        let lasts = match fault.event {
            Event::Unreachable { lasts, .. } => lasts,
            Event::Slow { factor, lasts, .. } => {
                if !MEASURE.contains(&factor) {
                    return Err(SimError::Factor { fault: at, factor });
                }
                lasts
            }
            Event::Crash { .. } => Duration::ZERO,
        };
        time(|| format!("the length of fault {at}"), lasts)?;
    }
    Ok(())
}

/// A cost, with the name of what costs it.
pub(super) fn cost(field: &str, cost: Cost) -> Result<(), SimError> {
    time(|| format!("the cost of a tuple of {field}"), cost.tuple)?;
    time(|| format!("the cost of a call of {field}"), cost.call)
}

/// The component of that name.
pub(super) fn component(
    plan: &Plan,
    field: &'static str,
    name: &str,
) -> Result<ComponentId, SimError> {
    if let Some(at) = plan.components.iter().position(|component| component.name == name) {
        return Ok(ComponentId::try_from(at).unwrap_or(ComponentId::MAX));
    }
    let names = plan.components.iter().map(|component| component.name.as_str());
    let nearest = nearest(name, names).map(str::to_owned);
    Err(SimError::UnknownComponent { field, component: name.to_owned(), nearest })
}
