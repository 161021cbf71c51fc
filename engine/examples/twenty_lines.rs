//! A topology in twenty lines: numbers in, their sum by last digit out.
#![allow(missing_docs, unreachable_pub)]

use std::collections::BTreeMap;
use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Topology, channel, threads,
};

struct Sum(BTreeMap<u64, u64>);
impl Bolt for Sum {
    type Out = ();
}
impl Execute<Vec<u64>> for Sum {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        *self.0.entry(n % 10).or_default() += n;
        Ok(())
    }
}
impl Drop for Sum {
    fn drop(&mut self) {
        println!("{:?}", self.0);
    }
}

pub fn main() -> Result<(), BoxError> {
    let (sender, source) = channel(1000)?;
    let mut builder = Topology::builder();
    let numbers = builder.spout("numbers", 1, source.spout());
    let bolt = builder.bolt("sum", 2, |_| Ok(Sum(BTreeMap::new())));
    bolt.input(numbers, Grouping::fields(|n: &u64| n % 10)).done();
    let run = threads::start(builder.build(Config::default())?, None)?;
    (1..=10_000).try_for_each(|n| sender.send(n))?;
    drop(sender);
    let report = run.wait()?;
    println!("{} numbers, each counted", report.acked);
    assert!(report.complete && report.acked == 10_000);
    Ok(())
}
