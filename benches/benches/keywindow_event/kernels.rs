//! One step of a full window: the oldest goes, a new one comes, at the end or behind it, and all are asked for.

use std::hint::black_box;

use benches::window::{Floor, Window};
use keywindow::aggregates::Sum;
use keywindow::kernel::{Finger, Kernel, TwoStacks};

use crate::{median, timed};

const STEPS: usize = 1 << 17;
const TURNS: usize = 11;

/// The distance from the newest at which elements are inserted.
const APART: [i64; 3] = [16, 1_024, 100_000];

/// A kernel, the time of its newest element, and how one is added.
struct Ours<Q, Add>(Q, i64, Add);

impl<Q: Kernel<Sum<i32>, i64>, Add: Fn(&mut Q, &Sum<i32>, i64, i64)> Window for Ours<Q, Add> {
    fn steps(&mut self, values: &[i64]) -> i64 {
        let sum = Sum::<i32>::new();
        let mut all = 0_i64;
        for &x in values {
            self.0.pop(&sum);
            self.1 += 1;
            self.2(&mut self.0, &sum, self.1, x);
            all = all.wrapping_add(black_box(self.0.query(&sum)));
        }
        all
    }
}

fn kernel<Q: Kernel<Sum<i32>, i64> + 'static>(n: i64) -> Box<dyn Window> {
    let sum = Sum::<i32>::new();
    let mut kernel = Q::new(&sum);
    (0..n).for_each(|time| kernel.push(&sum, time, 1));
    Box::new(Ours(kernel, n, Q::push))
}

/// Elements come before the newest ones, which are far ahead and stay.
fn behind(n: i64, apart: i64) -> Box<dyn Window> {
    let (rest, far) = (0..n - apart, 1 << 40..(1 << 40) + apart);
    let tree = Finger::of(&Sum::<i32>::new(), rest.chain(far).map(|time| (time, 1)).collect());
    Box::new(Ours(tree, n, Finger::insert))
}

fn run_size(n: i64) {
    let mut all: Vec<(String, Box<dyn Window>)> = vec![
        ("deque and sum".into(), Box::new(Floor::new(n))),
        ("two stacks".into(), kernel::<TwoStacks<i64, i64>>(n)),
        ("finger".into(), kernel::<Finger<i64, i64>>(n)),
    ];
    for apart in APART.into_iter().filter(|&apart| 2 * apart <= n) {
        all.push((format!("finger, {apart} behind"), behind(n, apart)));
    }
    let mut random = 1_u64;
    let values: Vec<i64> = (0..STEPS)
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
        assert!(results[1..3].iter().all(|&sum| sum == results[0]));
    }
    let medians: Vec<f64> = nanos.into_iter().map(median).collect();
    print!("n = {n:>8}:");
    for ((name, _), each) in all.iter().zip(&medians) {
        print!("  {name} {each:.1} ns, {:.1}x;", each / medians[0]);
    }
    println!();
}

pub fn run() {
    println!("\nkernel step, and times the deque with a running sum");
    for log in [6, 10, 14, 18, 20] {
        run_size(1 << log);
    }
}
