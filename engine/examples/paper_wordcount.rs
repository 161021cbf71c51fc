//! The WordCount of the TSAW-Storm paper's evaluation, simulated: eight nodes, 300 virtual seconds.
//!
//! ```sh
//! cargo run --release --example paper_wordcount              # a made-up text, 300 s
//! cargo run --release --example paper_wordcount -- 60 a.txt  # 60 s of the lines of a file
//! ```
//!
//! The paper (section 5) runs 8 spouts, 16 split and 16 count tasks on 8 workers, one a node, and finds about
//! 92,446 tuples a second between nodes under Storm's round robin. It leaves out the rates and the
//! costs; those here are a reconstruction: 10,821 lines a second, and CPU costs that give the
//! paper's spread of load (standard deviation 12.66 % of a node) under round robin. Only a node's
//! share of one core is known, so a node has one core here.
//!
//! The words, their routing, the acks and the back pressure are those of the real engine; only the
//! time that code takes is the cost model's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use streamwright::demos::wordcount::{Count, Split, generate::Generator};
use streamwright::sim::{Cluster, Cost, Link, Outcome, Sim};
use streamwright::{
    BoxError, Config, EpochEnd, Grouping, Poll, Spout, SpoutEmitter, TaskContext, Text, Topology,
};

/// Lines a second, all spouts together.
const LINES: u64 = 10_821;
/// Lines that a spout emits at once.
const BURST: u64 = 20;
const SPOUTS: u32 = 8;
const SECOND: u64 = 1_000_000_000;

/// Emits lines at a fixed rate, by the engine's time, for so many seconds.
struct Paced {
    lines: Lines,
    emitted: u64,
    all: u64,
}

/// Where lines come from.
#[allow(clippy::large_enum_variant, reason = "one a task")]
enum Lines {
    Generated(Generator),
    File { text: Arc<Vec<Vec<u8>>>, at: usize },
}

impl Paced {
    fn new(task: &TaskContext, seconds: u64, text: Option<Arc<Vec<Vec<u8>>>>) -> Self {
        let lines = match text {
            // Each task begins elsewhere in the text.
            Some(text) => {
                let at = text.len() * task.index() as usize / task.tasks() as usize;
                Lines::File { text, at }
            }
            None => Lines::Generated(Generator::new(2, task.index(), task.tasks(), u64::MAX)),
        };
        Paced { lines, emitted: 0, all: LINES * seconds / u64::from(SPOUTS) }
    }
}

impl Spout for Paced {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        let due = |lines: u64| lines * SECOND * u64::from(SPOUTS) / LINES;
        if self.emitted >= self.all {
            return Ok(Poll::End);
        }
        let next = due(self.emitted + BURST);
        if out.now() < next {
            return Ok(Poll::Idle(Some(Duration::from_nanos(next - out.now()))));
        }
        for _ in 0..BURST {
            match &mut self.lines {
                Lines::Generated(generator) => {
                    let Some(line) = generator.next_line() else { return Ok(Poll::End) };
                    out.emit(line);
                }
                Lines::File { text, at } => {
                    out.emit(&text[*at][..]);
                    *at = (*at + 1) % text.len();
                }
            }
        }
        self.emitted += BURST;
        Ok(Poll::More)
    }
}

fn simulate(seconds: u64, text: Option<Arc<Vec<Vec<u8>>>>) -> Result<Outcome, BoxError> {
    let mut builder = Topology::builder();
    let lines = builder.spout("spout", SPOUTS, move |task| {
        Ok(Paced::new(task, seconds, text.as_ref().map(Arc::clone)))
    });
    let words = builder
        .bolt("split", 16, |_| Ok(Split::default()))
        .input(lines, Grouping::shuffle())
        .done();
    // What it counts stays there: nothing takes the totals.
    let _ =
        builder.bolt("count", 16, |_| Ok(Count::default())).input(words, Grouping::whole()).done();
    let mut config = Config::default();
    (config.workers, config.ackers) = (8, 8);
    config.epoch = EpochEnd::Every(Duration::from_secs(1));
    let topology = builder.build(config)?;

    // 1 Gb/s and 0.25 ms between any two nodes.
    let link = Link::new(Duration::from_micros(250), 125_000_000);
    let cost = |nanos| Cost { tuple: Duration::from_nanos(nanos), call: Duration::ZERO };
    let outcome = Sim::new(Cluster::uniform(8, 1, link))
        .seed(1)
        .cost("spout", cost(20_300))
        .cost("split", cost(40_700))
        .cost("count", cost(39_440))
        .run(topology)?;
    Ok(outcome)
}

fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let text = match arguments.next() {
        None => None,
        Some(path) => {
            let bytes = std::fs::read(path)?;
            let lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            Some(Arc::new(lines))
        }
    };
    let start = Instant::now();
    let outcome = simulate(seconds, text)?;
    let wall = start.elapsed().as_secs_f64();
    let report = &outcome.report;
    let time = report.elapsed.as_secs_f64();
    let words = report.tasks.iter().filter(|task| task.component == "count");
    let words: u64 = words.map(|task| task.executed).sum();
    println!("virtual time        {time:.1} s, {wall:.1} s of wall time");
    println!("lines, words        {}, {words}", report.records);
    println!("lines/s, words/s    {:.0}, {:.0}", report.records as f64 / time, words as f64 / time);
    let between = outcome.between_nodes();
    println!("tuples/s            {:.0} between nodes", between.tuples as f64 / time);
    println!("acked, replayed     {}, {}", report.acked, report.replayed);
    if let Some(latency) = report.latency {
        println!("latency             p50 {:?}, p99 {:?}", latency.p50, latency.p99);
    }
    let loads: Vec<f64> = outcome.nodes.iter().map(|node| 100.0 * node.utilisation).collect();
    let mean = loads.iter().sum::<f64>() / loads.len() as f64;
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / loads.len() as f64;
    let shown: Vec<String> = loads.iter().map(|load| format!("{load:.1}")).collect();
    println!("node load           {} %", shown.join(" "));
    println!("mean, deviation     {mean:.1}, {:.2} %", variance.sqrt());
    println!("events, steps       {}, {}", outcome.events, outcome.steps);
    println!("trace               {:016x}", outcome.trace);
    Ok(())
}
