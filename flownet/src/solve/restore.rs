//! From a preflow to a flow, and from a flow to one without cycles.
//!
//! A search goes against the flow, from where it stands back to the source, cancels the cycles
//! that it meets and finishes a node when all that feed it are finished. In the opposite order
//! every node has got all that is sent back to it before it sends it on.

use alloc::vec;
use alloc::vec::Vec;

use super::residual::{Residual, Width};

/// Sends every excess back along the flow that brought it.
///
/// A cancelled cycle empties an arc, so there are at most E of at most V arcs each: O(V E) at
/// worst, and in practice about a pass over the arcs.
pub(crate) fn return_excess<W: Width>(net: &mut Residual<W>, excess: &mut [W]) {
    let mut search = Search::new(net);
    // What comes back to the source stays there.
    search.mark[net.source as usize] = Mark::Finished;
    for node in 0..net.nodes() as u32 {
        if excess[node as usize] > W::ZERO {
            search.against(net, node);
        }
    }
    for &node in search.finished.iter().rev() {
        let mut left = excess[node as usize];
        for edge in net.row(node) {
            if left == W::ZERO {
                break;
            }
            if net.edges[edge].is_backward() {
                let amount = net.edges[edge].cap.min(left);
                net.send(edge, amount);
                left -= amount;
                excess[net.edges[edge].head as usize] += amount;
            }
        }
        excess[node as usize] = left;
    }
}

/// Cancels every cycle of the flow. O(V E) at worst.
pub(crate) fn cancel_cycles<W: Width>(net: &mut Residual<W>) {
    let mut search = Search::new(net);
    for node in 0..net.nodes() as u32 {
        search.against(net, node);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Finished,
}

struct Search {
    mark: Vec<Mark>,
    /// The arc that is being looked at.
    current: Vec<u32>,
    path: Vec<u32>,
    finished: Vec<u32>,
}

impl Search {
    fn new<W: Width>(net: &Residual<W>) -> Self {
        Search {
            mark: vec![Mark::New; net.nodes()],
            current: net.first[..net.nodes()].to_vec(),
            path: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Finishes all nodes that flow comes from to `start`, and `start` itself last.
    fn against<W: Width>(&mut self, net: &mut Residual<W>, start: u32) {
        if self.mark[start as usize] != Mark::New {
            return;
        }
        self.enter(start);
        while let Some(&node) = self.path.last() {
            match self.next_feeder(net, node) {
                None => {
                    self.mark[node as usize] = Mark::Finished;
                    self.finished.push(node);
                    self.path.pop();
                }
                Some(feeder) if self.mark[feeder as usize] == Mark::New => self.enter(feeder),
                Some(feeder) => self.cancel(net, feeder),
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.mark[node as usize] = Mark::OnPath;
        self.path.push(node);
    }

    /// The next node that sends flow to `node` and is not finished; its arc becomes the current.
    fn next_feeder<W: Width>(&mut self, net: &Residual<W>, node: u32) -> Option<u32> {
        let end = net.first[node as usize + 1];
        let current = &mut self.current[node as usize];
        while *current < end {
            let edge = &net.edges[*current as usize];
            if edge.is_backward()
                && edge.cap > W::ZERO
                && self.mark[edge.head as usize] != Mark::Finished
            {
                return Some(edge.head);
            }
            *current += 1;
        }
        None
    }

    /// Cancels the cycle from `first` along the path to its end and back to `first`. The path then
    /// ends before the first arc that became empty.
    fn cancel<W: Width>(&mut self, net: &mut Residual<W>, first: u32) {
        let begin = self.path.iter().rposition(|&node| node == first).unwrap_or(0);
        let arc = |node: &u32| self.current[*node as usize] as usize;
        let least = self.path[begin..].iter().map(|node| net.edges[arc(node)].cap).min();
        let mut keep = self.path.len();
        for (index, node) in self.path.iter().enumerate().skip(begin).rev() {
            net.send(arc(node), least.unwrap_or_default());
            if net.edges[arc(node)].cap == W::ZERO {
                keep = index + 1;
            }
        }
        for node in self.path.drain(keep..) {
            self.mark[node as usize] = Mark::New;
        }
    }
}
