//! Queues in steady state: Erlang's formulas, M/M/1 and M/M/c.

use crate::error::{Error, Stage, non_negative, positive};

/// Erlang's B by its recursion, B₀ = 1, B_k = a·B_{k−1} / (k + a·B_{k−1}): the probability that
/// an arrival at k servers without a queue is lost. Every step is between 0 and 1, so nothing
/// overflows.
pub(crate) fn next_b(b: f64, servers: u32, offered: f64) -> f64 {
    let loss = offered * b;
    loss / (f64::from(servers) + loss)
}

/// Erlang's C out of Erlang's B. Needs `offered < servers`.
pub(crate) fn c_of_b(b: f64, servers: u32, offered: f64) -> f64 {
    let utilisation = offered / f64::from(servers);
    b / (1.0 - utilisation * (1.0 - b))
}

/// Erlang's C: the probability that an arrival has to wait at an M/M/c queue of `servers`
/// servers, of which `offered` = λ/μ are busy on average.
///
/// O(servers) time, no memory; nothing overflows for any number of servers.
///
/// # Errors
/// No servers, `offered` no number from 0, or as many as there are servers: `Unstable`.
///
/// ```
/// assert!((rtmr::model::erlang_c(2, 1.0)? - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), rtmr::Error>(())
/// ```
pub fn erlang_c(servers: u32, offered: f64) -> Result<f64, Error> {
    non_negative("the offered load", offered)?;
    if servers == 0 {
        return Err(Error::Count { what: "servers", count: 0, rule: "at least 1 is needed" });
    }
    if offered >= f64::from(servers) {
        let service = f64::from(servers);
        return Err(Error::Unstable { stage: Stage::Map, arrivals: offered, service });
    }
    let b = (1..=servers).fold(1.0, |b, k| next_b(b, k, offered));
    Ok(c_of_b(b, servers, offered))
}

/// Mean time in an M/M/c queue, waiting and service: C/(cμ − λ) + 1/μ. For one server 1/(μ − λ).
///
/// # Errors
/// As [`erlang_c`]; `mu` must be above 0.
///
/// ```
/// assert!((rtmr::model::mmc_latency(3, 2.0, 1.0)? - 13.0 / 9.0).abs() < 1e-15);
/// # Ok::<(), rtmr::Error>(())
/// ```
pub fn mmc_latency(servers: u32, lambda: f64, mu: f64) -> Result<f64, Error> {
    non_negative("lambda", lambda)?;
    positive("mu", mu)?;
    let service = f64::from(servers) * mu;
    // Not by the quotient alone: it may round to below c, or overflow.
    if servers > 0 && lambda >= service {
        return Err(Error::Unstable { stage: Stage::Map, arrivals: lambda, service });
    }
    let c = erlang_c(servers, lambda / mu)?;
    Ok(c / (service - lambda) + 1.0 / mu)
}
