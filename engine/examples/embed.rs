//! Embedding in a program: records go in by a channel, results come out by another, figures are
//! looked at while it runs, and it is stopped.
#![allow(missing_docs, unreachable_pub)]

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Sender, Stop, Topology, channel, threads,
};

/// Looks something up, where that takes its time.
struct LookUp;

impl Bolt for LookUp {
    type Out = Vec<(u64, String)>;
}

impl Execute<Vec<u64>> for LookUp {
    fn execute(&mut self, id: &u64, out: &mut Emitter<'_, Self::Out>) -> Result<(), BoxError> {
        // A disk, a socket: it has a thread of its own, so it may wait.
        thread::sleep(Duration::from_micros(200));
        if id.is_multiple_of(1000) {
            return Err(format!("there is no {id}").into());
        }
        out.emit((*id, format!("name of {id}")));
        Ok(())
    }
}

/// Hands results to the program. A replay may bring one twice.
struct Results(SyncSender<(u64, String)>);

impl Bolt for Results {
    type Out = ();
}

impl Execute<Vec<(u64, String)>> for Results {
    fn execute(
        &mut self,
        (id, name): &(u64, String),
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        self.0.send((*id, name.clone()))?;
        Ok(())
    }
}

/// The topology, and its two ends.
type Embedded = (Topology, Sender<u64>, Receiver<(u64, String)>);

fn topology(config: Config) -> Result<Embedded, BoxError> {
    let (sender, source) = channel(100)?;
    let (results, received) = sync_channel(100);
    let mut builder = Topology::builder();
    let ids = builder.spout("ids", 1, source.spout());
    let names = builder
        .bolt("look up", 4, |_| Ok(LookUp))
        .input(ids, Grouping::shuffle())
        .dedicated()
        .done();
    // It waits where the program is slow to take results.
    builder
        .bolt("results", 1, move |_| Ok(Results(results.clone())))
        .input(names, Grouping::shuffle())
        .dedicated()
        .done();
    Ok((builder.build(config)?, sender, received))
}

pub fn main() -> Result<(), BoxError> {
    let mut config = Config::default();
    config.attempts = 3;
    println!("{config}");
    let (topology, sender, received) = topology(config)?;
    let run = threads::start(topology, None)?;

    // One thread pushes, for as long as the run takes records in.
    let pusher = thread::spawn(move || (1..).take_while(|&id| sender.send(id).is_ok()).count());
    // This one takes results, and looks at the figures now and then.
    let mut came = 0;
    while came < 5000 {
        let (id, name) = received.recv_timeout(Duration::from_secs(60))?;
        came += 1;
        if came % 1000 == 0 {
            let stats = run.stats();
            println!(
                "{id} is {name:?}; {} in, {} acked, {} pending, {} dead",
                stats.records, stats.acked, stats.pending, stats.dead
            );
        }
    }

    // What was accepted is finished; the pusher gets its next record back, and ends.
    let monitor = run.monitor();
    run.stop(Stop::Drain);
    let rest = thread::spawn(move || received.iter().count());
    let report = run.wait()?;
    let accepted = pusher.join().map_err(|_| "the pusher panicked")? as u64;
    came += rest.join().map_err(|_| "the receiver panicked")?;

    println!("{accepted} accepted: {} acked, {} dead; {came} names", report.acked, report.dead);
    if let Some(letter) = report.dead_letters.first() {
        println!(
            "{:?} after {} attempts: {}",
            letter.item::<Vec<u64>>(),
            letter.attempts,
            letter.reason
        );
    }
    assert!(report.drained && accepted == report.acked + report.dead);
    assert_eq!(monitor.stats().acked, report.acked);
    Ok(())
}
