//! What Algorithm 1 leaves undone: its last group, and overloaded nodes without a group.

use super::decompose::{Draft, Drafts, Out};

/// Judges the last group by D4, then gives every node left over to a group with slack.
pub(crate) fn mend(made: &mut Drafts) {
    for draft in &mut made.groups {
        draft.state = None;
        shed(draft, &mut made.left_over);
    }
    // First-fit decreasing, the group with the most slack first.
    made.left_over.sort_by(|a, b| b.least.total_cmp(&a.least).then(a.node.cmp(&b.node)));
    let mut slacks: Vec<f64> = made.groups.iter().map(Draft::slack).collect();
    let waiting = std::mem::take(&mut made.left_over);
    for out in waiting {
        if !place(&mut made.groups, &mut slacks, out) {
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
    let (mut slack, tolerance) = (draft.slack(), draft.tolerance());
    while slack < -tolerance {
        let Some(out) = draft.over.pop() else { break };
        slack += out.least;
        left.push(out);
    }
}

/// Puts an overloaded node into the group with the most slack; where that is too little, into as
/// many of them as it takes, merged.
fn place(groups: &mut Vec<Draft>, slacks: &mut Vec<f64>, out: Out) -> bool {
    let by_slack = |&a: &usize, &b: &usize| slacks[a].total_cmp(&slacks[b]).then(b.cmp(&a));
    let Some(widest) = (0..groups.len()).max_by(by_slack) else { return false };
    let enough = |room: f64| room + out.slack >= out.least;
    let mut taken = vec![widest];
    if !enough(slacks[widest]) {
        if !enough(slacks.iter().map(|slack| slack.max(0.0)).sum()) {
            return false;
        }
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by(|a, b| by_slack(b, a));
        let mut room = 0.0;
        let short = |slack: f64| {
            let more = !enough(room);
            room += slack;
            more
        };
        let mut short = short;
        taken = order.into_iter().take_while(|&at| short(slacks[at])).collect();
        taken.sort_unstable();
    }
    let home = taken[0];
    for &at in taken[1..].iter().rev() {
        let other = groups.remove(at);
        slacks[home] += slacks[at];
        slacks.remove(at);
        groups[home].over.extend(other.over);
        groups[home].idle.extend(other.idle);
    }
    if taken.len() > 1 {
        groups[home].idle.sort_by(|a, b| a.degree.total_cmp(&b.degree).then(a.node.cmp(&b.node)));
    }
    groups[home].over.push(out);
    slacks[home] -= out.least;
    true
}

/// Lets the idlest nodes of a group stay idle until the rest can be brought up: D1 ≤ D4.
pub(crate) fn spare_all(groups: &mut [Draft]) {
    for draft in groups {
        let (mut d1, most) = (draft.d1(), draft.d4() + draft.tolerance());
        // The idlest is the first: groups are grown in that order.
        let spared = draft.idle.iter().take_while(|out| {
            let spare = d1 > most;
            d1 -= if spare { out.least } else { 0.0 };
            spare
        });
        let count = spared.count();
        draft.spared.extend(draft.idle.drain(..count));
    }
}
