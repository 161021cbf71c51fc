//! What else one would count words with: rayon's fold, and Renoir by word and pre-aggregated.

use std::sync::Arc;

use rayon::prelude::*;
use renoir::prelude::*;

use crate::work::{Counts, Lines, Work};

/// Each thread folds its lines into a table, and the tables are merged.
pub(crate) fn rayon(lines: &Arc<Lines>, workers: u32) -> Counts<String> {
    let pool = ::rayon::ThreadPoolBuilder::new().num_threads(workers as usize).build().unwrap();
    pool.install(|| {
        (0..lines.records())
            .into_par_iter()
            .fold(Counts::new, |mut counts, line| {
                lines.expand(line, |word| *counts.entry(word).or_insert(0) += 1);
                counts
            })
            .reduce(Counts::new, |a, b| {
                let (mut to, from) = if a.len() < b.len() { (b, a) } else { (a, b) };
                for (word, n) in from {
                    *to.entry(word).or_insert(0) += n;
                }
                to
            })
    })
}

/// Renoir, in batches of 1,024: with every word sent, or counted before it is.
pub(crate) fn renoir(lines: &Arc<Lines>, workers: u32, pre_aggregated: bool) -> Counts<String> {
    let context = StreamContext::new(RuntimeConfig::local(u64::from(workers)).unwrap());
    let (end, lines) = (u64::from(lines.records()), Arc::clone(lines));
    let words =
        context.stream_par_iter(0..end).batch_mode(BatchMode::fixed(1024)).flat_map(move |line| {
            let mut words = Vec::new();
            lines.expand(line as u32, |word| words.push(word));
            words
        });
    let counts = if pre_aggregated {
        words.group_by_count(|word: &String| word.clone()).collect_vec()
    } else {
        words
            .group_by(|word: &String| word.clone())
            .fold(0_usize, |count, _| *count += 1)
            .collect_vec()
    };
    context.execute_blocking();
    counts.get().unwrap().into_iter().map(|(word, n)| (word, n as u64)).collect()
}
