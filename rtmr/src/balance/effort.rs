//! What can be done where a group can't be solved: no rule broken, as much relief as fits.

use super::pack::Assignment;
use super::problem::{Problem, by_ratio};
use super::widest::Widest;

/// Relieves the sources of least need first, each by entries of least ratio, and puts every entry
/// where most room is. Targets may stay idle, sources overloaded; none gets worse.
pub(crate) fn best_effort(problem: &Problem) -> Assignment {
    let mut rooms = Widest::new(problem.targets.iter().map(|target| target.high));
    let mut order: Vec<usize> = (0..problem.sources.len()).collect();
    order.sort_by(|&a, &b| problem.sources[a].need.total_cmp(&problem.sources[b].need));
    let mut moves = Vec::new();
    for j in order {
        let source = &problem.sources[j];
        #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
        let mut items: Vec<u32> = source.range().map(|item| item as u32).collect();
        let item = |at: u32| &problem.items[at as usize];
        items.sort_unstable_by(|&a, &b| by_ratio(item(a), item(b)));
        let mut out = 0.0;
        for at in items {
            if out >= source.need - source.slack {
                break;
            }
            let load = item(at).load;
            if out + load > source.most {
                continue;
            }
            if let Some((to, _)) = rooms.peek().filter(|&(_, room)| room >= load) {
                rooms.take(load);
                out += load;
                moves.push((at, to));
            }
        }
    }
    moves
}
