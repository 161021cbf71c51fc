//! Declaring components, and checking the whole.

use core::any::Any;
use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::graph::Drawing;
use super::{BuildError, BuildErrors, MakeHost, Stream, StreamMaker, Topology};
use crate::batch::{Batch, CloneBatch};
use crate::component::{Bolt, BoxError, Execute, Spout, TaskContext};
use crate::config::{Config, MAX_WORKERS};
use crate::core::port::{Port, Ports};
use crate::core::{
    BoltHost, ComponentId, ComponentPlan, EdgeDef, EdgeId, EdgePlan, Plan, SpoutHost, WorkerId,
    combining, lineage, run_input,
};
use crate::emitter::{CloneOutputs, Outputs};
use crate::grouping::{CopyItem, Grouping, Rule};

/// Most tasks of a topology.
const MAX_TASKS: u64 = 1 << 24;

/// Edges of a component's output streams, their item types forgotten: stream number, definition.
type Outgoing = Vec<(u32, Box<dyn Any + Send + Sync>)>;

/// Makes the host of a component, given its outgoing edges.
type Finish = Box<dyn FnOnce(ComponentId, Arc<Outgoing>) -> MakeHost>;

pub(super) struct Declared {
    pub(super) name: String,
    tasks: u32,
    spout: bool,
    repeatable: bool,
    stateful: bool,
    dedicated: bool,
    outgoing: Outgoing,
    inputs: Vec<EdgeId>,
    finish: Option<Finish>,
}

/// A topology under construction: declare spouts, then the bolts that their streams feed.
pub struct TopologyBuilder {
    id: u64,
    pub(super) components: Vec<Declared>,
    edges: Vec<EdgePlan>,
    pub(super) errors: Vec<BuildError>,
    /// Edges that combine.
    pub(super) combined: Vec<EdgeId>,
    /// Edges of which the checking mode sees nothing but the number of tuples.
    unchecked: Vec<EdgeId>,
}

impl fmt::Debug for TopologyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopologyBuilder")
            .field("components", &self.components.len())
            .field("edges", &self.edges)
            .finish_non_exhaustive()
    }
}

