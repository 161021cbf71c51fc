//! A cluster whose nodes are M/M/1 queues, computed and not run: at service rate `m` and arrival
//! rate `x` a tuple takes `1 / (m − x)`, so the latency is `theta` at `m − 1 / theta`.

#![allow(dead_code, missing_docs, unreachable_pub)]

use flownet::{Limit, Network, NodeId, Place, Plan, Probe, Sample, Window};

/// What comes between the queues and what is measured.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    None,
    /// Each measured mean latency times one number of this mean deviation, around 1.
    Latency(f64),
    /// Each window's mean service time is that of so many tuples, whose own have this deviation.
    Service(f64, f64),
}

/// The queues of a network.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub net: Network<f64>,
    /// Tuples a second that each node can serve; infinite for what takes no time.
    pub service: Vec<f64>,
    /// Tuples a second that each arc can transfer, with the latency of such a queue; infinite alike.
    pub transfer: Vec<f64>,
    pub noise: Noise,
    pub seed: u64,
    /// Windows so far.
    pub windows: u32,
}

impl Cluster {
    pub fn new(net: Network<f64>, service: Vec<f64>) -> Self {
        let transfer = vec![f64::INFINITY; net.arc_count()];
        Cluster { net, service, transfer, noise: Noise::None, seed: 1, windows: 0 }
    }

    /// The rate at which the first queue is full: with bounded queues, the sources are held to it.
    pub fn held_to(&self, rate: f64, plan: &Plan) -> f64 {
        let places = self.places(plan);
        places.map(|(_, load, served)| served / load).fold(rate, f64::min)
    }

    /// What gets tuples: the place, tuples for each source tuple, and what it can serve.
    fn places(&self, plan: &Plan) -> impl Iterator<Item = (Place, f64, f64)> {
        let value = plan.value();
        let nodes = self.service.iter().enumerate().map(move |(v, &served)| {
            let node = NodeId(v as u32);
            (Place::Node(node), plan.node_rate(node) / value, served)
        });
        let arcs = self.transfer.iter().enumerate().map(move |(a, &served)| {
            let arc = flownet::ArcId(a as u32);
            (Place::Arc(arc), plan.arc_rate(arc) / value, served)
        });
        nodes.chain(arcs).filter(|&(_, load, served)| load > 0.0 && served.is_finite())
    }

    /// A number of mean 0 and deviation 1: the sum of twelve even ones, less six.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }

    /// SplitMix64, between 0 and 1.
    fn even(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Probe for Cluster {
    type Error = &'static str;

    fn window(&mut self, rate: f64, plan: &Plan) -> Result<Window, Self::Error> {
        self.windows += 1;
        let throughput = self.held_to(rate, plan);
        let places: Vec<_> = self.places(plan).collect();
        let mut samples = Vec::new();
        for (at, load, served) in places {
            let arrived = throughput * load;
            let served = match self.noise {
                Noise::Service(deviation, tuples) => {
                    let mean = 1.0 + deviation / tuples.sqrt() * self.normal();
                    served / mean.max(0.1)
                }
                _ => served,
            };
            let latency = if arrived < served { 1.0 / (served - arrived) } else { f64::INFINITY };
            let latency = match self.noise {
                Noise::Latency(deviation) => latency * (1.0 + deviation * self.normal()).max(0.1),
                _ => latency,
            };
            samples.push(Sample { at, rate: arrived, latency });
        }
        Ok(Window { throughput, samples })
    }
}

/// A source, stages of workers that send all to all, and a sink: as jobs are.
pub fn stages(workers: &[Vec<f64>]) -> Cluster {
    let mut net = Network::new();
    let mut service = vec![f64::INFINITY];
    let source = net.add_node().unwrap_or(NodeId(0));
    let mut before = vec![source];
    for stage in workers {
        let first = net.add_nodes(stage.len()).unwrap_or(source).0;
        let these: Vec<_> = (first..first + stage.len() as u32).map(NodeId).collect();
        service.extend(stage);
        for &from in &before {
            for &to in &these {
                let _ = net.add_arc(from, to, Limit::Unbounded);
            }
        }
        before = these;
    }
    let sink = net.add_node().unwrap_or(source);
    service.push(f64::INFINITY);
    for from in before {
        let _ = net.add_arc(from, sink, Limit::Unbounded);
    }
    let _ = net.add_source(source, Limit::Unbounded);
    let _ = net.add_sink(sink, Limit::Unbounded);
    Cluster::new(net, service)
}
