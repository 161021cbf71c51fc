//! Algorithm 1: groups of overloaded and idle nodes that can mend each other.

use super::cluster::{Band, Cluster};
use super::leftover;

/// How nodes are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupRule {
    /// Algorithm 1 as printed. Its last group may be left incomplete though it is feasible, and
    /// nodes may be left over though there is room.
    Paper,
    /// Algorithm 1, the last group judged by D4, and nodes left over given to groups with slack,
    /// which are merged where none alone has enough.
    #[default]
    Mended,
    /// As `Mended`, with D4 in the loop too: smaller groups, sooner out of idle nodes.
    Relaxed,
    /// 1-1: the most overloaded with the idlest, and so on (definition 10).
    Pairwise,
    /// 1-n: an overloaded node with idle ones until they have room (definition 11).
    Star,
    /// All nodes in one group: the program (4) to (8) as it stands.
    Whole,
}

/// How a group ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupState {
    /// D1 ≤ D3 ≤ D2: what must leave is enough for the idle nodes, and fits.
    Closed,
    /// D3 < D1 ≤ D4: more must leave than must, and it can.
    Raised,
    /// Its idle nodes need more than can leave: the ones in [`Group::spared`] may stay idle.
    LeftIdle,
    /// Left incomplete by a rule that does no more about it; solved as far as it goes.
    Incomplete,
}

/// Nodes that are balanced among themselves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// Overloaded nodes, the most overloaded first; those that were left over come last.
    pub over: Vec<u32>,
    /// Idle nodes, those of `spared` first; the idlest first, unless groups were merged.
    pub idle: Vec<u32>,
    /// Those of `idle` that need not come up to their band.
    pub spared: Vec<u32>,
    /// Σ (1 − τ)p − s over `idle` without `spared`: what they need.
    pub d1: f64,
    /// Σ (1 + φ)p − s over `idle`: what they have room for.
    pub d2: f64,
    /// Σ s − (1 + φ)p over `over`: what must leave.
    pub d3: f64,
    /// Σ s − (1 − τ)p over `over`: what can leave.
    pub d4: f64,
    /// How it ended.
    pub state: GroupState,
}

/// Groups, and who is in none.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Decomposition {
    /// The groups; no node is in two.
    pub groups: Vec<Group>,
    /// Overloaded nodes for which there are no idle nodes left.
    pub left_over: Vec<u32>,
    /// Idle nodes for which there are no overloaded nodes left. They may stay idle.
    pub left_idle: Vec<u32>,
    /// Steps of the loop: each takes a node, so there are no more than overloaded and idle nodes.
    pub steps: usize,
    /// What the nodes of `left_over` have to lose.
    pub shortage: f64,
}

impl Decomposition {
    /// ⌈Σ_left (s − (1 + φ)p) / ((1 + φ)p_new)⌉: how many nodes of capacity `p_new` would take
    /// what is left over; `None` if it is no number above 0.
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "neither is below 0")]
    pub fn need_nodes(&self, band: Band, p_new: f64) -> Option<u64> {
        (p_new > 0.0 && p_new.is_finite()).then(|| (self.shortage / band.high(p_new)).ceil() as u64)
    }
}

/// A node that is out of its band: which, and by how much at the least and at the most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    pub(crate) node: u32,
    /// s/p, infinite for a dead node with load.
    pub(crate) degree: f64,
    /// What these may be off by: sums of floats that should be equal need not be.
    pub(crate) slack: f64,
    /// To the near end of the band.
    pub(crate) least: f64,
    /// To the far end of the band.
    pub(crate) most: f64,
}

/// The overloaded and the idle nodes, the furthest from their band first, ties by id.
pub(crate) fn out_of_band(cluster: &Cluster<'_>, band: Band) -> (Vec<Out>, Vec<Out>) {
    let (mut over, mut idle) = (Vec::new(), Vec::new());
    for (node, (&p, &s)) in (0_u32..).zip(cluster.capacity().iter().zip(cluster.loads())) {
        let (high, low) = (band.high(p), band.low(p));
        let slack = band.slack(p, s, 0.1 * Band::TOLERANCE);
        if band.is_over(p, s) {
            over.push(Out { node, degree: s / p, slack, least: s - high, most: s - low });
        } else if band.is_idle(p, s) {
            idle.push(Out { node, degree: s / p, slack, least: low - s, most: high - s });
        }
    }
    over.sort_by(|a: &Out, b| b.degree.total_cmp(&a.degree).then(a.node.cmp(&b.node)));
    idle.sort_by(|a: &Out, b| a.degree.total_cmp(&b.degree).then(a.node.cmp(&b.node)));
    (over, idle)
}

/// A group in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) over: Vec<Out>,
    pub(crate) idle: Vec<Out>,
    pub(crate) spared: Vec<Out>,
    pub(crate) state: Option<GroupState>,
}

impl Draft {
    pub(crate) fn d1(&self) -> f64 {
        self.idle.iter().map(|out| out.least).sum()
    }
    pub(crate) fn d2(&self) -> f64 {
        self.idle.iter().chain(&self.spared).map(|out| out.most).sum()
    }
    pub(crate) fn d3(&self) -> f64 {
        self.over.iter().map(|out| out.least).sum()
    }
    pub(crate) fn d4(&self) -> f64 {
        self.over.iter().map(|out| out.most).sum()
    }
    /// What sums of the group may be off by.
    pub(crate) fn tolerance(&self) -> f64 {
        self.over.iter().chain(&self.idle).chain(&self.spared).map(|out| out.slack).sum()
    }
    /// Room beyond what comes in anyway.
    pub(crate) fn slack(&self) -> f64 {
        self.d2() - self.d3()
    }

