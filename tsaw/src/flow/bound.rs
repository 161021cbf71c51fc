//! What no placement can keep within nodes, whatever it does to local-or-shuffle.

use super::{Grouping, Link, Topology};
use crate::{BuildError, Cluster, asked_caps};

impl Topology {
    /// Tuples a second that no placement within the caps can keep from crossing nodes, whatever
    /// it does to local-or-shuffle: all of that counts as local, and each other stream as an
    /// all-to-all stage of its own.
    ///
    /// For a stage of rate R with CPU α and β for all tuples at its senders and receivers, on k
    /// nodes of cap at most c: the part within nodes is Σ xₙyₙ ≤ min{1, (c − α/k)/β, (c − β/k)/α},
    /// as αxₙ + βyₙ ≤ c and Σ xₙ² ≥ 1/k. CPU follows the tuples, so this holds for every
    /// placement. Rates are whole numbers, so one a stream is granted for rounding.
    ///
    /// # Errors
    ///
    /// As [`under`](Self::under).
    pub fn cut_lower_bound(&self, cluster: &Cluster) -> Result<i64, BuildError> {
        let graph = self.under(None)?;
        let first = self.check()?;
        let caps = asked_caps(&graph, cluster);
        // Each task's CPU is rounded by at most a half.
        let cap = caps.iter().copied().max().unwrap_or(0) as f64 + graph.len() as f64;
        let nodes = cluster.alive().count().max(1) as f64;
        let mut input = vec![0.0; self.parts.len()];
        let mut order: Vec<&Link> = self.links.iter().collect();
        order.sort_by_key(|link| link.from);
        for (at, part) in self.parts.iter().enumerate() {
            input[at] = part.source as f64 * part.tasks as f64;
        }
        let mut bound = 0.0;
        for link in &order {
            input[link.to] += input[link.from] * (link.ratio as f64 / 1e6);
        }
        for link in order {
            let rate = input[link.from] * (link.ratio as f64 / 1e6);
            if link.grouping == Grouping::LocalOrShuffle {
                continue;
            }
            let cpu = |at: usize, tuples: f64| tuples * (self.parts[at].cpu as f64 / 1e6);
            let (senders, receivers) = (cpu(link.from, input[link.from]), cpu(link.to, rate));
            let part = |of: f64, other: f64| match other > 0.0 {
                true => (cap - of / nodes) / other,
                false => 1.0,
            };
            let within = part(senders, receivers).min(part(receivers, senders)).clamp(0.0, 1.0);
            let pairs =
                (first[link.from + 1] - first[link.from]) * (first[link.to + 1] - first[link.to]);
            bound += (rate * (1.0 - within) - pairs as f64).max(0.0);
        }
        Ok((bound * (1.0 - 1e-9)) as i64)
    }
}
