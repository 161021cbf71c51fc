//! What a window computes.

/// A fold of records that can be cut into parts: create, add, merge, get, and no inverse.
///
/// Two laws, which `merge` must keep for every order of cutting to give the same result: it is
/// associative, and `create()` changes nothing on either side. It need not be commutative: parts
/// are merged in the order of time, older first.
///
/// ```
/// use keywindow::Aggregate;
///
/// /// The longest word, the first of several.
/// struct Longest;
///
/// impl Aggregate for Longest {
///     type In = str;
///     type Acc = String;
///     type Out = String;
///
///     fn create(&self) -> String {
///         String::new()
///     }
///     fn add(&self, acc: &mut String, word: &str) {
///         if word.len() > acc.len() {
///             *acc = word.to_owned();
///         }
///     }
///     fn merge(&self, older: &String, newer: &String) -> String {
///         if newer.len() > older.len() { newer.clone() } else { older.clone() }
///     }
///     fn get(&self, acc: &String) -> String {
///         acc.clone()
///     }
///     fn same(&self, a: &String, b: &String) -> bool {
///         a == b
///     }
/// }
/// ```
pub trait Aggregate {
    /// A record.
    type In: ?Sized;
    /// A partial result.
    type Acc: Clone;
    /// A result.
    type Out;

    /// Whether the order of records within one slice, which enter and leave the window together, makes no
    /// difference that matters. Event time then keeps one partial result a slice, into which records are
    /// added as they arrive; otherwise one for each different time, so that their order is that of time.
    const COMMUTATIVE: bool = false;

    /// The partial result of no record.
    fn create(&self) -> Self::Acc;

    /// Adds one record, newer than all that `acc` has.
    fn add(&self, acc: &mut Self::Acc, record: &Self::In);

    /// The partial result of the records of both, those of `older` first.
    fn merge(&self, older: &Self::Acc, newer: &Self::Acc) -> Self::Acc;

    /// The result. It is asked for non-empty windows only.
    fn get(&self, acc: &Self::Acc) -> Self::Out;

    /// Whether two results are the same to a reader. Floats need more than `==`, by which a NaN is
    /// always news.
    fn same(&self, a: &Self::Out, b: &Self::Out) -> bool;
}

/// An aggregate that can take its oldest part back, exactly. Not for floats, whose rounding
/// errors would stay behind.
pub trait Invertible: Aggregate {
    /// Makes `whole`, which is `merge(oldest, rest)`, into `rest`.
    fn unmerge(&self, whole: &mut Self::Acc, oldest: &Self::Acc);
}

/// An aggregate whose `merge` is always one of its two arguments, as a minimum or a last value.
pub trait Selective: Aggregate {
    /// Whether `merge(older, newer)` is `newer`, so that `older` will never be a result again.
    fn supersedes(&self, newer: &Self::Acc, older: &Self::Acc) -> bool;
}
