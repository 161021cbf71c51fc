//! Timely Dataflow with tuple tracking on top: every item has an id, and every operator tells an
//! acker what it consumed and produced, item by item. Acyclic: the verdict comes to an operator on
//! the spout's worker, which shares a table with the spout.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use benches::networks::Random;
use hashbrown::HashMap;
use streamwright::hash_key;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::Concatenate;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;

use crate::with_timely::configured;
use crate::work::{Counts, Work};

/// Roots that a worker may have under way: the engine's default.
const PENDING: usize = 4096;

type Vecs<T> = CapacityContainerBuilder<Vec<T>>;

/// Counts what the records lead to, each acked as a whole.
pub(crate) fn counted<W: Work>(work: &Arc<W>, workers: u32) -> Counts<W::Item>
where
    W::Item: timely::ExchangeData,
{
    let work = Arc::clone(work);
    let guards = timely::execute(configured(workers), move |worker| {
        let counts = Rc::new(RefCell::new(Counts::new()));
        dataflow(worker, &work, Rc::clone(&counts));
        while worker.step_or_park(None) {}
        Rc::into_inner(counts).map(RefCell::into_inner).unwrap_or_default()
    })
    .unwrap();
    let mut sum = Counts::new();
    for (item, n) in guards.join().into_iter().flat_map(Result::unwrap) {
        *sum.entry(item).or_insert(0) += n;
    }
    sum
}

#[allow(clippy::too_many_lines)]
fn dataflow<W: Work>(
    worker: &mut timely::worker::Worker,
    work: &Arc<W>,
    into: Rc<RefCell<Counts<W::Item>>>,
) where
    W::Item: timely::ExchangeData,
{
    let (me, peers) = (worker.index() as u64, worker.peers() as u64);
    let work = Arc::clone(work);
    // Root to record: what a replay would need.
    let pending = Rc::new(RefCell::new(HashMap::<u64, u32>::new()));
    worker.dataflow::<u64, _, _>(|scope| {
        // The spout: records to the expander, inits to the acker.
        let mut builder = OperatorBuilder::new("spout".to_owned(), scope);
        let (records_out, records) = builder.new_output::<Vec<(u64, u64, u32)>>();
        let (inits_out, inits) = builder.new_output::<Vec<(u64, u64)>>();
        let activator = scope.activator_for(builder.operator_info().address);
        let (unfinished, end) = (Rc::clone(&pending), work.records());
        let mut records_out = OutputBuilder::<_, Vecs<_>>::from(records_out);
        let mut inits_out = OutputBuilder::<_, Vecs<_>>::from(inits_out);
        builder.build(move |mut caps| {
            let inits_cap = caps.pop().unwrap();
            let records_cap = caps.pop().unwrap();
            let mut caps = Some((records_cap, inits_cap));
            // Ids are drawn from a counter, the worker in its high bits.
            let (mut next, mut ids) = (me as u32, Random(me << 56));
            move |_| {
                let Some((records_cap, inits_cap)) = &caps else { return };
                let mut unfinished = unfinished.borrow_mut();
                if next >= end && unfinished.is_empty() {
                    caps = None;
                    return;
                }
                let (mut records, mut inits) = (records_out.activate(), inits_out.activate());
                let mut records = records.session(records_cap);
                let mut inits = inits.session(inits_cap);
                for _ in 0..1024 {
                    if next >= end || unfinished.len() >= PENDING {
                        break;
                    }
                    // The root's low part tells whose it is.
                    let root = ids.next() / peers * peers + me;
                    let id = ids.next();
                    unfinished.insert(root, next);
                    records.give((root, id, next));
                    inits.give((root, id));
                    next += peers as u32;
                }
                activator.activate();
            }
        });
        // Expand: an id for each item; consumed and produced in one ack.
        let mut builder = OperatorBuilder::new("expand".to_owned(), scope);
        let mut input = builder.new_input(records, Pipeline);
        let (items_out, items) = builder.new_output::<Vec<(u64, u64, W::Item)>>();
        let (acks_out, expanded) = builder.new_output::<Vec<(u64, u64)>>();
        let mut items_out = OutputBuilder::<_, Vecs<_>>::from(items_out);
        let mut acks_out = OutputBuilder::<_, Vecs<_>>::from(acks_out);
        builder.build(move |_| {
            let mut ids = Random((me << 56) | (1 << 48));
            move |_| {
                let (mut items, mut acks) = (items_out.activate(), acks_out.activate());
                input.for_each(|cap, data| {
                    let mut items = items.session(&cap);
                    let mut acks = acks.session(&cap);
                    for (root, id, record) in data.drain(..) {
                        let mut sum = id;
                        work.expand(record, |item| {
                            let id = ids.next();
                            sum ^= id;
                            items.give((root, id, item));
                        });
                        acks.give((root, sum));
                    }
                });
            }
        });
        // Count: an ack for each item.
        let mut builder = OperatorBuilder::new("count".to_owned(), scope);
        let by_item = Exchange::new(|(_, _, item): &(u64, u64, W::Item)| hash_key(item));
        let mut input = builder.new_input(items, by_item);
        let (acks_out, done) = builder.new_output::<Vec<(u64, u64)>>();
        let mut acks_out = OutputBuilder::<_, Vecs<_>>::from(acks_out);
        builder.build(move |_| {
            move |_| {
                let mut counts = into.borrow_mut();
                let mut acks = acks_out.activate();
                input.for_each(|cap, data| {
                    let mut acks = acks.session(&cap);
                    for (root, id, item) in data.drain(..) {
                        if let Some(count) = counts.get_mut(&item) {
                            *count += 1;
                        } else {
                            counts.insert(item, 1);
                        }
                        acks.give((root, id));
                    }
                });
            }
        });
        // The acker: zero is done.
        let told = scope.concatenate([inits, expanded, done]);
        let mut builder = OperatorBuilder::new("acker".to_owned(), scope);
        let by_root = Exchange::new(|&(root, _): &(u64, u64)| root.rotate_right(32));
        let mut input = builder.new_input(told, by_root);
        let (verdicts_out, verdicts) = builder.new_output::<Vec<u64>>();
        let mut verdicts_out = OutputBuilder::<_, Vecs<_>>::from(verdicts_out);
        builder.build(move |_| {
            let mut sums = HashMap::<u64, u64>::new();
            move |_| {
                let mut verdicts = verdicts_out.activate();
                input.for_each(|cap, data| {
                    let mut verdicts = verdicts.session(&cap);
                    for (root, delta) in data.drain(..) {
                        let sum = sums.entry(root).or_insert(0);
                        *sum ^= delta;
                        if *sum == 0 {
                            sums.remove(&root);
                            verdicts.give(root);
                        }
                    }
                });
            }
        });
        // The inbox of the spout's worker.
        let mut builder = OperatorBuilder::new("inbox".to_owned(), scope);
        let to_spout = Exchange::new(move |&root: &u64| root % peers);
        let mut input = builder.new_input(verdicts, to_spout);
        builder.build(move |_| {
            move |_| {
                input.for_each(|_, data| {
                    let mut pending = pending.borrow_mut();
                    for root in data.drain(..) {
                        pending.remove(&root);
                    }
                });
            }
        });
    });
}
