//! Migrations: nothing is lost, batches are matchings, and there are as few as can be.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::{Random, cases};
use proptest::prelude::*;
use rtmr::balance::{Move, Options, plan};
use rtmr::instances::{Shape, shaped};
use rtmr::schedule::{Migration, schedule};

fn random(seed: u64, count: u64, nodes: u64) -> Vec<Move> {
    let r = &mut Random::new(seed);
    (0..count)
        .map(|entry| Move {
            entry: u32::try_from(entry).unwrap(),
            from: u32::try_from(r.below(nodes)).unwrap(),
            to: u32::try_from(nodes + r.below(nodes)).unwrap(),
            bytes: r.below(100),
        })
        .collect()
}

fn busiest(moves: &[Move]) -> usize {
    let count = |end: &dyn Fn(&Move) -> bool| moves.iter().filter(|&step| end(step)).count();
    let nodes: BTreeSet<u32> = moves.iter().flat_map(|step| [step.from, step.to]).collect();
    nodes
        .iter()
        .map(|&node| count(&|s| s.from == node).max(count(&|s| s.to == node)))
        .max()
        .unwrap_or(0)
}

#[test]
fn no_moves_are_no_steps() {
    for migration in [Migration::Sudden, Migration::Fluid, Migration::Batched] {
        assert!(schedule(&[], migration).is_empty());
    }
}

#[test]
fn a_plan_of_many_moves_is_batched_by_its_busiest_node() {
    let instance = shaped(Shape::OneToMany, 16, 4096, 1.0, 1).unwrap();
    let cluster = instance.cluster().unwrap();
    let plan = plan(&cluster, instance.band, &Options::default()).unwrap();
    assert!(plan.moves.len() > 1000);
    let steps = schedule(&plan.moves, Migration::Batched);
    assert_eq!(steps.len(), busiest(&plan.moves));
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn batches_are_matchings_as_few_as_the_busiest_node_has_moves(
        seed in any::<u64>(), count in 0_u64..60, nodes in 1_u64..8
    ) {
        let moves = random(seed, count, nodes);
        let steps = schedule(&moves, Migration::Batched);
        prop_assert_eq!(steps.len(), busiest(&moves));
        for step in &steps {
            let from: BTreeSet<u32> = step.iter().map(|step| step.from).collect();
            let to: BTreeSet<u32> = step.iter().map(|step| step.to).collect();
            prop_assert!(!step.is_empty());
            prop_assert_eq!((from.len(), to.len()), (step.len(), step.len()));
        }
    }

    #[test]
    fn every_move_is_made_once(seed in any::<u64>(), count in 0_u64..60) {
        let moves = random(seed, count, 5);
        for migration in [Migration::Sudden, Migration::Fluid, Migration::Batched] {
            let mut all: Vec<Move> = schedule(&moves, migration).concat();
            all.sort_by_key(|step| step.entry);
            prop_assert_eq!(&all, &moves);
        }
    }
}
