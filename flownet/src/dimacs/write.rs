//! The writers.

use std::io::Write;

use super::WriteError;
use crate::{Answer, ArcId, Limit, Network, NodeId, Place};

/// Writes a network that [`read_max`](super::read_max) reads back as it is.
///
/// # Errors
/// [`WriteError::Terminals`], [`WriteError::Limit`] and [`WriteError::Gain`] for what a DIMACS file
/// cannot say, before anything is written; [`WriteError::Io`].
pub fn write_max(net: &Network<u64>, mut writer: impl Write) -> Result<(), WriteError> {
    let (source, sink) = terminals(net)?;
    if let Some((node, _)) = net.node_capacities().next() {
        return Err(WriteError::Limit { at: Place::Node(node) });
    }
    if let Some(node) = net.gains().next() {
        return Err(WriteError::Gain { node: node.0 });
    }
    if let Some(index) = net.arcs().position(|arc| arc.capacity == Limit::Unbounded) {
        return Err(WriteError::Limit { at: Place::Arc(ArcId(index as u32)) });
    }
    writeln!(writer, "p max {} {}", net.node_count(), net.arc_count())?;
    writeln!(writer, "n {} s", number(source))?;
    writeln!(writer, "n {} t", number(sink))?;
    for arc in net.arcs() {
        if let Limit::Finite(capacity) = arc.capacity {
            writeln!(writer, "a {} {} {capacity}", number(arc.from), number(arc.to))?;
        }
    }
    Ok(writer.flush()?)
}

/// Writes the value and the flow of every arc that has some: `s VALUE`, then `f FROM TO FLOW`.
///
/// # Errors
/// [`WriteError::WrongAnswer`] if there is not one flow for each arc, before anything is written;
/// [`WriteError::Io`].
pub fn write_solution(
    net: &Network<u64>,
    answer: &Answer<u64>,
    mut writer: impl Write,
) -> Result<(), WriteError> {
    if answer.flows.len() != net.arc_count() {
        return Err(WriteError::WrongAnswer);
    }
    writeln!(writer, "s {}", answer.value)?;
    for (arc, flow) in net.arcs().zip(&answer.flows) {
        if *flow > 0 {
            writeln!(writer, "f {} {} {flow}", number(arc.from), number(arc.to))?;
        }
    }
    Ok(writer.flush()?)
}

/// Nodes count from 1 in a file.
fn number(node: NodeId) -> u64 {
    u64::from(node.0) + 1
}

fn terminals(net: &Network<u64>) -> Result<(NodeId, NodeId), WriteError> {
    let mut sources = net.sources();
    let mut sinks = net.sinks();
    match (sources.next(), sources.next(), sinks.next(), sinks.next()) {
        (Some((source, Limit::Unbounded)), None, Some((sink, Limit::Unbounded)), None) => {
            Ok((source, sink))
        }
        _ => Err(WriteError::Terminals),
    }
}
