//! `verify` against plans that were tampered with: each change has a name.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, Random, count};
use rtmr::balance::{Band, Entry, Mismatch, Options, Outcome, Plan, plan, verify};

fn case() -> Case {
    // Two overloaded, two idle, one in its band.
    let loads = [14.0, 12.0, 7.0, 6.0, 10.0];
    let mut entries = Vec::new();
    for (owner, load) in (0..).zip(loads) {
        for i in 0..20_u64 {
            entries.push(Entry { owner, load: load / 20.0, bytes: 10 + i });
        }
    }
    Case {
        capacity: vec![10.0; 5],
        base: vec![0.0; 5],
        entries,
        band: Band::new(0.1, 0.1).unwrap(),
    }
}

fn planned() -> (Case, Plan) {
    let case = case();
    let made = plan(&case.cluster(), case.band, &Options::default()).unwrap();
    assert_eq!(made.outcome, Outcome::Balanced);
    assert!(made.moves.len() > 3);
    (case, made)
}

#[track_caller]
fn refused(change: impl Fn(&mut Plan)) -> Mismatch {
    let (case, mut made) = planned();
    change(&mut made);
    verify(&case.cluster(), case.band, &made).unwrap_err()
}

#[test]
fn a_plan_as_it_was_made_is_taken() {
    let (case, made) = planned();
    let report = verify(&case.cluster(), case.band, &made).unwrap();
    assert_eq!(report.bytes, made.moves.iter().map(|step| step.bytes).sum::<u64>());
    assert!((report.lower_bound / made.lower_bound - 1.0).abs() < 1e-6);
    assert!((report.gap - made.gap()).abs() < 1e-6);
    assert!((report.loads.iter().sum::<f64>() - 49.0).abs() < 1e-9);
}

#[test]
fn every_change_of_a_move_is_seen() {
    assert_eq!(refused(|p| p.moves[0].entry = 1000), Mismatch::Unknown(0));
    assert_eq!(refused(|p| p.moves[1].to = 5), Mismatch::Unknown(1));
    assert_eq!(refused(|p| p.moves[1].from = 4), Mismatch::NotTheEntry(1));
    assert_eq!(refused(|p| p.moves[1].bytes += 1), Mismatch::NotTheEntry(1));
    assert_eq!(refused(|p| p.moves[1].to = p.moves[1].from), Mismatch::NotTheEntry(1));
    let twice = |p: &mut Plan| p.moves.insert(1, p.moves[0]);
    assert!(matches!(refused(twice), Mismatch::Twice(_)));
    assert!(matches!(refused(|p| p.moves.swap(0, 1)), Mismatch::Twice(_)));
    assert_eq!(refused(|p| p.moves[0].to = 4), Mismatch::WrongEnd(4));
    assert!(matches!(refused(|p| p.moves[0].to = 1), Mismatch::WrongEnd(1)));
}

#[test]
fn a_missing_move_and_a_wrong_sum_are_seen() {
    let short = refused(|p| p.moves.truncate(p.moves.len() - 1));
    assert!(matches!(short, Mismatch::Left(_) | Mismatch::Bytes { .. }));
    assert!(matches!(refused(|p| p.moves.clear()), Mismatch::Left(_)));
    assert!(matches!(refused(|p| p.bytes -= 1), Mismatch::Bytes { .. }));
    for bound in [1e9, f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(refused(|p| p.lower_bound = bound), Mismatch::Bound { .. }));
    }
    assert!(matches!(refused(|p| p.lower_bound *= 1.000_001), Mismatch::Bound { .. }));
}

#[test]
fn names_of_nodes_and_the_outcome_are_checked() {
    assert_eq!(refused(|p| p.left_over.push(0)), Mismatch::Left(0));
    assert_eq!(refused(|p| p.left_idle.push(3)), Mismatch::Left(3));
    assert_eq!(refused(|p| p.outcome = Outcome::Partial), Mismatch::Outcome);
    assert_eq!(refused(|p| p.outcome = Outcome::Unsolved), Mismatch::Outcome);
}

/// All of an overloaded node's entries to one idle node.
#[test]
fn a_source_made_idle_and_a_target_made_overloaded_are_seen() {
    let (case, made) = planned();
    let mut broken = made.clone();
    broken.moves = (0..20)
        .map(|entry| rtmr::balance::Move {
            entry,
            from: 0,
            to: 2,
            bytes: case.entries[entry as usize].bytes,
        })
        .collect();
    let error = verify(&case.cluster(), case.band, &broken).unwrap_err();
    assert_eq!(error, Mismatch::SourceIdle(0));
    broken.moves.truncate(7);
    let error = verify(&case.cluster(), case.band, &broken).unwrap_err();
    assert_eq!(error, Mismatch::TargetOver(2));
}

/// A plan for one cluster is refused for another where it does not fit.
#[test]
fn a_random_change_is_refused_or_is_no_worse_than_what_it_says() {
    let (mut refused, all) = (0, count(10_000));
    let (case, planned) = planned();
    for seed in 0..u64::from(all) {
        let mut made = planned.clone();
        let r = &mut Random::new(seed);
        let at = usize::try_from(r.below(made.moves.len() as u64)).unwrap();
        let step = &mut made.moves[at];
        match r.below(4) {
            0 => step.to = u32::try_from(r.below(6)).unwrap(),
            1 => step.entry = u32::try_from(r.below(110)).unwrap(),
            2 => step.from = u32::try_from(r.below(6)).unwrap(),
            _ => drop(made.moves.remove(at)),
        }
        match verify(&case.cluster(), case.band, &made) {
            Err(_) => refused += 1,
            // To another idle node with room, or the same again: as good a plan.
            Ok(report) => {
                assert_eq!(report.bytes, made.bytes);
                for (node, load) in report.loads.iter().enumerate() {
                    assert!((9.0 - 1e-6..=11.0 + 1e-6).contains(load), "node {node}: {load}");
                }
            }
        }
    }
    assert!(refused * 2 > all, "{refused} of {all}");
}
