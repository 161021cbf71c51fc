//! Inputs that are combined at their senders.

use super::build::BoltBuilder;
use super::{BuildError, Stream};
use crate::batch::{Batch, CloneBatch};
use crate::combine::{Combine, Combiner};
use crate::component::{Bolt, Execute};
use crate::core::{CombineDef, EdgeDef, run_input};
use crate::grouping::Grouping;

impl<Bl: Bolt> BoltBuilder<'_, Bl> {
    /// Feeds the bolt from a stream of which the sending worker makes partial results first: one for
    /// each key, in the place of all its tuples. They leave when there are many, as the sender's
    /// `flush` of their epoch is due, after the linger, or when the worker is idle. `grouping` is that
    /// of the partial results.
    ///
    /// At most or at least once; not exactly once. At least once a batch of partial results stands
    /// for all the roots that it was made of: they are done once it is, and fail once it fails. A root
    /// that has failed travels alone from then on, so that one which always fails takes others along
    /// once only: with [`attempts`](crate::Config::attempts) of 1 that is for good.
    ///
    /// ```
    /// # use streamwright::{Bolt, BoxError, Combiner, Emitter, Execute, Grouping, Stream};
    /// # use streamwright::{Tagged, Text, TopologyBuilder};
    /// # struct Count;
    /// # impl Bolt for Count {
    /// #     type Out = ();
    /// # }
    /// impl Execute<Tagged<u64>> for Count {
    ///     fn execute(&mut self, (_word, _n): (&[u8], u64), _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
    ///         Ok(())
    ///     }
    /// }
    /// fn count(builder: &mut TopologyBuilder, words: Stream<Text>) {
    ///     builder
    ///         .bolt("count", 4, |_| Ok(Count))
    ///         .input_combined(
    ///             words,
    ///             Combiner::text(1_u64, |n| *n += 1),
    ///             Grouping::fields_with(|(word, _), key| key.bytes(word)),
    ///         )
    ///         .done();
    /// }
    /// ```
    pub fn input_combined<B: Batch, C: Combine<B>>(
        mut self,
        stream: Stream<B>,
        combiner: Combiner<C>,
        grouping: Grouping<C::Out>,
    ) -> Self
    where
        Bl: Execute<C::Out>,
    {
        if combiner.keys == 0 {
            let component = self.topology.components[self.id as usize].name.clone();
            self.topology.errors.push(BuildError::NoKeys { component });
        }
        let Some(id) = self.join(&stream, &grouping) else { return self };
        self.topology.combined.push(id);
        let Grouping(rule, print) = grouping;
        let def = EdgeDef { id, to: self.id, rule, print, copy: Some(C::Out::copy_to) };
        let def = CombineDef::<B>::new(combiner.combine, combiner.keys, def);
        self.enter(&stream, Box::new(def), run_input::<Bl, C::Out>);
        self
    }
}
