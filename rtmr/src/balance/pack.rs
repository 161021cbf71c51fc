//! What goes where: entries that leave, onto nodes with a lower and an upper end each.

use super::problem::{Problem, Target};
use super::widest::Widest;

/// An assignment: items and the target of each.
pub(crate) type Assignment = Vec<(u32, u32)>;

/// Packs `taken` items onto the targets: the heavy ones first, each to where most is missing
/// (LPT), the light ones in a row. `None` if a target ends outside of its ends.
pub(crate) fn pack(problem: &Problem, taken: Vec<u32>) -> Option<Assignment> {
    let sum: f64 = taken.iter().map(|&i| problem.items[i as usize].load).sum();
    let aims = aims(&problem.targets, problem.lows(), problem.highs(), sum)?;
    if let [target] = problem.targets.as_slice() {
        let fits = sum >= target.low - target.slack && sum <= target.high + target.slack;
        return fits.then(|| taken.into_iter().map(|item| (item, 0)).collect());
    }
    let window = |t: &Target| t.high - t.low;
    let narrow = problem.targets.iter().map(window).fold(f64::INFINITY, f64::min);
    let light = narrow / 64.0;
    let load = |item: u32| problem.items[item as usize].load;
    let (mut heavy, rest): (Vec<u32>, Vec<u32>) = taken.into_iter().partition(|&i| load(i) > light);
    heavy.sort_unstable_by(|&a, &b| load(b).total_cmp(&load(a)).then(a.cmp(&b)));
    let mut got = vec![0.0; aims.len()];
    let mut placed = Vec::with_capacity(heavy.len() + rest.len());
    let mut missing = Widest::new(aims.iter().copied());
    for item in heavy {
        let (to, _) = missing.peek()?;
        missing.take(load(item));
        got[to as usize] += load(item);
        placed.push((item, to));
    }
    fill(&aims, &mut got, &rest, load, &mut placed);
    let fits = |(target, got): (&Target, &f64)| {
        *got >= target.low - target.slack && *got <= target.high + target.slack
    };
    problem.targets.iter().zip(&got).all(fits).then_some(placed)
}

/// What each target is to get, `sum` in all: the same part of the way from its low to its high.
fn aims(targets: &[Target], lows: f64, highs: f64, sum: f64) -> Option<Vec<f64>> {
    let slack: f64 = targets.iter().map(|target| target.slack).sum();
    if sum < lows - slack || sum > highs + slack {
        return None;
    }
    let part = if highs > lows { ((sum - lows) / (highs - lows)).clamp(0.0, 1.0) } else { 0.0 };
    Some(targets.iter().map(|target| target.low + part * (target.high - target.low)).collect())
}

/// Fills one target after the other, so that after each the sum is off by one item at most.
#[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
fn fill(
    aims: &[f64],
    got: &mut [f64],
    items: &[u32],
    load: impl Fn(u32) -> f64,
    placed: &mut Vec<(u32, u32)>,
) {
    let missing: f64 = aims.iter().zip(&*got).map(|(aim, got)| (aim - got).max(0.0)).sum();
    let sum: f64 = items.iter().map(|&item| load(item)).sum();
    let scale = if missing > 0.0 { sum / missing } else { 0.0 };
    let mut items = items.iter();
    let (mut due, mut given) = (0.0, 0.0);
    for at in 0..aims.len() {
        due += (aims[at] - got[at]).max(0.0) * scale;
        let last = at + 1 == aims.len();
        let before = given;
        while given < due || last {
            let Some(&item) = items.next() else { break };
            given += load(item);
            placed.push((item, at as u32));
        }
        got[at] += given - before;
    }
}
