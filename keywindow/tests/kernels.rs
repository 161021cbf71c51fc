//! The kernels alone: against recalculation, and their bounds by counting merges.

#![allow(clippy::unwrap_used)]

mod common;

use std::cell::Cell;

use common::{Counted, List, cases};
use keywindow::aggregates::{Count, Last, Max, Min, Sum};
use keywindow::kernel::{
    Daba, Few, Finger, Kernel, Monotone, Recalculate, SubtractOnEvict, TwoStacks,
};
use keywindow::{Aggregate, Invertible, Selective};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Push,
    Pop,
}

fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    // Runs, so that kernels fill and drain as well as swing.
    let run = (prop_oneof![Just(Op::Push), Just(Op::Pop)], 1..20_usize);
    proptest::collection::vec(run, 0..most)
        .prop_map(|runs| runs.into_iter().flat_map(|(op, n)| std::iter::repeat_n(op, n)).collect())
}

/// Runs a kernel beside one list of what it holds.
fn check<A: Aggregate<In = u32, Out: PartialEq + std::fmt::Debug>, Q: Kernel<A, u64>>(
    agg: &A,
    ops: &[Op],
) {
    let (mut kernel, mut oracle) = (Q::new(agg), Recalculate::<A::Acc, u64>::new(agg));
    for (number, op) in (0_u64..).zip(ops) {
        match op {
            Op::Push => {
                let mut acc = agg.create();
                agg.add(&mut acc, &(number as u32 * 7 % 31));
                kernel.push(agg, number, acc.clone());
                oracle.push(agg, number, acc);
            }
            Op::Pop => {
                assert_eq!(kernel.pop(agg), Kernel::<A, u64>::pop(&mut oracle, agg));
            }
        }
        assert_eq!(kernel.len(), Kernel::<A, u64>::len(&oracle));
        assert_eq!(kernel.oldest(), Kernel::<A, u64>::oldest(&oracle));
        let (now, right) = (kernel.query(agg), Kernel::<A, u64>::query(&oracle, agg));
        assert_eq!(agg.get(&now), agg.get(&right));
    }
}

fn check_invertible<A: Invertible<In = u32, Out: PartialEq + std::fmt::Debug>>(
    agg: &A,
    ops: &[Op],
) {
    check::<A, SubtractOnEvict<A::Acc>>(agg, ops);
}

fn check_selective<A: Selective<In = u32, Out: PartialEq + std::fmt::Debug>>(agg: &A, ops: &[Op]) {
    check::<A, Monotone<A::Acc>>(agg, ops);
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn every_kernel_holds_what_recalculation_holds(ops in ops(8)) {
        check::<_, TwoStacks<_>>(&List, &ops);
        check::<_, Daba<_>>(&List, &ops);
        check::<_, Few<_>>(&List, &ops);
        check::<_, Finger<_>>(&List, &ops);
        check::<_, Few<_, u64, Daba<_>, 5>>(&List, &ops);
        check::<_, Few<_, u64, TwoStacks<_>, 0>>(&List, &ops);
        check_invertible(&Count::<u32>::new(), &ops);
        check_invertible(&Sum::<u32>::new(), &ops);
        check_invertible(&(Count::new(), Sum::<u32>::new()), &ops);
        check_selective(&Max::<u32>::new(), &ops);
        check_selective(&Min::<u32>::new(), &ops);
        check_selective(&Last::<u32>::new(), &ops);
    }
}

/// Steps of push, pop and query, by the window's length over time.
fn lengths() -> Vec<usize> {
    let sawtooth = (0..3).flat_map(|_| (0..=1_921).chain((0..1_921).rev()));
    let swing = (0..5).flat_map(|_| (300..900).chain((301..=900).rev()));
    sawtooth
        .chain(0..=100)
        .chain(std::iter::repeat_n(100, 10_000))
        .chain(101..300)
        .chain(swing)
        .collect()
}

fn walk<A: Aggregate<In = u32>, Q: Kernel<A, ()>>(agg: &A, mut each: impl FnMut(&Q, u32)) {
    let (mut kernel, mut number) = (Q::new(agg), 0);
    for length in lengths() {
        loop {
            if kernel.len() > length {
                kernel.pop(agg);
                continue;
            }
            let mut acc = agg.create();
            agg.add(&mut acc, &number);
            kernel.push(agg, (), acc);
            number += 1;
            if kernel.len() > length {
                kernel.pop(agg);
            }
            if kernel.len() == length {
                break;
            }
        }
        each(&kernel, number);
    }
}

