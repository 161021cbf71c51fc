//! The flow whose largest utilisation is as small as can be, then the next largest, and so on.
//!
//! Let amounts be given that nodes get from outside, and give out. The smallest `λ` for which they
//! fit into `λ` times all limits is found from below: while they do not fit, a cut `S` tells that
//! `λ` is at least what `S` has to send over what can leave it. Once they fit, the last such cut is
//! tight. So in every flow of that utilisation each limit that leaves it bears `λ` of itself and
//! nothing comes back: these are decided, and the two sides are problems of their own.
//!
//! What has no limit is open in all of that. Where only such arcs are left to decide, all count as
//! of limit one, and it goes on in the same way.

use alloc::vec;
use alloc::vec::Vec;

use crate::capacity::to_f64;
use crate::solve::expand::Expanded;
use crate::solve::push_relabel::PushRelabel;
use crate::solve::residual::Residual;
use crate::solve::restore;
use crate::solve::whole::WholeFlow;
use crate::{Capacity, Error, Limit, Network, Stats};

/// What the sources send: so much that what is rounded does not matter.
const TOTAL: u128 = 1 << 100;

#[derive(Clone, Copy)]
struct Link {
    from: u32,
    to: u32,
    /// The limit; `None` if there is none.
    weight: Option<f64>,
    flow: u128,
}

/// A part of the network with all links inside that are not decided.
struct Part {
    nodes: Vec<u32>,
    links: Vec<u32>,
}

/// The balanced flow, in parts of `TOTAL`; all zero unless something can flow.
pub(super) fn flow<C: Capacity>(net: &Network<C>, flows: bool) -> Result<WholeFlow, Error<C>> {
    let expanded = Expanded::new(net, None)?;
    let arcs = net.arc_count();
    let weights = expanded.links.iter().map(|link| match link.limit {
        Limit::Finite(limit) => to_f64(limit),
        Limit::Unbounded => 0.0,
    });
    let largest = weights.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut problem = Problem {
        links: Vec::with_capacity(expanded.links.len()),
        supply: vec![0; expanded.nodes],
        place: vec![0; expanded.nodes],
    };
    let mut open = Vec::new();
    for (id, link) in (0..).zip(&expanded.links) {
        let weight = match link.limit {
            Limit::Finite(limit) => Some((to_f64(limit) / largest).max(f64::MIN_POSITIVE)),
            Limit::Unbounded => None,
        };
        if link.limit.is_positive() && link.from != link.to {
            open.push(id);
        }
        problem.links.push(Link { from: link.from, to: link.to, weight, flow: 0 });
    }
    if flows {
        problem.supply[expanded.source as usize] = TOTAL.cast_signed();
        problem.supply[expanded.sink as usize] = -TOTAL.cast_signed();
        let nodes = (0..expanded.nodes as u32).collect();
        problem.decide(Part { nodes, links: open });
    }
    let arcs = problem.links[..arcs].iter().map(|link| link.flow).collect();
    let (total, value) = if flows { (TOTAL, 1.0) } else { (0, 0.0) };
    Ok(WholeFlow { arcs, total, value, units: expanded.units().map(Vec::from) })
}

struct Problem {
    links: Vec<Link>,
    /// What each node gets from outside of its part, less what it gives there.
    supply: Vec<i128>,
    /// The place of each node in its part.
    place: Vec<u32>,
}

impl Problem {
    fn decide(&mut self, whole: Part) {
        let mut parts = vec![whole];
        while let Some(part) = parts.pop() {
            if part.links.is_empty() || part.nodes.iter().all(|&v| self.supply[v as usize] == 0) {
                continue;
            }
            if let Some([one, other]) = self.split(part) {
                parts.push(other);
                parts.push(one);
            }
        }
    }

