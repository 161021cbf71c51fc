//! What Algorithm 1 leaves undone: its last group, and overloaded nodes without a group.

use super::decompose::{Draft, Drafts, Out};

/// Judges the last group by D4, then gives every node left over to a group with slack.
pub(crate) fn mend(made: &mut Drafts) {
    for draft in &mut made.groups {
        draft.state = None;
    }
    for at in (0..made.groups.len()).rev() {
        shed(&mut made.groups[at], &mut made.left_over);
        if made.groups[at].over.is_empty() && made.left_over.is_empty() {
            made.left_idle.append(&mut made.groups[at].idle);
            made.groups.remove(at);
        }
    }
    // First-fit decreasing, the group with the most slack first.
    made.left_over.sort_by(|a, b| b.least.total_cmp(&a.least).then(a.node.cmp(&b.node)));
    let waiting = std::mem::take(&mut made.left_over);
    for out in waiting {
        if !place(&mut made.groups, out) {
            made.left_over.push(out);
        }
    }
    for draft in made.groups.extract_if(.., |draft| draft.over.is_empty()) {
        made.left_idle.extend(draft.idle);
    }
    spare_all(&mut made.groups);
}

/// Takes the nodes that joined last out of a group without room for all of them.
fn shed(draft: &mut Draft, left: &mut Vec<Out>) {
    while draft.slack() < -draft.tolerance() {
        let Some(out) = draft.over.pop() else { break };
        left.push(out);
    }
}

/// Puts an overloaded node into the group with the most slack; where that is too little, into as
/// many of them as it takes, merged.
fn place(groups: &mut Vec<Draft>, out: Out) -> bool {
    let total: f64 = groups.iter().map(|draft| draft.slack().max(0.0)).sum();
    if total + out.slack < out.least {
        return false;
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| groups[b].slack().total_cmp(&groups[a].slack()).then(a.cmp(&b)));
    let mut room = 0.0;
    let mut taken = Vec::new();
    for at in order {
        if room + out.slack >= out.least {
            break;
        }
        room += groups[at].slack();
        taken.push(at);
    }
    if room + out.slack < out.least {
        return false;
    }
    taken.sort_unstable();
    let Some(&home) = taken.first() else { return false };
    for &at in taken[1..].iter().rev() {
        let other = groups.remove(at);
        groups[home].over.extend(other.over);
        groups[home].idle.extend(other.idle);
    }
    groups[home].idle.sort_by(|a, b| a.degree.total_cmp(&b.degree).then(a.node.cmp(&b.node)));
    groups[home].over.push(out);
    true
}

/// Lets the idlest nodes of a group stay idle until the rest can be brought up: D1 ≤ D4.
pub(crate) fn spare_all(groups: &mut [Draft]) {
    for draft in groups {
        while !draft.idle.is_empty() && draft.d1() > draft.d4() + draft.tolerance() {
            // The idlest is the first: groups are grown in that order.
            draft.spared.push(draft.idle.remove(0));
        }
    }
}
