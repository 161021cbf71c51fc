//! The answers on small instances against two oracles that know nothing of the solver: all
//! placements one after the other, and an integer program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, Kinds, cases, places};
use good_lp::{Expression, Solution, SolverModel, constraint, microlp, variable, variables};
use proptest::prelude::*;
use tsaw::{Distance, Options, ScheduleError, schedule, verify};

const ALL: Kinds = Kinds { limits: true, distances: true };

/// What a plan or an error must be, given the least cost by enumeration.
fn check(case: &Case, optimum: Option<i64>) -> Result<bool, TestCaseError> {
    let (graph, cluster) = (case.graph(), case.cluster());
    match (schedule(&graph, &cluster, &Options::default()), optimum) {
        (Ok(plan), Some(optimum)) => {
            let place = places(&plan.placement);
            prop_assert!(case.keeps_all_but_cpu(&place));
            prop_assert!(case.keeps_cpu(&place, &case.caps()));
            prop_assert_eq!(plan.certificate.cost_after, case.cost(&place));
            prop_assert_eq!(plan.certificate.cut_after, case.cut(&place));
            prop_assert!(plan.certificate.cost_lower_bound <= optimum);
            prop_assert!(!plan.certificate.cap_relaxed);
            prop_assert!(plan.certificate.cost_after >= optimum);
            prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
            Ok(plan.certificate.cost_after == optimum)
        }
        (Ok(plan), None) => {
            Err(TestCaseError::fail(format!("a plan where there is none: {:?}", plan.placement)))
        }
        (Err(error), Some(_)) => {
            Err(TestCaseError::fail(format!("{error} though there is a placement")))
        }
        (Err(ScheduleError::NotFound { best_excess, .. }), None) => {
            prop_assert!(!best_excess.is_zero());
            Ok(true)
        }
        (Err(_), None) => Ok(true),
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_plan_is_found_where_there_is_one_and_only_there(seed in any::<u64>()) {
        let case = Case::random(seed, 6, 3, ALL);
        check(&case, case.optimum(&case.caps()))?;
    }
}

/// Not a property, as the search is a heuristic: how often it meets the optimum.
#[test]
fn plans_are_optimal_but_for_a_hundredth() {
    let (mut all, mut optimal) = (0, 0);
    for seed in 0..1_000 {
        let case = Case::random(seed, 7, 3, ALL);
        let best = case.optimum(&case.caps());
        all += 1;
        optimal += u32::from(check(&case, best).unwrap());
    }
    println!("{optimal} of {all} are optimal");
    assert!(optimal * 100 >= all * 99, "{optimal} of {all}");
}

/// The least cost at flat distance, by an integer program: a variable for each task and node, and
/// one for each stream and node that it leaves or enters.
fn by_integer_program(case: &Case) -> Option<i64> {
    let (n, k) = (case.tasks.len(), case.nodes.len());
    let mut vars = variables!();
    let on: Vec<Vec<_>> =
        (0..n).map(|_| (0..k).map(|_| vars.add(variable().binary())).collect()).collect();
    let cut: Vec<Vec<_>> = case
        .streams
        .iter()
        .map(|_| (0..k).map(|_| vars.add(variable().min(0).max(1))).collect())
        .collect();
    let mut objective = Expression::from(0.0);
    for (&(_, _, rate), cut) in case.streams.iter().zip(&cut) {
        for &cut in cut {
            objective += rate as f64 / 2.0 * cut;
        }
    }
    let mut model = vars.minimise(objective).using(microlp);
    let sum = |terms: Vec<(f64, good_lp::Variable)>| {
        terms.into_iter().fold(Expression::from(0.0), |sum, (times, of)| sum + times * of)
    };
    for task in &on {
        model = model.with(constraint!(sum(task.iter().map(|&v| (1.0, v)).collect()) == 1));
    }
    for (&(a, b, _), cut) in case.streams.iter().zip(&cut).filter(|((a, b, _), _)| a != b) {
        for node in 0..k {
            model = model.with(constraint!(cut[node] >= on[a][node] - on[b][node]));
            model = model.with(constraint!(cut[node] >= on[b][node] - on[a][node]));
        }
    }
    for (node, &cap) in case.caps().iter().enumerate() {
        let of = |part: &dyn Fn(usize) -> u64| {
            sum((0..n).map(|task| (part(task) as f64, on[task][node])).collect())
        };
        model = model.with(constraint!(of(&|task| case.tasks[task].cpu) <= cap as f64));
        let limits = &case.nodes[node];
        if let Some(mem) = limits.mem {
            model = model.with(constraint!(of(&|task| case.tasks[task].mem) <= mem as f64));
        }
        if let Some(bandwidth) = limits.bandwidth {
            let crossing = case.streams.iter().zip(&cut).filter(|((a, b, _), _)| a != b);
            let crossing = crossing.map(|(stream, cut)| (stream.2 as f64, cut[node])).collect();
            model = model.with(constraint!(sum(crossing) <= bandwidth as f64));
        }
        let banned = (0..n).filter(|&task| {
            !limits.alive
                || (case.tasks[task].source && !limits.has_source)
                || case.pins.iter().any(|(t, ns)| *t == task && !ns.contains(&(node as u32)))
        });
        for task in banned {
            model = model.with(constraint!(on[task][node] == 0));
        }
        for &(a, b) in &case.together {
            model = model.with(constraint!(on[a][node] == on[b][node]));
        }
        for (members, most) in &case.spreads {
            let members = members.iter().map(|&task| (1.0, on[task][node])).collect();
            model = model.with(constraint!(sum(members) <= f64::from(*most)));
        }
    }
    let solution = model.solve().ok()?;
    let place: Vec<usize> = on
        .iter()
        .map(|task| (0..k).find(|&node| solution.value(task[node]) > 0.5).unwrap())
        .collect();
    assert!(case.keeps_all_but_cpu(&place) && case.keeps_cpu(&place, &case.caps()));
    Some(case.cost(&place))
}

#[test]
fn the_integer_program_the_enumeration_and_the_plans_agree() {
    let count = if std::env::var("PROPTEST_CASES").is_ok() { 2_000 } else { 200 };
    let mut solved = 0;
    for seed in 10_000..10_000 + count {
        let mut case = Case::random(seed, 6, 3, ALL);
        case.distance = Distance::Flat;
        let optimum = by_integer_program(&case);
        assert_eq!(optimum, case.optimum(&case.caps()), "{case:?}");
        check(&case, optimum).unwrap();
        solved += u32::from(optimum.is_some());
    }
    println!("{solved} of {count} can be placed");
    assert!(solved > count as u32 / 4);
}
