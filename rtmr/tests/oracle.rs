//! Plans against an integer program that knows nothing of the solver: (4) to (8), by microlp.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use good_lp::{
    Expression, ResolutionError, Solution, SolverModel, constraint, microlp, variable, variables,
};
use rtmr::balance::{GroupRule, Move, Options, Outcome, Plan, Search, plan, verify};
use rtmr::instances::{Instance, Shape, shaped};

/// The program's optimum: the answer is rounded, checked in the instance's own numbers, and told
/// as moves. `None`: infeasible. A false answer of the solver fails the test.
fn oracle(instance: &Instance) -> Option<(u64, Vec<Move>)> {
    let cluster = instance.cluster().unwrap();
    let (band, p, s) = (instance.band, &instance.capacity, cluster.loads());
    let over: Vec<usize> = (0..p.len()).filter(|&j| band.is_over(p[j], s[j])).collect();
    let idle: Vec<usize> = (0..p.len()).filter(|&k| band.is_idle(p[k], s[k])).collect();
    let items: Vec<usize> = (0..instance.entries.len())
        .filter(|&i| over.contains(&(instance.entries[i].owner as usize)))
        .collect();
    let mut vars = variables!();
    let x: Vec<Vec<_>> = items
        .iter()
        .map(|_| idle.iter().map(|_| vars.add(variable().binary())).collect())
        .collect();
    let entry = |at: usize| &instance.entries[items[at]];
    let mut bytes = Expression::from(0.0);
    let mut out: Vec<Expression> = vec![Expression::from(0.0); p.len()];
    let mut into: Vec<Expression> = vec![Expression::from(0.0); p.len()];
    for (at, row) in x.iter().enumerate() {
        for (k, &var) in row.iter().enumerate() {
            bytes += entry(at).bytes as f64 * var;
            out[entry(at).owner as usize] += entry(at).load * var;
            into[idle[k]] += entry(at).load * var;
        }
    }
    let mut model = vars.minimise(bytes).using(microlp);
    for row in &x {
        model = model.with(constraint!(row.iter().sum::<Expression>() <= 1.0));
    }
    for &j in &over {
        model = model.with(constraint!(out[j].clone() >= s[j] - band.high(p[j])));
        model = model.with(constraint!(out[j].clone() <= s[j] - band.low(p[j])));
    }
    for &k in &idle {
        model = model.with(constraint!(into[k].clone() >= band.low(p[k]) - s[k]));
        model = model.with(constraint!(into[k].clone() <= band.high(p[k]) - s[k]));
    }
    let solution = match model.solve() {
        Ok(solution) => solution,
        Err(ResolutionError::Infeasible) => return None,
        Err(error) => panic!("{error}"),
    };
    let mut moves = Vec::new();
    for (at, row) in x.iter().enumerate() {
        for (k, &var) in row.iter().enumerate() {
            if solution.value(var) > 0.5 {
                moves.push(Move {
                    entry: u32::try_from(items[at]).unwrap(),
                    from: entry(at).owner,
                    to: u32::try_from(idle[k]).unwrap(),
                    bytes: entry(at).bytes,
                });
            }
        }
    }
    Some((moves.iter().map(|step| step.bytes).sum(), moves))
}

fn solved(instance: &Instance, search: Search, groups: GroupRule) -> Plan {
    let cluster = instance.cluster().unwrap();
    let made =
        plan(&cluster, instance.band, &Options { search, groups, ..Options::default() }).unwrap();
    let _ = verify(&cluster, instance.band, &made).unwrap();
    made
}

#[test]
fn plans_are_within_two_percent_of_the_optimum_and_feasible_where_it_is() {
    let (mut feasible, mut exact) = (0, 0);
    for (shape, nodes, per_node) in
        [(Shape::OneToOne, 2, 24), (Shape::OneToMany, 4, 8), (Shape::OneToOne, 4, 8)]
    {
        for sigma in [0.5, 1.0, 1.5, 2.0, 2.5] {
            for seed in 0..5 {
                let instance = shaped(shape, nodes, per_node, sigma, seed).unwrap();
                let made = solved(&instance, Search::Auto, GroupRule::Mended);
                let Some((optimum, moves)) = oracle(&instance) else {
                    let proven = solved(&instance, Search::Exact, GroupRule::Whole);
                    assert!(!proven.left_over.is_empty() || !proven.left_idle.is_empty());
                    continue;
                };
                feasible += 1;
                // The oracle's answer is held to the same rules as ours.
                let cluster = instance.cluster().unwrap();
                let mut answer = made.clone();
                (answer.moves, answer.bytes) = (moves, optimum);
                answer.outcome = Outcome::Balanced;
                answer.left_over.clear();
                answer.left_idle.clear();
                let _ = verify(&cluster, instance.band, &answer).unwrap();
                assert!(made.left_over.is_empty(), "{shape:?} {sigma} {seed}: {:?}", made.outcome);
                let over = made.bytes as f64 / optimum as f64;
                assert!(over <= 1.02, "{shape:?} {per_node} σ {sigma} seed {seed}: {over}");
                let whole = solved(&instance, Search::Exact, GroupRule::Whole);
                if whole.optimal {
                    assert_eq!(whole.bytes, optimum, "{shape:?} {sigma} {seed}");
                    exact += 1;
                }
            }
        }
    }
    assert!(feasible > 30 && exact * 2 > feasible, "{feasible} {exact}");
}
