//! The engine's promises, proved over generated topologies on every driver.
//!
//! A [`case`] is a topology with what its components do, its settings, and what befalls it;
//! [`graph`] draws one, so that a failure shrinks; [`truth`] says what its final state must be;
//! [`parts`] are the spouts and bolts that do it; they write down what they saw in the [`book`];
//! the [`checks`] compare, each named after a promise of the protocol's section 10. Only the public
//! interface is used: a user could write this suite.
//!
//! `STREAMWRIGHT_CASES=100` runs a hundred times as many cases, `STREAMWRIGHT_SEED=7` that one
//! alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, missing_debug_implementations, reason = "modules of one test crate")]

#[path = "conformance/book.rs"]
mod book;
#[path = "conformance/build.rs"]
mod build;
#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/checks.rs"]
mod checks;
#[path = "conformance/graph.rs"]
mod graph;
#[path = "conformance/hand.rs"]
mod hand;
#[path = "conformance/parts.rs"]
mod parts;
#[path = "conformance/runner.rs"]
mod runner;
#[path = "conformance/truth.rs"]
mod truth;
#[path = "conformance/world.rs"]
mod world;

#[path = "conformance/fault_table.rs"]
mod fault_table;
#[path = "conformance/on_ackers.rs"]
mod on_ackers;
#[path = "conformance/on_crashes.rs"]
mod on_crashes;
#[path = "conformance/on_sim.rs"]
mod on_sim;
#[path = "conformance/on_threads.rs"]
mod on_threads;
#[path = "conformance/regressions.rs"]
mod regressions;