impl TopologyBuilder {
    pub(crate) fn new() -> Self {
        // Tells streams of one topology from those of another; never leaves the process.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        TopologyBuilder {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            components: Vec::new(),
            edges: Vec::new(),
            errors: Vec::new(),
            combined: Vec::new(),
            unchecked: Vec::new(),
        }
    }

    /// Declares a spout of `tasks` tasks; `make` makes the instance of each, on its worker.
    pub fn spout<S, F>(&mut self, name: &str, tasks: u32, make: F) -> Stream<S::Out>
    where
        S: Spout,
        S::Out: CloneBatch,
        F: Fn(&TaskContext) -> Result<S, BoxError> + Send + Sync + 'static,
    {
        self.declare_spout(name, tasks, Arc::new(make), Some(S::Out::copy_to))
    }

    /// Declares a spout whose items cannot be cloned, and so not be replayed: it runs at most once
    /// only.
    pub fn spout_once<S, F>(&mut self, name: &str, tasks: u32, make: F) -> Stream<S::Out>
    where
        S: Spout,
        F: Fn(&TaskContext) -> Result<S, BoxError> + Send + Sync + 'static,
    {
        self.declare_spout(name, tasks, Arc::new(make), None)
    }

    fn declare_spout<S: Spout>(
        &mut self,
        name: &str,
        tasks: u32,
        make: crate::core::Make<S>,
        keep: Option<CopyItem<S::Out>>,
    ) -> Stream<S::Out> {
        let from = self.declare(name, tasks, true, keep.is_some());
        self.components[from as usize].finish = Some(Box::new(move |id, outgoing| {
            Box::new(move |plan, me| {
                let mut port = Port::<S::Out>::default();
                port.keep = keep;
                attach(&mut port, 0, &outgoing, plan, me);
                let contexts = contexts(id, plan, me);
                Box::new(SpoutHost::new(id, Arc::clone(&make), port, contexts, plan))
            })
        }));
        StreamMaker { topology: self.id, from, next: 0 }.stream()
    }

    /// Declares a bolt of `tasks` tasks; `make` makes the instance of each, on its worker. Say
    /// what feeds it by [`BoltBuilder::input`].
    pub fn bolt<Bl, F>(&mut self, name: &str, tasks: u32, make: F) -> BoltBuilder<'_, Bl>
    where
        Bl: Bolt,
        Bl::Out: CloneOutputs,
        F: Fn(&TaskContext) -> Result<Bl, BoxError> + Send + Sync + 'static,
    {
        self.declare_bolt(name, tasks, Arc::new(make), Some(<Bl::Out as CloneOutputs>::keep))
    }

    /// Declares a bolt whose output cannot be cloned. Where roots are tracked it must not emit in
    /// `flush`, `close` or `timer`, since that could not be repeated.
    pub fn bolt_once<Bl, F>(&mut self, name: &str, tasks: u32, make: F) -> BoltBuilder<'_, Bl>
    where
        Bl: Bolt,
        F: Fn(&TaskContext) -> Result<Bl, BoxError> + Send + Sync + 'static,
    {
        self.declare_bolt(name, tasks, Arc::new(make), None)
    }

    fn declare_bolt<Bl: Bolt>(
        &mut self,
        name: &str,
        tasks: u32,
        make: crate::core::Make<Bl>,
        keep: Option<KeepPorts<Bl>>,
    ) -> BoltBuilder<'_, Bl> {
        let id = self.declare(name, tasks, false, true);
        BoltBuilder { topology: self, id, make, keep, inputs: Vec::new() }
    }

    fn declare(&mut self, name: &str, tasks: u32, spout: bool, repeatable: bool) -> ComponentId {
        let id = ComponentId::try_from(self.components.len()).unwrap_or(ComponentId::MAX);
        self.components.push(Declared {
            name: name.to_owned(),
            tasks,
            spout,
            repeatable,
            stateful: false,
            dedicated: false,
            outgoing: Vec::new(),
            inputs: Vec::new(),
            finish: None,
        });
        id
    }

    /// Checks the whole and fixes it.
    ///
    /// # Errors
    /// Everything that is wrong with the topology or the settings, at once.
    pub fn build(mut self, config: Config) -> Result<Topology, BuildErrors> {
        let mut errors = std::mem::take(&mut self.errors);
        let mut components = Vec::new();
        let mut component_of = Vec::new();
        self.check_components(&config, &mut errors);
        config.check(&mut errors);
        if !errors.is_empty() {
            return Err(BuildErrors(errors));
        }
        for (id, declared) in self.components.iter().enumerate() {
            let id = ComponentId::try_from(id).unwrap_or(ComponentId::MAX);
            let first_task = u32::try_from(component_of.len()).unwrap_or(u32::MAX);
            component_of.extend(core::iter::repeat_n(id, declared.tasks as usize));
            let outputs = (0..).zip(&self.edges).filter(|(_, e)| e.from == id).map(|(i, _)| i);
            components.push(ComponentPlan {
                name: declared.name.clone(),
                spout: declared.spout,
                stateful: declared.stateful || self.is_keyed(declared),
                dedicated: declared.dedicated,
                tasks: declared.tasks,
                first_task,
                rank: 0,
                inputs: declared.inputs.clone(),
                outputs: outputs.collect(),
            });
        }
        let graph = Drawing::new(&components, &self.edges);
        for (component, rank) in components.iter_mut().zip(graph.ranks()) {
            component.rank = rank;
        }
        let tables = Plan::spread(&components, &config);
        let shared = config.workers;
        let own = components.iter().filter(|c| c.dedicated).map(|c| c.tasks).sum::<u32>();
        let config = Config { workers: shared + own, ..config };
        let nodes = vec![0; config.workers as usize];
        let plan =
            Plan { shared, components, edges: self.edges, component_of, tables, nodes, config };
        let mut makers = Vec::new();
        for (id, declared) in (0..).zip(self.components) {
            if let Some(finish) = declared.finish {
                makers.push(finish(id, Arc::new(declared.outgoing)));
            }
        }
        Ok(Topology { plan: Arc::new(plan), makers, graph })
    }

    fn is_keyed(&self, component: &Declared) -> bool {
        component.inputs.iter().any(|&edge| self.edges[edge as usize].grouping == "fields")
    }

    fn check_components(&self, config: &Config, errors: &mut Vec<BuildError>) {
        let mut tasks = 0;
        let mut threads = u64::from(config.workers);
        let mut seen: Vec<&str> = Vec::new();
        for (number, component) in (0..).zip(&self.components) {
            let name = &component.name;
            if name.is_empty() {
                errors.push(BuildError::EmptyName { component: number });
            } else if seen.contains(&name.as_str()) {
                errors.push(BuildError::DuplicateName { name: name.clone() });
            }
            seen.push(name);
            if component.tasks == 0 {
                errors.push(BuildError::NoTasks { component: name.clone() });
            }
            let before = tasks;
            tasks += u64::from(component.tasks);
            if tasks > MAX_TASKS && before <= MAX_TASKS {
                errors.push(BuildError::TooManyTasks {
                    component: name.clone(),
                    tasks,
                    limit: MAX_TASKS,
                });
            }
            let limit = u64::from(MAX_WORKERS);
            let before = threads;
            threads += if component.dedicated { component.tasks.into() } else { 0 };
            if threads > limit && before <= limit {
                let component = name.clone();
                errors.push(BuildError::TooManyThreads { component, threads, limit });
            }
            if !component.spout && component.inputs.is_empty() {
                errors.push(BuildError::NoInput { component: name.clone() });
            }
            if component.finish.is_none() {
                errors.push(BuildError::NotDone { component: name.clone() });
            }
            let stateful = component.stateful || self.is_keyed(component);
            let unseen = component.inputs.iter().any(|edge| self.unchecked.contains(edge));
            if config.exactly_once() && config.check_ppm > 0 && stateful && unseen {
                errors.push(BuildError::Unchecked { component: name.clone() });
            }
            let combined = component.inputs.iter().any(|edge| self.combined.contains(edge));
            if config.exactly_once() && combined {
                errors.push(BuildError::CombinedExactlyOnce { component: name.clone() });
            }
            if component.spout && config.tracked() && !component.repeatable {
                errors.push(BuildError::NotRepeatable { component: name.clone() });
            }
            if let Some(bits) = config.slot_bits
                && self.is_keyed(component)
                && bits < 64
                && u64::from(component.tasks) > 1 << bits
            {
                errors.push(BuildError::TooFewSlots {
                    component: name.clone(),
                    tasks: component.tasks,
                    slots: 1 << bits,
                });
            }
        }
        if !self.components.iter().any(|c| c.spout) {
            errors.push(BuildError::NoSpout);
        }
    }
}