    /// Decides the links that cross a tight cut, and returns both sides; `None` once all are
    /// decided.
    fn split(&mut self, mut part: Part) -> Option<[Part; 2]> {
        for (place, &node) in (0..).zip(&part.nodes) {
            self.place[node as usize] = place;
        }
        let mut even = false;
        let mut lambda = 0.0;
        let mut cut: Option<Vec<bool>> = None;
        loop {
            let attempt = self.attempt(&part, lambda, even);
            match (attempt, cut) {
                // All there is may pass and it does not fit: there is nothing to decide.
                (Attempt::Short(_), _) if lambda == f64::MAX => return None,
                (Attempt::Short(side), _) => {
                    let next = self.bound(&part, &side, even);
                    // Rounded or not, it rises, and so this ends.
                    lambda = next.max(lambda * (1.0 + f64::EPSILON)).min(f64::MAX);
                    cut = Some(side);
                }
                (Attempt::Fits(flows), Some(side)) => {
                    let comes_back = |&(link, &flow): &(&u32, &u128)| {
                        let Link { from, to, .. } = self.links[*link as usize];
                        let inside = |node: u32| side[self.place[node as usize] as usize];
                        flow > 0 && inside(to) && !inside(from)
                    };
                    if part.links.iter().zip(&flows).any(|pair| comes_back(&pair)) {
                        // Only because room was rounded up: without such ways it fits too.
                        let back = part.links.iter().zip(&flows).filter(comes_back);
                        let back: Vec<u32> = back.map(|(&link, _)| link).collect();
                        part.links.retain(|link| back.binary_search(link).is_err());
                        cut = Some(side);
                        continue;
                    }
                    return Some(self.cross(part, &side, &flows));
                }
                (Attempt::Fits(_), None) if !even => {
                    // What has a limit bears nothing, and the rest shares alike.
                    part.links.retain(|&link| self.links[link as usize].weight.is_none());
                    even = true;
                    cut = None;
                }
                (Attempt::Fits(_), None) => return None,
            }
        }
    }

    /// Whether the amounts fit into that much of all limits.
    fn attempt(&self, part: &Part, lambda: f64, even: bool) -> Attempt {
        let count = part.nodes.len() as u32;
        let (source, sink) = (count, count + 1);
        let mut arcs = Vec::with_capacity(part.links.len() + part.nodes.len());
        for &link in &part.links {
            let Link { from, to, weight, .. } = self.links[link as usize];
            let room = match weight {
                None if !even => TOTAL,
                None => share(lambda),
                Some(weight) => share(lambda * weight),
            };
            arcs.push((self.place[from as usize], self.place[to as usize], room));
        }
        let mut wanted = 0;
        for (place, &node) in (0..).zip(&part.nodes) {
            let supply = self.supply[node as usize];
            let amount = supply.unsigned_abs();
            if supply > 0 {
                wanted += amount;
                arcs.push((source, place, amount));
            } else {
                arcs.push((place, sink, amount));
            }
        }
        let list = || arcs.iter().copied();
        let mut net: Residual<u128> =
            Residual::with_zeros(part.nodes.len() + 2, source, sink, list);
        let mut method = PushRelabel::new(net.nodes(), net.edges.len());
        let (mut steps, mut stats) = (u64::MAX, Stats::default());
        method.run(&mut net, &mut steps, &mut stats);
        method.finish(&mut net);
        if net.value() < wanted {
            return Attempt::Short(net.after_source());
        }
        restore::cancel_cycles(&mut net);
        Attempt::Fits((0..part.links.len()).map(|link| net.flow(link)).collect())
    }

    /// What one side must send over what can leave it.
    fn bound(&self, part: &Part, side: &[bool], even: bool) -> f64 {
        let inside = |node: u32| side[self.place[node as usize] as usize];
        let mut sent = 0_i128;
        for &node in part.nodes.iter().filter(|&&node| inside(node)) {
            sent += self.supply[node as usize];
        }
        let mut room = 0.0;
        for &link in &part.links {
            let Link { from, to, weight, .. } = self.links[link as usize];
            if inside(from) && !inside(to) {
                room += weight.unwrap_or(if even { 1.0 } else { 0.0 });
            }
        }
        sent as f64 / room
    }

    /// Decides what crosses between the two sides.
    fn cross(&mut self, part: Part, side: &[bool], flows: &[u128]) -> [Part; 2] {
        let mut sides = [true, false].map(|_| Part { nodes: Vec::new(), links: Vec::new() });
        let inside = |problem: &Problem, node: u32| side[problem.place[node as usize] as usize];
        for (&link, &flow) in part.links.iter().zip(flows) {
            let Link { from, to, .. } = self.links[link as usize];
            if inside(self, from) == inside(self, to) {
                sides[usize::from(!inside(self, from))].links.push(link);
            } else {
                self.links[link as usize].flow = flow;
                self.supply[from as usize] -= flow.cast_signed();
                self.supply[to as usize] += flow.cast_signed();
            }
        }
        for node in part.nodes {
            sides[usize::from(!inside(self, node))].nodes.push(node);
        }
        sides
    }
}

enum Attempt {
    /// They do: how much each link bears.
    Fits(Vec<u128>),
    /// They do not: the nodes on the source side of a cut that holds them up.
    Short(Vec<bool>),
}

/// So many steps, rounded up, and at most all.
#[expect(clippy::cast_sign_loss, reason = "amounts are zero or more")]
fn share(amount: f64) -> u128 {
    if amount == 0.0 {
        0
    } else if amount < TOTAL as f64 {
        (amount as u128 + 1).min(TOTAL)
    } else {
        TOTAL
    }
}
