//! Which part of a placement goes on which node, where distances differ: two nodes exchange all
//! that they hold as long as that makes the cost smaller (Brandfass, Alrutz and Gerhold 2013).
//!
//! Halving looks at the cut alone; this gives the parts that exchange much to nodes that are near.

use super::model::Model;
use super::state::State;
use crate::steps::Steps;

/// What one node holds.
#[derive(Default)]
struct Part {
    /// What it exchanges with each other part, by number.
    rates: Vec<(usize, i64)>,
    /// Sets of nodes that its units are held to.
    sets: Vec<u32>,
}

/// The placement with its parts on better nodes: never dearer, and no limit is broken by it.
///
/// O(streams · log) to begin with; a pair of nodes takes a step for each of the parts that they
/// exchange with.
pub(super) fn descend(model: &Model<'_>, place: Vec<u32>, steps: &mut Steps) -> Vec<u32> {
    if model.is_flat() || !steps.take(model.units() + model.targets.len()) {
        return place;
    }
    let state = State::new(model, place);
    let parts = parts(model, &state.place);
    // The node of each part: its own to begin with.
    let mut node_of: Vec<usize> = (0..model.nodes()).collect();
    let fits = |part: usize, node: usize| {
        let (used, own) = (&state.nodes[part], &parts[part]);
        used.cpu <= model.cap[node]
            && used.mem <= model.mem_cap[node]
            && used.outside <= model.bandwidth[node]
            && own.sets.iter().all(|&set| model.sets[set as usize].contains(&(node as u32)))
    };
    let pairs = || (1..parts.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut any = true;
    'ended: while std::mem::take(&mut any) {
        for (a, b) in pairs() {
            if !steps.take(1 + parts[a].rates.len() + parts[b].rates.len()) {
                break 'ended;
            }
            let (at, to) = (node_of[a], node_of[b]);
            if saved(model, &parts, &node_of, (a, b)) > 0 && fits(a, to) && fits(b, at) {
                node_of.swap(a, b);
                any = true;
            }
        }
    }
    state.place.iter().map(|&part| node_of[part as usize] as u32).collect()
}

fn parts(model: &Model<'_>, place: &[u32]) -> Vec<Part> {
    let mut between = Vec::new();
    let mut parts: Vec<Part> = (0..model.nodes()).map(|_| Part::default()).collect();
    for (unit, &at) in place.iter().enumerate() {
        if model.set[unit] != 0 {
            parts[at as usize].sets.push(model.set[unit]);
        }
        let row = model.row(unit).map(|(other, rate)| (at, place[other], rate));
        between.extend(row.filter(|&(from, to, _)| from != to));
    }
    between.sort_unstable();
    for same in between.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let rate = same.iter().map(|stream| stream.2).sum();
        parts[same[0].0 as usize].rates.push((same[0].1 as usize, rate));
    }
    for part in &mut parts {
        part.sets.sort_unstable();
        part.sets.dedup();
    }
    parts
}

/// By how much the cost falls if two parts change nodes.
fn saved(model: &Model<'_>, parts: &[Part], node_of: &[usize], (a, b): (usize, usize)) -> i64 {
    let moved = |part: usize, to: usize| -> i64 {
        let others = parts[part].rates.iter().filter(|&&(other, _)| other != a && other != b);
        let nearer = |&(other, rate): &(usize, i64)| {
            let there = node_of[other];
            rate * (model.distance(node_of[part], there) - model.distance(to, there))
        };
        others.map(nearer).sum()
    };
    moved(a, node_of[b]) + moved(b, node_of[a])
}