    fn finish(self) -> Group {
        let (d1, d2, d3, d4) = (self.d1(), self.d2(), self.d3(), self.d4());
        let slack = self.tolerance();
        let ids = |list: &[Out]| list.iter().map(|out| out.node).collect::<Vec<_>>();
        let mut idle = ids(&self.spared);
        idle.extend(ids(&self.idle));
        let state = self.state.unwrap_or(if d3 > d2 + slack {
            GroupState::Incomplete
        } else if !self.spared.is_empty() {
            GroupState::LeftIdle
        } else if d3 + slack >= d1 {
            GroupState::Closed
        } else {
            GroupState::Raised
        });
        Group { over: ids(&self.over), idle, spared: ids(&self.spared), d1, d2, d3, d4, state }
    }
}

/// Decomposes the nodes that are out of their band. O(n log n) time for n nodes; for the
/// leftover pass O(left over · groups) on top.
pub fn decompose(cluster: &Cluster<'_>, band: Band, rule: GroupRule) -> Decomposition {
    let (over, idle) = out_of_band(cluster, band);
    let mut made = match rule {
        GroupRule::Paper | GroupRule::Mended | GroupRule::Relaxed => {
            grow(&over, &idle, rule == GroupRule::Relaxed)
        }
        GroupRule::Pairwise => pairs(&over, &idle),
        GroupRule::Star => stars(&over, &idle),
        GroupRule::Whole => whole(over, idle),
    };
    if matches!(rule, GroupRule::Mended | GroupRule::Relaxed | GroupRule::Whole) {
        leftover::mend(&mut made);
    } else if rule != GroupRule::Paper {
        leftover::spare_all(&mut made.groups);
    }
    let ids = |list: &[Out]| list.iter().map(|out| out.node).collect::<Vec<_>>();
    Decomposition {
        left_over: ids(&made.left_over),
        left_idle: ids(&made.left_idle),
        steps: made.steps,
        shortage: made.left_over.iter().map(|out| out.least).sum(),
        groups: made.groups.into_iter().map(Draft::finish).collect(),
    }
}

/// Groups in the making, and the rest.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) groups: Vec<Draft>,
    pub(crate) left_over: Vec<Out>,
    pub(crate) left_idle: Vec<Out>,
    pub(crate) steps: usize,
}

/// The loop of Algorithm 1.
fn grow(over: &[Out], idle: &[Out], relaxed: bool) -> Drafts {
    let mut made = Drafts::default();
    let (mut over, mut idle) = (over.iter(), idle.iter());
    while let (Some(first_over), Some(first_idle)) = (over.clone().next(), idle.clone().next()) {
        over.next();
        idle.next();
        made.steps += 1;
        let mut draft =
            Draft { over: vec![*first_over], idle: vec![*first_idle], ..Draft::default() };
        let (mut d1, mut d2) = (first_idle.least, first_idle.most);
        let (mut d3, mut d4) = (first_over.least, first_over.most);
        let mut slack = first_over.slack + first_idle.slack;
        loop {
            let enough = if relaxed { d4 } else { d3 };
            // At most one of the two holds, as D1 ≤ D2.
            let next = if d2 + slack < d3 {
                idle.next().map(|out| {
                    (d1, d2, slack) = (d1 + out.least, d2 + out.most, slack + out.slack);
                    draft.idle.push(*out);
                })
            } else if enough + slack < d1 {
                over.next().map(|out| {
                    (d3, d4, slack) = (d3 + out.least, d4 + out.most, slack + out.slack);
                    draft.over.push(*out);
                })
            } else {
                break;
            };
            if next.is_none() {
                draft.state = Some(GroupState::Incomplete);
                break;
            }
            made.steps += 1;
        }
        made.groups.push(draft);
    }
    made.left_over.extend(over);
    made.left_idle.extend(idle);
    made
}

fn pairs(over: &[Out], idle: &[Out]) -> Drafts {
    let draft = |(&over, &idle): (&Out, &Out)| Draft {
        over: vec![over],
        idle: vec![idle],
        ..Draft::default()
    };
    let both = over.len().min(idle.len());
    Drafts {
        groups: over.iter().zip(idle).map(draft).collect(),
        left_over: over[both..].to_vec(),
        left_idle: idle[both..].to_vec(),
        steps: both,
    }
}

fn stars(over: &[Out], idle: &[Out]) -> Drafts {
    let mut made = Drafts::default();
    let mut idle = idle.iter();
    for &centre in over {
        let mut draft = Draft { over: vec![centre], ..Draft::default() };
        let mut room = 0.0;
        while room < centre.least {
            let Some(&next) = idle.next() else { break };
            room += next.most;
            draft.idle.push(next);
            made.steps += 1;
        }
        if draft.idle.is_empty() {
            made.left_over.push(centre);
        } else {
            made.groups.push(draft);
        }
    }
    made.left_idle.extend(idle);
    made
}

fn whole(over: Vec<Out>, idle: Vec<Out>) -> Drafts {
    let steps = over.len() + idle.len();
    if over.is_empty() || idle.is_empty() {
        return Drafts { groups: Vec::new(), left_over: over, left_idle: idle, steps };
    }
    let group = Draft { over, idle, ..Draft::default() };
    Drafts { groups: vec![group], left_over: Vec::new(), left_idle: Vec::new(), steps }
}
