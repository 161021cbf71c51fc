//! Cluster files: what to simulate, in TOML. What is wrong in one is said with its line.

mod place;
mod schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use streamwright::sim::{Cluster, Cost, Event, Fault, Faults, Link, Node, Overhead, Sim, SimError};

use super::exit::Exit;
use crate::nearest::nearest;
use place::{Step, line_of};
use schema::{File, Time};

/// A cluster file, read.
#[derive(Debug)]
pub(super) struct Scenario {
    path: PathBuf,
    text: String,
    file: File,
    nodes: Vec<Node>,
    /// The entry that each node is of.
    entries: Vec<usize>,
}

/// What to say of a file, and how to end.
pub(super) type Refusal = (String, Exit);

impl Scenario {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, Refusal> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| (format!("cannot read {shown}: {error}"), Exit::Input))?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| place::line(&text, span.start));
            (format!("{shown}:{line}: {}", suggest(error.message())), Exit::Usage)
        })?;
        let (mut nodes, mut entries) = (Vec::new(), Vec::new());
        for (at, entry) in file.node.iter().enumerate() {
            let node = |name| Node {
                name,
                cores: entry.cores,
                speed: entry.speed,
                memory: entry.memory.unwrap_or(u64::MAX),
            };
            match entry.count {
                None => nodes.push(node(entry.name.clone())),
                Some(count) => {
                    nodes.extend((0..count).map(|n| node(format!("{}{n}", entry.name))));
                }
            }
            entries.resize(nodes.len(), at);
        }
        let scenario = Scenario { path: path.to_owned(), text, file, nodes, entries };
        if scenario.nodes.is_empty() {
            return Err(scenario.refuse(&[Step::Key("node")], &SimError::NoNode.to_string()));
        }
        scenario.names()?;
        Ok(scenario)
    }

    /// Whether every node has a name of its own.
    fn names(&self) -> Result<(), Refusal> {
        for (at, node) in self.nodes.iter().enumerate() {
            if self.nodes[..at].iter().any(|other| other.name == node.name) {
                let path = [Step::Key("node"), Step::At(self.entries[at]), Step::Key("name")];
                return Err(self.refuse(&path, &format!("a second node {:?}", node.name)));
            }
        }
        Ok(())
    }

    /// Workers, as the file has them: as many as it names nodes for, or one a core as far as there
    /// can be so many.
    pub(super) fn workers(&self) -> u32 {
        let cores = self.nodes.iter().map(|node| u64::from(node.cores)).sum::<u64>();
        let named = self.file.workers.as_ref().map(|workers| workers.len() as u64);
        let default = cores.clamp(1, u64::from(streamwright::MAX_WORKERS));
        u32::try_from(named.unwrap_or(default)).unwrap_or(u32::MAX)
    }

    /// The simulation that it asks for; `seed` is that of the command line, which wins.
    pub(super) fn sim(&self, seed: Option<u64>) -> Result<Sim, Refusal> {
        let file = &self.file;
        let mut links = Vec::new();
        for (at, link) in file.links.iter().enumerate() {
            let end = |i: usize| {
                let path = [Step::Key("links"), Step::At(at), Step::Key("between"), Step::At(i)];
                self.node(&link.between[i], &path)
            };
            links.push((end(0)?, end(1)?, self::link(link.latency, link.bandwidth)));
        }
        let local = file.local.as_ref().map(|l| link(l.latency, l.bandwidth));
        let cluster = Cluster {
            nodes: self.nodes.clone(),
            link: link(file.link.latency, file.link.bandwidth),
            links,
            local: local.unwrap_or(Link::INSTANT),
        };
        let seed = seed.or(file.seed).unwrap_or(0);
        let mut sim = Sim::new(cluster).seed(seed).faults(self.faults()?);
        for (component, cost) in &file.cost {
            let call = cost.call.map_or(Duration::ZERO, |time| time.0);
            sim = sim.cost(component, Cost { tuple: cost.tuple.0, call });
        }
        for (component, &bytes) in &file.bytes {
            sim = sim.bytes(component, bytes);
        }
        if let Some(overhead) = &file.overhead {
            let all = Overhead::default();
            let step = overhead.step.map_or(all.step, |time| time.0);
            let message = overhead.message.map_or(all.message, |time| time.0);
            sim = sim.overhead(Overhead { step, message });
        }
        if let Some(until) = file.until {
            sim = sim.until(until.0);
        }
        if let Some(workers) = &file.workers {
            let node = |(at, name): (usize, &String)| {
                self.node(name, &[Step::Key("workers"), Step::At(at)])
            };
            sim = sim.workers_on(workers.iter().enumerate().map(node).collect::<Result<_, _>>()?);
        }
        Ok(sim)
    }

    fn faults(&self) -> Result<Faults, Refusal> {
        let file = &self.file.faults;
        let mut events = Vec::new();
        for (at, fault) in self.file.fault.iter().enumerate() {
            let field = |name| [Step::Key("fault"), Step::At(at), Step::Key(name)];
            let node = self.node(&fault.node, &field("node"))?;
            let kind = fault.event;
            let lasts = || {
                let time = fault.lasts.map(|time| time.0);
                time.ok_or_else(|| self.refuse(&field("event"), "it asks for `lasts`"))
            };
            let superfluous = match kind {
                schema::Event::Crash if fault.lasts.is_some() => Some("lasts"),
                schema::Event::Crash | schema::Event::Unreachable if fault.factor.is_some() => {
                    Some("factor")
                }
                _ => None,
            };
            if let Some(name) = superfluous {
                return Err(self.refuse(&field(name), "this event has no such field"));
            }
            let event = match kind {
                schema::Event::Crash => Event::Crash { node },
                schema::Event::Unreachable => Event::Unreachable { node, lasts: lasts()? },
                schema::Event::Slow => {
                    let none = || self.refuse(&field("event"), "it asks for `factor`");
                    let factor = fault.factor.ok_or_else(none)?;
                    Event::Slow { node, factor, lasts: lasts()? }
                }
            };
            events.push(Fault::at(fault.at.0, event));
        }
        Ok(Faults {
            lose_tuples: file.lose_tuples,
            lose_batches: file.lose_batches,
            repeat_batches: file.repeat_batches,
            stale_batches: file.stale_batches,
            lose_acks: file.lose_acks,
            repeat_acks: file.repeat_acks,
            lose_control: file.lose_control,
            repeat_control: file.repeat_control,
            delay: file.delay.map_or(Duration::ZERO, |time| time.0),
            reorder: file.reorder,
            until: file.until.map(|time| time.0),
            detection: file.detection.map_or(Faults::default().detection, |time| time.0),
            unreachable_after: file.unreachable_after.map(|time| time.0),
            events,
        })
    }

    /// The number of the node of that name.
    fn node(&self, name: &str, path: &[Step<'_>]) -> Result<usize, Refusal> {
        let found = self.nodes.iter().position(|node| node.name == name);
        found.ok_or_else(|| {
            let names = self.nodes.iter().map(|node| node.name.as_str());
            let hint = nearest(name, names).map(|near| format!(": did you mean {near:?}?"));
            self.refuse(path, &format!("no node {name:?}{}", hint.unwrap_or_default()))
        })
    }

    fn refuse(&self, path: &[Step<'_>], message: &str) -> Refusal {
        let line = line_of(&self.text, path);
        let field = place::name(path);
        (format!("{}:{line}: {field}: {message}", self.path.display()), Exit::Usage)
    }

    /// What to say of a simulation that was refused for what the file says; `None` where it was
    /// not.
    pub(super) fn blame(&self, error: &SimError) -> Option<Refusal> {
        let node = |node: usize, field| {
            let entry = self.entries.get(node).copied().unwrap_or(0);
            vec![Step::Key("node"), Step::At(entry), Step::Key(field)]
        };
        let path = match error {
            SimError::NoNode | SimError::TooManyNodes { .. } => vec![Step::Key("node")],
            SimError::NoCore { node: at, .. } => node(*at, "cores"),
            SimError::Speed { node: at, .. } => node(*at, "speed"),
            SimError::Bandwidth { link } if link.contains("within") => {
                vec![Step::Key("local"), Step::Key("bandwidth")]
            }
            SimError::Bandwidth { link } if link.ends_with("nodes") => {
                vec![Step::Key("link"), Step::Key("bandwidth")]
            }
            SimError::Bandwidth { .. } | SimError::Ends { .. } => vec![Step::Key("links")],
            SimError::UnknownComponent { field, component, .. } => {
                vec![Step::Key(field), Step::Key(component)]
            }
            SimError::NoSuchNode { .. } | SimError::Workers { .. } => vec![Step::Key("workers")],
            SimError::Chance { field, .. } => vec![Step::Key("faults"), Step::Key(field)],
            SimError::Factor { fault, .. } => {
                vec![Step::Key("fault"), Step::At(*fault), Step::Key("factor")]
            }
            SimError::FaultNode { fault, .. } => vec![Step::Key("fault"), Step::At(*fault)],
            SimError::Time { .. } => Vec::new(),
            _ => return None,
        };
        Some(self.refuse(&path, &error.to_string()))
    }
}

fn link(latency: Time, bandwidth: Option<u64>) -> Link {
    Link::new(latency.0, bandwidth.unwrap_or(u64::MAX))
}

/// The parser's message, with the field that is nearest to an unknown one.
fn suggest(message: &str) -> String {
    let message = message.trim();
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = message.starts_with("unknown ").then(|| quoted.next()).flatten();
    match unknown.and_then(|unknown| nearest(unknown, quoted)) {
        Some(near) => format!("{message}: did you mean `{near}`?"),
        None => message.to_owned(),
    }
}
