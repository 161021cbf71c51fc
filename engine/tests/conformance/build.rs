//! Builds the topology of a case.

use streamwright::{Combine, Combiner, Config, Stream, Topology, hash_key};

use crate::book::Book;
use crate::case::{Case, How, Items};
use crate::parts::{Part, Source};

/// The name of a component.
pub fn name(case: &Case, node: usize) -> String {
    if node < case.spouts.len() { format!("spout{node}") } else { format!("bolt{node}") }
}

pub fn build(case: &Case, book: &Book, config: Config) -> Topology {
    let mut builder = Topology::builder();
    let mut streams: Vec<Stream<Items>> = Vec::new();
    for (node, spout) in case.spouts.iter().enumerate() {
        let (book, spout) = (book.clone(), spout.clone());
        streams.push(builder.spout(&name(case, node), spout.tasks, move |cx| {
            Ok(Source::new(&book, node, &spout, cx))
        }));
    }
    for (node, bolt) in case.bolts() {
        let (book, made) = (book.clone(), bolt.clone());
        let mut declared = builder
            .bolt(&name(case, node), bolt.tasks, move |cx| Ok(Part::new(&book, node, &made, cx)));
        for (from, how) in &bolt.inputs {
            let stream = streams[*from].clone();
            declared = match how {
                How::Combined(keys) => {
                    let combiner = Combiner::new(ById).keys(*keys);
                    declared.input_combined(stream, combiner, how.grouping())
                }
                _ => declared.input(stream, how.grouping()),
            };
        }
        // A keyed bolt is taken to keep state without a word.
        let keyed =
            bolt.inputs.iter().any(|(_, how)| matches!(how, How::Fields | How::Combined(_)));
        if bolt.kind.stateful() && !keyed {
            declared = declared.stateful();
        }
        streams.push(declared.done());
    }
    builder.build(config).unwrap().on_nodes(&case.settings.nodes)
}

/// Adds up the weights of what is one item.
struct ById;

impl Combine<Items> for ById {
    type Out = Items;

    fn hash(&self, items: &Items, i: usize) -> u64 {
        hash_key(&items[i].id())
    }

    fn same(&self, items: &Items, i: usize, partials: &Items, at: usize) -> bool {
        items[i].id() == partials[at].id()
    }

    fn start(&self, items: &Items, i: usize, partials: &mut Items) {
        partials.push(items[i]);
    }

    fn merge(&self, items: &Items, i: usize, partials: &mut Items, at: usize) {
        partials[at].weight += items[i].weight;
    }
}