#[test]
fn sawtooth_and_swing_give_what_a_sum_of_numbers_gives() {
    let sum = Sum::<u32>::new();
    let right = |length: usize, number: u32| -> i64 {
        (0..i64::try_from(length).unwrap()).map(|back| i64::from(number) - 1 - back).sum()
    };
    walk::<_, TwoStacks<_, ()>>(&sum, |kernel, number| {
        let length = Kernel::<Sum<u32>, ()>::len(kernel);
        assert_eq!(Kernel::<Sum<u32>, ()>::query(kernel, &sum), right(length, number));
    });
    walk::<_, Finger<_, ()>>(&sum, |kernel, number| {
        let length = Kernel::<Sum<u32>, ()>::len(kernel);
        assert_eq!(Kernel::<Sum<u32>, ()>::query(kernel, &sum), right(length, number));
    });
    walk::<_, Daba<_, ()>>(&sum, |kernel, number| {
        let length = Kernel::<Sum<u32>, ()>::len(kernel);
        assert_eq!(Kernel::<Sum<u32>, ()>::query(kernel, &sum), right(length, number));
    });
}

fn counted() -> Counted<Count<u32>> {
    Counted { agg: Count::new(), adds: Cell::new(0), merges: Cell::new(0) }
}

/// Merges of one step.
fn cost<T>(agg: &Counted<Count<u32>>, step: impl FnOnce() -> T) -> u64 {
    let before = agg.merges.get();
    step();
    agg.merges.get() - before
}

#[test]
fn daba_takes_three_merges_a_push_two_a_pop_and_one_a_query_at_worst() {
    let agg = counted();
    let mut worst = (0, 0, 0);
    for most in [1, 2, 3, 4, 5, 7, 8, 64, 1_000] {
        let mut kernel = Daba::<u64, ()>::new(&agg);
        for step in 0..40_000_u64 {
            // Fill, swing, drain.
            let hold = match step % 10_000 {
                0..4_000 => most,
                4_000..7_000 => most / 2 + (step as usize / 3) % (most / 2 + 1),
                _ => 0,
            };
            if kernel_len(&kernel) <= hold {
                worst.0 = worst.0.max(cost(&agg, || kernel.push(&agg, (), 1)));
            } else {
                worst.1 = worst.1.max(cost(&agg, || kernel.pop(&agg)));
            }
            worst.2 = worst.2.max(cost(&agg, || kernel.query(&agg)));
            assert_eq!(kernel.query(&agg), kernel_len(&kernel) as u64);
        }
    }
    assert_eq!(worst, (3, 2, 1));
}

fn kernel_len<Q: Kernel<Counted<Count<u32>>, ()>>(kernel: &Q) -> usize {
    kernel.len()
}

#[test]
fn two_stacks_take_two_merges_a_push_and_its_pop_and_one_a_query() {
    let agg = counted();
    for most in [1, 2, 3, 10, 1_000] {
        let mut kernel = TwoStacks::<u64, ()>::new(&agg);
        let (mut merges, mut pushes) = (0, 0);
        for step in 0..50_000_u64 {
            let hold = if step % 9_000 < 6_000 { most } else { most / 3 };
            if kernel_len(&kernel) <= hold {
                merges += cost(&agg, || kernel.push(&agg, (), 1));
                pushes += 1;
            } else {
                merges += cost(&agg, || kernel.pop(&agg));
            }
            assert!(cost(&agg, || kernel.query(&agg)) <= 1);
            assert!(merges <= 2 * pushes, "{merges} merges for {pushes} pushes");
        }
    }
}

#[test]
fn a_monotone_deque_holds_the_logarithm_of_random_elements() {
    let max = Max::<u64>::new();
    let mut kernel = Monotone::<Option<u64>, ()>::new(&max);
    let mut random = 1_u64;
    for _ in 0..100_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        kernel.push(&max, (), Some(random >> 32));
        if Kernel::<Max<u64>, ()>::len(&kernel) > 10_000 {
            kernel.pop(&max);
        }
    }
    // ln 10,000 is 9.2; a ring has room for more than it holds.
    assert!(Kernel::<Max<u64>, ()>::heap_bytes(&kernel) < 100 * 24);
}

