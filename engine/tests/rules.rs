//! The protocol's rules, each by a test of its name, on a simulated network in virtual time.
//!
//! `STREAMWRIGHT_SEEDS=10` runs ten times as many seeds, `STREAMWRIGHT_SEED=7` that one alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, missing_debug_implementations, reason = "modules of one test crate")]

#[path = "rules/dice.rs"]
mod dice;
#[path = "rules/net.rs"]
mod net;
#[path = "rules/parts.rs"]
mod parts;

#[path = "rules/ackers.rs"]
mod ackers;
#[path = "rules/combiners.rs"]
mod combiners;
#[path = "rules/conform.rs"]
mod conform;
#[path = "rules/deals.rs"]
mod deals;
#[path = "rules/faults.rs"]
mod faults;
#[path = "rules/oversize.rs"]
mod oversize;
#[path = "rules/rule_1.rs"]
mod rule_1;
#[path = "rules/rule_2.rs"]
mod rule_2;
#[path = "rules/rule_3.rs"]
mod rule_3;
#[path = "rules/rule_4.rs"]
mod rule_4;
#[path = "rules/rule_6.rs"]
mod rule_6;
#[path = "rules/rule_7.rs"]
mod rule_7;
#[path = "rules/rule_8.rs"]
mod rule_8;
#[path = "rules/rule_9.rs"]
mod rule_9;
#[path = "rules/tickets.rs"]
mod tickets;
#[path = "rules/tickets_fail.rs"]
mod tickets_fail;
#[path = "rules/traces.rs"]
mod traces;
#[path = "rules/units.rs"]
mod units;
#[path = "rules/wire.rs"]
mod wire;
