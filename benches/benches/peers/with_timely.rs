//! Timely Dataflow, plain exchange: source, expand, exchange by hash, count.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use streamwright::hash_key;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::ProbeHandle;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::source;
use timely::dataflow::operators::{Operator, Probe};
use timely::dataflow::{Scope, Stream};

use crate::work::{Counts, Item, TURN, Work};

/// Turns that a source may be ahead of what is counted: a bound on memory, as an engine needs one.
const AHEAD: u64 = 64;

pub(crate) fn configured(workers: u32) -> timely::Config {
    if workers == 1 { timely::Config::thread() } else { timely::Config::process(workers as usize) }
}

type Vecs<T> = CapacityContainerBuilder<Vec<T>>;

/// A source of what `next` gives, at most `AHEAD` turns ahead of `probe`.
fn bounded<'a, T: Clone + 'static>(
    scope: Scope<'a, u64>,
    probe: ProbeHandle<u64>,
    mut next: impl FnMut() -> Option<T> + 'static,
) -> Stream<'a, u64, Vec<T>> {
    source::<_, Vecs<T>, _, _>(scope, "source", move |cap, info| {
        let activator = scope_activator(scope, &info.address);
        let mut cap = Some(cap);
        move |output| {
            let Some(mut now) = cap.take() else { return };
            let time = *now.time();
            if !probe.less_than(&time.saturating_sub(AHEAD)) {
                let mut session = output.session(&now);
                for _ in 0..TURN {
                    match next() {
                        Some(item) => session.give(item),
                        None => return,
                    }
                }
                drop(session);
                now.downgrade(&(time + 1));
            }
            cap = Some(now);
            activator.activate();
        }
    })
}

fn scope_activator(scope: Scope<'_, u64>, at: &Rc<[usize]>) -> timely::scheduling::Activator {
    scope.activator_for(Rc::clone(at))
}

/// Counts a stream by exchange, and lets `probe` follow it.
fn count<'a, T>(
    items: Stream<'a, u64, Vec<T>>,
    into: Rc<RefCell<Counts<T>>>,
    probe: &ProbeHandle<u64>,
) where
    T: Item + timely::ExchangeData,
{
    items
        .unary::<Vecs<()>, _, _, _>(Exchange::new(hash_key::<T>), "count", move |_, _| {
            move |input, _output| {
                let mut counts = into.borrow_mut();
                input.for_each(|_, data| {
                    for item in data.drain(..) {
                        if let Some(count) = counts.get_mut(&item) {
                            *count += 1;
                        } else {
                            counts.insert(item, 1);
                        }
                    }
                });
            }
        })
        .probe_with(probe);
}

fn summed<T: Item>(parts: impl IntoIterator<Item = Counts<T>>) -> Counts<T> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for (item, n) in parts.flatten() {
        *sum.entry(item).or_insert(0) += n;
    }
    sum
}

fn run<T: Item>(
    workers: u32,
    build: impl Fn(&mut timely::worker::Worker, Rc<RefCell<Counts<T>>>) + Send + Sync + 'static,
) -> Counts<T> {
    let guards = timely::execute(configured(workers), move |worker| {
        let counts = Rc::new(RefCell::new(Counts::new()));
        build(worker, Rc::clone(&counts));
        while worker.step_or_park(None) {}
        Rc::into_inner(counts).map(RefCell::into_inner).unwrap_or_default()
    })
    .unwrap();
    summed(guards.join().into_iter().map(Result::unwrap))
}

/// Counts what the records lead to.
pub(crate) fn counted<W: Work>(work: &Arc<W>, workers: u32) -> Counts<W::Item>
where
    W::Item: timely::ExchangeData,
{
    let work = Arc::clone(work);
    run(workers, move |worker, counts| {
        let (mut next, step) = (worker.index() as u32, worker.peers() as u32);
        let (end, work) = (work.records(), Arc::clone(&work));
        worker.dataflow::<u64, _, _>(|scope| {
            let probe = ProbeHandle::new();
            let records = bounded(scope, probe.clone(), move || {
                let record = next;
                next += step;
                (record < end).then_some(record)
            });
            let items = records.unary::<Vecs<W::Item>, _, _, _>(Pipeline, "expand", |_, _| {
                move |input, output| {
                    input.for_each(|cap, data| {
                        let mut session = output.session(&cap);
                        for record in data.drain(..) {
                            work.expand(record, |item| session.give(item));
                        }
                    });
                }
            });
            count(items, counts, &probe);
        });
    })
}

/// Counts keys as they are.
pub(crate) fn keys(keys: &Arc<Vec<u64>>, workers: u32) -> Counts<u64> {
    let keys = Arc::clone(keys);
    run(workers, move |worker, counts| {
        let (mut next, step) = (worker.index(), worker.peers());
        let keys = Arc::clone(&keys);
        worker.dataflow::<u64, _, _>(|scope| {
            let probe = ProbeHandle::new();
            let items = bounded(scope, probe.clone(), move || {
                let key = keys.get(next).copied();
                next += step;
                key
            });
            count(items, counts, &probe);
        });
    })
}