/// First in, first out, as other libraries' tests have it.
#[test]
fn t14_pushes_and_pops() {
    fn sums<Q: Kernel<Sum<i64>, ()>>() {
        let sum = Sum::<i64>::new();
        let get = |kernel: &Q| sum.get(&kernel.query(&sum)).unwrap();
        let mut kernel = Q::new(&sum);
        for (x, total) in [(1, 1), (2, 3), (3, 6)] {
            kernel.push(&sum, (), i64::into(x));
            assert_eq!(get(&kernel), total);
        }
        kernel.pop(&sum);
        assert_eq!(get(&kernel), 5);
        kernel.pop(&sum);
        assert_eq!(get(&kernel), 3);
        assert_eq!((kernel.pop(&sum), kernel.pop(&sum), kernel.pop(&sum)), (Some(()), None, None));
        assert_eq!((get(&kernel), kernel.is_empty()), (0, true));
        kernel.push(&sum, (), i64::into(4));
        assert_eq!(get(&kernel), 4);
    }
    sums::<TwoStacks<_, ()>>();
    sums::<Daba<_, ()>>();
    sums::<Few<_, ()>>();
    sums::<Finger<_, ()>>();
    sums::<Recalculate<_, ()>>();
    sums::<SubtractOnEvict<_, ()>>();

    fn maxima<Q: Kernel<Max<i64>, ()>>() {
        let max = Max::<i64>::new();
        let mut kernel = Q::new(&max);
        for x in 0..=1_000 {
            kernel.push(&max, (), Some(x));
            assert_eq!(kernel.query(&max), Some(x));
        }
        for _ in 0..=1_000 {
            assert_eq!(kernel.query(&max), Some(1_000));
            kernel.pop(&max);
        }
        assert_eq!(kernel.query(&max), None);
    }
    maxima::<TwoStacks<_, ()>>();
    maxima::<Daba<_, ()>>();
    maxima::<Few<_, ()>>();
    maxima::<Finger<_, ()>>();
    maxima::<Recalculate<_, ()>>();
    maxima::<Monotone<_, ()>>();
}

/// The cross-check of other libraries: many steps over a window of one length.
#[test]
fn t14_a_window_of_a_hundred_by_every_kernel() {
    fn check<A: Aggregate<Out: PartialEq + std::fmt::Debug>, Q: Kernel<A, ()>>(
        agg: &A,
        steps: usize,
        record: impl Fn(u64) -> A::Acc,
    ) {
        let (mut kernel, mut oracle) = (Q::new(agg), Recalculate::<A::Acc, ()>::new(agg));
        let mut random = 3_u64;
        for step in 0..steps {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let acc = record(random >> 40);
            kernel.push(agg, (), acc.clone());
            Kernel::<A, ()>::push(&mut oracle, agg, (), acc);
            if step >= 100 {
                kernel.pop(agg);
                Kernel::<A, ()>::pop(&mut oracle, agg);
            }
            let (now, right) = (kernel.query(agg), Kernel::<A, ()>::query(&oracle, agg));
            assert_eq!(agg.get(&now), agg.get(&right));
        }
    }
    let sum = Sum::<u32>::new();
    check::<_, TwoStacks<_, ()>>(&sum, 1_000_000, u64::cast_signed);
    check::<_, Daba<_, ()>>(&sum, 1_000_000, u64::cast_signed);
    check::<_, Finger<_, ()>>(&sum, 1_000_000, u64::cast_signed);
    check::<_, SubtractOnEvict<_, ()>>(&sum, 1_000_000, u64::cast_signed);
    let max = Max::<u64>::new();
    check::<_, TwoStacks<_, ()>>(&max, 1_000_000, Some);
    check::<_, Daba<_, ()>>(&max, 1_000_000, Some);
    check::<_, Monotone<_, ()>>(&max, 1_000_000, Some);
    check::<_, TwoStacks<_, ()>>(&List, 10_000, |x| vec![x as u32]);
    check::<_, Daba<_, ()>>(&List, 10_000, |x| vec![x as u32]);
    check::<_, Finger<_, ()>>(&List, 10_000, |x| vec![x as u32]);
}
