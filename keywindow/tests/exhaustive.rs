//! All small inputs: every stream of up to five records in twelve cells, under every window of size
//! and slide up to five and every phase, by every kernel.

#![allow(clippy::unwrap_used)]

mod common;

use common::{every_kernel, special_kernels};
use keywindow::aggregates::{Count, Max};
use keywindow::oracle::{changes, native};
use keywindow::{Emit, WindowSpec, expand};

use crate::common::List;

const CELLS: i64 = 12;
const UNTIL: i64 = 40;

/// Every non-decreasing list of times, up to `most` of them.
fn streams(most: usize) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let until = all.len();
        for i in from..until {
            for time in all[i].last().copied().unwrap_or(0)..CELLS {
                let mut longer = all[i].clone();
                longer.push(time);
                all.push(longer);
            }
        }
        from = until;
    }
    all
}

#[test]
fn every_kernel_and_the_paper_tell_the_native_windows() {
    let all = streams(5);
    assert_eq!(all.len(), 6_188);
    let mut cases = 0;
    for (size, slide) in (1..=5).flat_map(|size| (1..=5).map(move |slide| (size, slide))) {
        for phase in 0..slide {
            let spec = WindowSpec::sliding(size, slide).unwrap().with_phase(phase);
            for times in &all {
                // Values that are not their order, for the maximum.
                let values = [3, 1, 4, 1, 5];
                let records: Vec<_> = times.iter().copied().zip(values).collect();
                let content = changes(&spec, &List, &records, Emit::ContentChange, UNTIL);
                for (name, told) in every_kernel(spec, Emit::ContentChange, &records, UNTIL) {
                    assert_eq!(told, content, "{name}: {spec:?} {records:?}");
                }
                let windows = native(&spec, &List, &records, UNTIL);
                assert!(expand(&spec, content, UNTIL).eq(windows), "{spec:?} {records:?}");

                let emit = Emit::ValueChange;
                let (counts, greatest) = special_kernels(spec, emit, &records, UNTIL);
                let count = Count::<u32>::new();
                assert_eq!(counts, changes(&spec, &count, &records, emit, UNTIL));
                assert_eq!(greatest, changes(&spec, &Max::new(), &records, emit, UNTIL));
                let windows = native(&spec, &count, &records, UNTIL);
                assert!(expand(&spec, counts, UNTIL).eq(windows), "{spec:?} {records:?}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 6_188 * 75);
}
