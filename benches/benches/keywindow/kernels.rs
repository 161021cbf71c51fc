//! One step of a full window: the oldest goes, a new one comes, and all are asked for.

use std::hint::black_box;

use benches::window::{Floor, Window};
use keywindow::Aggregate;
use keywindow::aggregates::{Max, Sum};
use keywindow::kernel::{Daba, Kernel, Monotone, SubtractOnEvict, TwoStacks};

use crate::{median, timed};

const STEPS: usize = 1 << 18;
const TURNS: usize = 15;

struct Ours<A, Q>(A, Q);

impl<A: Aggregate<In: Sized>, Q: Kernel<A, ()>> Window for Ours<A, Q>
where
    A: Acc,
{
    fn steps(&mut self, values: &[i64]) -> i64 {
        let mut all = 0_i64;
        for &x in values {
            self.1.pop(&self.0);
            self.1.push(&self.0, (), A::of(x));
            all = all.wrapping_add(A::number(&black_box(self.1.query(&self.0))));
        }
        all
    }
}

/// How a number becomes a partial result and back.
trait Acc: Aggregate {
    fn of(x: i64) -> Self::Acc;
    fn number(acc: &Self::Acc) -> i64;
}

impl Acc for Sum<i32> {
    fn of(x: i64) -> i64 {
        x
    }
    fn number(acc: &i64) -> i64 {
        *acc
    }
}

/// A maximum with a least number instead of `None`: the kernels' own cost.
struct Greatest;

impl Aggregate for Greatest {
    type In = i64;
    type Acc = i64;
    type Out = i64;

    fn create(&self) -> i64 {
        i64::MIN
    }
    fn add(&self, acc: &mut i64, record: &i64) {
        *acc = (*acc).max(*record);
    }
    fn merge(&self, older: &i64, newer: &i64) -> i64 {
        (*older).max(*newer)
    }
    fn get(&self, acc: &i64) -> i64 {
        *acc
    }
    fn same(&self, a: &i64, b: &i64) -> bool {
        a == b
    }
}

impl Acc for Greatest {
    fn of(x: i64) -> i64 {
        x
    }
    fn number(acc: &i64) -> i64 {
        *acc
    }
}

impl Acc for Max<i64> {
    fn of(x: i64) -> Option<i64> {
        Some(x)
    }
    fn number(acc: &Option<i64>) -> i64 {
        acc.unwrap()
    }
}

fn ours<A: Acc<In: Sized> + 'static, Q: Kernel<A, ()> + 'static>(
    agg: A,
    n: usize,
) -> Box<dyn Window> {
    let mut kernel = Q::new(&agg);
    (0..n).for_each(|_| kernel.push(&agg, (), A::of(1)));
    Box::new(Ours(agg, kernel))
}

fn run_size(n: usize) {
    let sum = Sum::<i32>::new;
    let max = Max::<i64>::new;
    let mut all: Vec<(&str, Box<dyn Window>)> = vec![
        ("deque and running sum", Box::new(Floor::new(i64::try_from(n).unwrap()))),
        ("sum: two stacks", ours::<_, TwoStacks<_, ()>>(sum(), n)),
        ("sum: DABA", ours::<_, Daba<_, ()>>(sum(), n)),
        ("sum: subtract", ours::<_, SubtractOnEvict<_, ()>>(sum(), n)),
        ("max: two stacks", ours::<_, TwoStacks<_, ()>>(Greatest, n)),
        ("max: DABA", ours::<_, Daba<_, ()>>(Greatest, n)),
        ("Max: two stacks", ours::<_, TwoStacks<_, ()>>(max(), n)),
        ("Max: DABA", ours::<_, Daba<_, ()>>(max(), n)),
        ("Max: monotone", ours::<_, Monotone<_, ()>>(max(), n)),
    ];
    let mut random = 1_u64;
    let values: Vec<i64> = (0..STEPS.max(2 * n))
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 44).cast_signed()
        })
        .collect();
    let mut nanos = vec![Vec::new(); all.len()];
    for turn in 0..=TURNS {
        let mut results = Vec::new();
        for ((_, window), nanos) in all.iter_mut().zip(&mut nanos) {
            let mut result = 0;
            let spent = timed(|| result = window.steps(black_box(&values)));
            results.push(result);
            if turn > 0 {
                nanos.push(spent / values.len() as f64);
            }
        }
        assert!(results[1..4].iter().all(|&sum| sum == results[0]));
        assert!(results[5..].iter().all(|&max| max == results[4]));
    }
    let medians: Vec<f64> = nanos.into_iter().map(median).collect();
    if n == 1 << 6 {
        print!("\nkernel step: ns, and times the deque with a running sum\n{:>8}", "n");
        all.iter().for_each(|(name, _)| {
            print!("{:>20}", name.replace("deque and running sum", "deque and sum"));
        });
        println!();
    }
    print!("{n:>8}");
    for each in &medians {
        print!("{each:>12.2} {:>6.2}x", each / medians[0]);
    }
    println!();
}

pub fn run() {
    for log in [6, 8, 10, 12, 14, 16, 18, 20] {
        run_size(1 << log);
    }
}
