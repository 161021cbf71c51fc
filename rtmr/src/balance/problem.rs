//! One group as the 0/1 program (4) to (8), in compact form.

use super::cluster::{Band, Cluster, Entry};
use super::decompose::Group;

/// An entry that may move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// d/Δ: bytes for a unit of load.
    pub(crate) ratio: f64,
    pub(crate) load: f64,
    pub(crate) bytes: u64,
    pub(crate) entry: u32,
}

impl Item {
    #[allow(clippy::cast_precision_loss, reason = "costs are compared, not summed up, as floats")]
    pub(crate) fn cost(&self) -> f64 {
        self.bytes as f64
    }
}

/// By ratio, ties by entry: a total order.
pub(crate) fn by_ratio(a: &Item, b: &Item) -> std::cmp::Ordering {
    a.ratio.total_cmp(&b.ratio).then(a.entry.cmp(&b.entry))
}

/// A node that must lose from `need` to `most`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) node: u32,
    pub(crate) need: f64,
    pub(crate) most: f64,
    /// What sums may be off by.
    pub(crate) slack: f64,
    /// Its items: from here, so many.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Some entry fits an idle node elsewhere, but none of this group.
    pub(crate) narrowed: bool,
}

impl Source {
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// A node that must get from `low` to `high`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) node: u32,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// What sums may be off by.
    pub(crate) slack: f64,
}

/// The program of one group.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) sources: Vec<Source>,
    pub(crate) targets: Vec<Target>,
    /// Items of the sources, one source after the other.
    pub(crate) items: Vec<Item>,
}

impl Problem {
    /// Σ low: what the targets need.
    pub(crate) fn lows(&self) -> f64 {
        self.targets.iter().map(|target| target.low).sum()
    }

    /// Σ high: what the targets have room for.
    pub(crate) fn highs(&self) -> f64 {
        self.targets.iter().map(|target| target.high).sum()
    }

    /// The source of an item.
    pub(crate) fn source_of(&self, item: usize) -> usize {
        self.sources.partition_point(|source| source.start <= item) - 1
    }
}

/// The problems of the groups. O(nodes + entries) time; memory for the entries of overloaded
/// nodes alone.
pub(crate) fn problems(cluster: &Cluster<'_>, band: Band, groups: &[Group]) -> Vec<Problem> {
    let part = 0.1 * Band::TOLERANCE;
    let nodes = |node: u32| {
        let (p, s) = (cluster.capacity()[node as usize], cluster.loads()[node as usize]);
        (band.low(p), band.high(p), s, band.slack(p, s, part))
    };
    let mut spared = vec![false; cluster.capacity().len()];
    groups.iter().flat_map(|group| &group.spared).for_each(|&node| spared[node as usize] = true);
    let target = |node: u32| {
        let (low, high, load, slack) = nodes(node);
        let spared = spared[node as usize];
        Target { node, low: if spared { 0.0 } else { low - load }, high: high - load, slack }
    };
    // Group and source of each overloaded node, and the largest entry that may leave it.
    let mut home = vec![(u32::MAX, 0_u32, 0.0_f64); cluster.capacity().len()];
    let widest = largest_room(cluster, band);
    let mut made: Vec<Problem> = Vec::with_capacity(groups.len());
    for (g, group) in (0_u32..).zip(groups) {
        let targets: Vec<Target> = group.idle.iter().map(|&node| target(node)).collect();
        let room = targets.iter().map(|t| t.high + t.slack).fold(0.0, f64::max);
        let (mut sources, mut start) = (Vec::with_capacity(group.over.len()), 0);
        for (j, &node) in (0_u32..).zip(&group.over) {
            let (low, high, load, slack) = nodes(node);
            let len = cluster.counts()[node as usize] as usize;
            home[node as usize] = (g, j, room.min(load - low + slack));
            let (need, most) = (load - high, load - low);
            sources.push(Source { node, need, most, slack, start, len: 0, narrowed: false });
            start += len;
        }
        let blank = Item { ratio: 0.0, load: 0.0, bytes: 0, entry: 0 };
        made.push(Problem { sources, targets, items: vec![blank; start] });
    }
    for (i, entry) in (0_u32..).zip(cluster.entries()) {
        let (g, j, limit) = home[entry.owner as usize];
        // An entry without load helps no one, and one that fits nowhere can't move.
        if g != u32::MAX && entry.load >= Entry::LEAST_LOAD {
            let problem = &mut made[g as usize];
            let source = &mut problem.sources[j as usize];
            if entry.load > limit {
                source.narrowed |= entry.load <= widest.min(source.most + 10.0 * source.slack);
                continue;
            }
            let mut item = Item { ratio: 0.0, load: entry.load, bytes: entry.bytes, entry: i };
            item.ratio = item.cost() / item.load;
            problem.items[source.start + source.len] = item;
            source.len += 1;
        }
    }
    made
}

/// The largest entry that fits on some idle node.
pub(crate) fn largest_room(cluster: &Cluster<'_>, band: Band) -> f64 {
    let nodes = cluster.capacity().iter().zip(cluster.loads());
    let idle = nodes.filter(|&(&p, &s)| band.is_idle(p, s));
    // With all of the tolerance, as `verify` has it: what it may take for movable must be here.
    idle.map(|(&p, &s)| band.high(p) - s + band.slack(p, s, Band::TOLERANCE)).fold(0.0, f64::max)
}

/// The largest entry that may leave each node for one with room for `widest`.
fn limits(cluster: &Cluster<'_>, band: Band, widest: f64) -> Vec<f64> {
    let nodes = cluster.capacity().iter().zip(cluster.loads());
    nodes.map(|(&p, &s)| widest.min(s - band.low(p) + band.slack(p, s, Band::TOLERANCE))).collect()
}

/// Whether the entries that may leave a node suffice to bring it down, for each node. O(entries).
pub(crate) fn relievable(cluster: &Cluster<'_>, band: Band, widest: f64) -> Vec<bool> {
    let limits = limits(cluster, band, widest);
    let mut movable = vec![0.0; limits.len()];
    for entry in cluster.entries() {
        if (Entry::LEAST_LOAD..=limits[entry.owner as usize]).contains(&entry.load) {
            movable[entry.owner as usize] += entry.load;
        }
    }
    let nodes = cluster.capacity().iter().zip(cluster.loads()).zip(movable);
    nodes
        .map(|((&p, &s), load)| load >= s - band.high(p) - band.slack(p, s, 0.1 * Band::TOLERANCE))
        .collect()
}

/// Entries of these nodes, that may leave them, a list a node; and those that may not, as they
/// are too large. O(nodes + entries).
pub(crate) fn items_of(
    cluster: &Cluster<'_>,
    band: Band,
    nodes: &[u32],
    widest: f64,
) -> (Vec<Vec<Item>>, Vec<u32>) {
    let limits = limits(cluster, band, widest);
    let mut place = vec![usize::MAX; limits.len()];
    nodes.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
    let (mut items, mut hot) = (vec![Vec::new(); nodes.len()], Vec::new());
    for (entry, e) in (0_u32..).zip(cluster.entries()) {
        let at = place[e.owner as usize];
        if at == usize::MAX || e.load < Entry::LEAST_LOAD {
            continue;
        }
        if e.load > limits[e.owner as usize] {
            hot.push(entry);
            continue;
        }
        let mut item = Item { ratio: 0.0, load: e.load, bytes: e.bytes, entry };
        item.ratio = item.cost() / item.load;
        items[at].push(item);
    }
    (items, hot)
}
