//! The locks of the mailboxes, in one place, so that a model checker can stand in for them.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