type KeepPorts<Bl> = fn(&mut <<Bl as Bolt>::Out as Outputs>::Ports);

/// A bolt whose inputs are being declared.
#[must_use = "call `done`: a bolt whose declaration is not ended is an error"]
pub struct BoltBuilder<'t, Bl: Bolt> {
    pub(super) topology: &'t mut TopologyBuilder,
    pub(super) id: ComponentId,
    make: crate::core::Make<Bl>,
    keep: Option<KeepPorts<Bl>>,
    inputs: Vec<crate::core::RunInput<Bl>>,
}

impl<Bl: Bolt> fmt::Debug for BoltBuilder<'_, Bl> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoltBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<Bl: Bolt> BoltBuilder<'_, Bl> {
    /// Feeds the bolt from a stream. The first input has number 0, the next 1, and so on.
    ///
    /// A stream of items that the bolt has no [`Execute`] for does not fit:
    ///
    /// ```compile_fail,E0277
    /// # use streamwright::{Bolt, BoxError, Emitter, Execute, Grouping, Stream, TopologyBuilder};
    /// struct Sink;
    /// impl Bolt for Sink {
    ///     type Out = ();
    /// }
    /// impl Execute<Vec<u64>> for Sink {
    ///     fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
    ///         Ok(())
    ///     }
    /// }
    /// fn feed(builder: &mut TopologyBuilder, names: Stream<Vec<String>>) {
    ///     builder.bolt("sink", 1, |_| Ok(Sink)).input(names, Grouping::shuffle()).done();
    /// }
    /// ```
    pub fn input<B: Batch>(mut self, stream: Stream<B>, grouping: Grouping<B>) -> Self
    where
        Bl: Execute<B>,
    {
        let Some(id) = self.join(&stream, &grouping) else { return self };
        let Grouping(rule, print) = grouping;
        let checked = print.is_some() || matches!(rule, Rule::Fields(_));
        self.topology.unchecked.extend((!checked).then_some(id));
        let def = EdgeDef { id, to: self.id, rule, print, copy: stream.copy };
        self.enter(&stream, Box::new(def), run_input::<Bl, B>);
        self
    }

    /// Declares the edge of an input, if there can be one.
    pub(super) fn join<B: Batch, G: Batch>(
        &mut self,
        stream: &Stream<B>,
        grouping: &Grouping<G>,
    ) -> Option<EdgeId> {
        let me = &self.topology.components[self.id as usize];
        let (component, tasks) = (me.name.clone(), me.tasks);
        if stream.topology != self.topology.id {
            self.topology.errors.push(BuildError::ForeignStream { component });
            // Not fed by nothing: it is fed from elsewhere, and that is reported.
            self.topology.components[self.id as usize].inputs.push(0);
            self.topology.edges.push(EdgePlan {
                from: self.id,
                stream: 0,
                to: self.id,
                input: 0,
                grouping: "foreign",
            });
            return None;
        }
        if let Rule::Weighted(weights) = &grouping.0 {
            let errors = &mut self.topology.errors;
            if weights.len() != tasks as usize {
                let weights = weights.len();
                errors.push(BuildError::WeightsDoNotFit { component, tasks, weights });
            } else {
                let sum: u128 = weights.iter().map(|&w| u128::from(w)).sum();
                if sum == 0 || sum > 1 << 53 {
                    errors.push(BuildError::WeightsSum { component, sum });
                }
            }
        }
        let id = EdgeId::try_from(self.topology.edges.len()).unwrap_or(EdgeId::MAX);
        self.topology.edges.push(EdgePlan {
            from: stream.from,
            stream: stream.stream,
            to: self.id,
            input: u32::try_from(self.inputs.len()).unwrap_or(u32::MAX),
            grouping: grouping.name(),
        });
        self.topology.components[self.id as usize].inputs.push(id);
        Some(id)
    }

