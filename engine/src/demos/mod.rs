//! Ready-made topologies, over the public API alone.

pub mod wordcount;
