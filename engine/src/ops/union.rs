//! Several streams as one.

use super::{Forward, filter};
use crate::{Grouping, Stream, TopologyBuilder};

/// Joins streams of one type into one, by a bolt of `tasks` tasks that hands on what comes. In no
/// order between the streams; that of each sending task is kept where `tasks` is 1.
///
/// A bolt may take in several streams by itself, so this is for where one stream is asked for. No
/// stream at all is an error of `build`: a bolt that nothing feeds. A function of the tuple: fits
/// every guarantee.
///
/// ```
/// use streamwright::{Stream, TopologyBuilder, ops};
/// fn both(builder: &mut TopologyBuilder, a: Stream<Vec<u64>>, b: Stream<Vec<u64>>) -> Stream<Vec<u64>> {
///     ops::union(builder, "a and b", 2, [a, b])
/// }
/// ```
pub fn union<B>(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    streams: impl IntoIterator<Item = Stream<B>>,
) -> Stream<B>
where
    B: Forward,
    for<'a> B::Item<'a>: Copy,
{
    let mut bolt = builder.bolt(name, tasks, |_| Ok(filter::<B, _>(|_: B::Item<'_>| true)));
    for stream in streams {
        bolt = bolt.input(stream, Grouping::local_or_shuffle());
    }
    bolt.done()
}