    pub(super) fn enter<B: Batch>(
        &mut self,
        stream: &Stream<B>,
        def: Box<dyn Any + Send + Sync>,
        run: crate::core::RunInput<Bl>,
    ) {
        self.topology.components[stream.from as usize].outgoing.push((stream.stream, def));
        self.inputs.push(run);
    }

    /// Says that the bolt keeps state which [`ExactlyOnce`](crate::Guarantee::ExactlyOnce) is to keep
    /// exact though no input of it is keyed (a keyed bolt is taken to keep state anyway). Other
    /// guarantees make no difference.
    ///
    /// Under exactly once such a bolt drops the tuples that it has applied before, and in turn:
    /// - it emits only in `close`;
    /// - an `Err` of `execute` promises that the state is as it was before the call;
    /// - a panic in `execute` may have torn the state, and is taken like one in `close`;
    /// - order is not kept: updates must commute, or be sorted in `close`.
    ///
    /// All other bolts must be functions of the tuple alone, emit only in `execute`, and their direct
    /// groupings too; every other choice of a task is made by the tuple's lineage.
    pub fn stateful(self) -> Self {
        self.topology.components[self.id as usize].stateful = true;
        self
    }

    /// Gives each task of the bolt a worker, and so a thread, of its own beside those of
    /// [`Config::workers`](crate::Config::workers): for calls that block, as on a disk or a socket. A
    /// task that is in a call for long then holds back none but those that wait for it: other
    /// components go on, acks and time-outs too. (An epoch still closes only when the call is over;
    /// so spouts wait once they are [`window`](crate::Config::window) epochs ahead of it. Where a
    /// call takes longer than half a time-out, the clock of time-outs stands until it returns.)
    ///
    /// A thread costs a stack and a queue; with those of the settings there may be
    /// [`MAX_WORKERS`](crate::MAX_WORKERS). Spouts cannot be dedicated: one that blocks would hold
    /// up all epochs. Let it read on a thread of its own, or push records by
    /// [`channel`](crate::channel).
    pub fn dedicated(self) -> Self {
        self.topology.components[self.id as usize].dedicated = true;
        self
    }

    /// Ends the declaration; returns the bolt's output streams.
    pub fn done(self) -> <Bl::Out as Outputs>::Streams {
        let BoltBuilder { topology, id, make, keep, inputs } = self;
        topology.components[id as usize].finish = Some(Box::new(move |id, outgoing| {
            Box::new(move |plan, me| {
                let mut ports = Bl::Out::ports();
                if let Some(keep) = keep {
                    keep(&mut ports);
                }
                ports.attach(&outgoing, plan, me);
                let contexts = contexts(id, plan, me);
                Box::new(BoltHost::new(
                    id,
                    Arc::clone(&make),
                    inputs.clone(),
                    ports,
                    contexts,
                    plan,
                ))
            })
        }));
        Bl::Out::streams(&mut StreamMaker { topology: topology.id, from: id, next: 0 })
    }
}

/// Gives a port the edges of its stream.
pub(crate) fn attach<B: Batch>(
    port: &mut Port<B>,
    stream: u32,
    outgoing: &[(u32, Box<dyn Any + Send + Sync>)],
    plan: &Plan,
    me: WorkerId,
) {
    port.batch = plan.config.batch;
    port.batch_bytes = plan.config.batch_bytes;
    for (of, def) in outgoing {
        if *of == stream {
            port.combiners.extend(combining::<B>(&**def, plan, me));
        }
        if *of == stream
            && let Some(def) = def.downcast_ref::<EdgeDef<B>>()
        {
            port.copy = port.copy.or(def.copy);
            port.origin = lineage::origin(plan.edges[def.id as usize].from, stream);
            port.edges.push(crate::core::Edge::new(def, def.copy.or(port.keep), plan, me));
        }
    }
}

/// The contexts of a component's tasks at one worker.
fn contexts(id: ComponentId, plan: &Plan, me: WorkerId) -> Vec<TaskContext> {
    let component = &plan.components[id as usize];
    plan.hosted(id, me, 0)
        .map(|task| TaskContext {
            component: component.name.clone(),
            task,
            index: task - component.first_task,
            tasks: component.tasks,
            // By name and number, so that it does not depend on the order of declaration.
            seed: crate::key::hash_key(&(
                plan.config.seed,
                component.name.as_str(),
                task - component.first_task,
            )),
            incarnation: 0,
            waker: std::task::Waker::noop().clone(),
        })
        .collect()
}
