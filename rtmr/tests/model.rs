//! The queueing model: the note's vectors, the closed forms, and what is proven of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Random, cases};
use proptest::prelude::*;
use rtmr::model::{Model, Rates, Reading, ReduceQueue, Topology, erlang_c, mmc_latency};
use rtmr::{Error, Stage};

/// Records a millisecond, times in milliseconds.
fn rates(lambda: f64) -> Rates {
    Rates { lambda_m: lambda, lambda_r: lambda, mu_m: 60.0, mu_r: 40.0, mu_n: 250.0, eps: 0.0005 }
}

fn shared(n: u32, lambda: f64) -> Model {
    Model::new(n, rates(lambda)).unwrap().with_reduce(ReduceQueue::Shared)
}

fn micros(model: &Model, topology: Topology) -> f64 {
    model.latency(topology).unwrap().total() * 1e3
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 0.005_001, "{got}, not {want}");
}

#[test]
fn erlang_c_meets_the_closed_form() {
    assert!((erlang_c(2, 1.0).unwrap() - 1.0 / 3.0).abs() < 1e-15);
    assert!((mmc_latency(3, 2.0, 1.0).unwrap() - 13.0 / 9.0).abs() < 1e-15);
    for c in 1..=20_u32 {
        for tenth in 1..10 {
            let a = f64::from(c) * f64::from(tenth) / 10.0;
            let (mut term, mut sum) = (1.0, 1.0);
            for k in 1..c {
                term *= a / f64::from(k);
                sum += term;
            }
            let last = term * a / f64::from(c) / (1.0 - a / f64::from(c));
            let closed = last / (sum + last);
            let got = erlang_c(c, a).unwrap();
            assert!((got / closed - 1.0).abs() < 1e-12, "C({c}, {a}) = {got}, not {closed}");
        }
    }
}

#[test]
fn erlang_c_of_a_hundred_thousand_servers_neither_overflows_nor_vanishes() {
    let c = 100_000_u32;
    for offered in [0.0, 1.0, 50_000.0, 99_000.0, 99_999.0, 99_999.999] {
        let got = erlang_c(c, offered).unwrap();
        assert!((0.0..=1.0).contains(&got), "C = {got} at {offered}");
    }
    // Halfin and Whitt: with c = a + β√a, C → 1/(1 + βΦ(β)/ϕ(β)); for β = 1 that is 0.2234.
    let beta_one = erlang_c(c, 99_684.27).unwrap();
    assert!((beta_one - 0.2234).abs() < 0.002, "{beta_one}");
}

#[test]
fn one_server_is_mm1() {
    assert!((mmc_latency(1, 3.0, 5.0).unwrap() - 0.5).abs() < 1e-15);
}

/// λ = cμ to the last place, where λ/μ may round to below c: no number, and none below 0.
#[test]
fn a_queue_at_its_limit_is_unstable_whatever_rounds() {
    let r = &mut Random::new(4);
    let mut below = 0;
    for _ in 0..100_000 {
        let servers = 1 + u32::try_from(r.below(60)).unwrap();
        let mu = r.unit();
        let lambda = f64::from(servers) * mu;
        below += u32::from(lambda / mu < f64::from(servers));
        let got = mmc_latency(servers, lambda, mu);
        assert!(matches!(got, Err(Error::Unstable { .. })), "{servers} {mu}: {got:?}");
    }
    assert!(below > 0);
    assert!(matches!(mmc_latency(2, 1.0, 5e-324), Err(Error::Unstable { .. })));
}

/// H_n times the mean of one: met by independent queues, whose times are exponential.
#[test]
fn the_bound_of_fork_and_join_is_the_mean_of_the_last_of_independent_queues() {
    let model = Model::new(1, rates(20.0)).unwrap();
    assert!((model.fork_join_bound().unwrap() - 1.0 / 20.0).abs() < 1e-15);
    let model = Model::new(4, rates(80.0)).unwrap();
    let bound = model.fork_join_bound().unwrap();
    let r = &mut Random::new(9);
    let runs = 200_000;
    let last = |r: &mut Random| (0..4).map(|_| r.exponential(20.0)).fold(0.0, f64::max);
    let mean = (0..runs).map(|_| last(r)).sum::<f64>() / f64::from(runs);
    assert!((mean / bound - 1.0).abs() < 0.01, "{mean} and {bound}");
    let over = Model::new(4, rates(160.0)).unwrap();
    assert!(matches!(over.fork_join_bound(), Err(Error::Unstable { stage: Stage::Reduce, .. })));
}

#[test]
fn the_papers_reading_falls_with_every_map_node() {
    let model = shared(4, 5.0).with_reading(Reading::Paper);
    for (x, want) in (1..).zip([61.51, 53.07, 50.75, 49.60]) {
        near(micros(&model, Topology::Maps(x)), want);
    }
}

#[test]
fn by_record_the_latency_may_rise_with_map_nodes() {
    let model = shared(4, 5.0);
    for (x, want) in (1..).zip([61.51, 64.45, 68.91, 73.41]) {
        near(micros(&model, Topology::Maps(x)), want);
    }
    near(micros(&model, Topology::Broadcast), 43.99);
    assert_eq!(model.best().unwrap().0, Topology::Broadcast);
}

#[test]
fn by_record_the_least_latency_is_in_between() {
    let model = shared(4, 55.0);
    for (x, want) in (1..).zip([248.06, 72.33, 72.76, 76.77]) {
        near(micros(&model, Topology::Maps(x)), want);
    }
    near(micros(&model, Topology::Broadcast), 238.10);
    assert_eq!(model.best().unwrap().0, Topology::Maps(2));

    let model = shared(4, 70.0);
    for (x, want) in (2..).zip([78.32, 75.09, 78.59]) {
        near(micros(&model, Topology::Maps(x)), want);
    }
    for topology in [Topology::Maps(1), Topology::Broadcast] {
        assert!(matches!(model.latency(topology), Err(Error::Unstable { stage: Stage::Map, .. })));
    }
    assert_eq!(model.best().unwrap().0, Topology::Maps(3));
}

#[test]
fn more_load_wants_more_map_nodes() {
    for (lambda, x) in [(5.0, 1), (20.0, 2), (40.0, 2), (55.0, 3), (100.0, 4), (200.0, 6)] {
        let model = shared(16, lambda);
        let best = (1..=16)
            .filter_map(|x| Some((x, model.latency(Topology::Maps(x)).ok()?.total())))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        assert_eq!(best.unwrap().0, x, "λ = {lambda}");
    }
}

/// Experiment 1: one crossing of broadcast and all maps as load rises, and RTMR(4) before
/// RTMR(2) before RTMR(1) in the paper's reading.
#[test]
fn figure_9_has_one_crossing_and_the_papers_order() {
    let mut crossings = 0;
    let mut broadcast_first = true;
    for step in 1..600 {
        let model = Model::new(4, rates(f64::from(step) / 10.0)).unwrap();
        let maps = model.latency(Topology::Maps(4)).unwrap().total();
        let broadcast = model.latency(Topology::Broadcast).map_or(f64::INFINITY, |l| l.total());
        if (broadcast < maps) != broadcast_first {
            crossings += 1;
            broadcast_first = !broadcast_first;
        }
        let paper = model.with_reading(Reading::Paper).with_reduce(ReduceQueue::Shared);
        let of = |x| paper.latency(Topology::Maps(x)).unwrap().total();
        assert!(of(4) < of(2) && of(2) < of(1));
    }
    assert_eq!((crossings, broadcast_first), (1, false));
}

#[test]
fn a_hot_partition_is_what_the_latency_is_of() {
    let model = Model::new(4, rates(60.0)).unwrap();
    let even = model.latency(Topology::Maps(4)).unwrap().reduce;
    let hot = model.clone().with_hottest_share(0.5).unwrap();
    assert!(hot.latency(Topology::Maps(4)).unwrap().reduce > 2.0 * even);
    let melting = model.clone().with_hottest_share(0.7).unwrap();
    assert!(matches!(
        melting.latency(Topology::Maps(4)),
        Err(Error::Unstable { stage: Stage::Reduce, .. })
    ));
    assert!(matches!(melting.best(), Err(Error::Unstable { stage: Stage::Reduce, .. })));
    for share in [f64::NAN, 0.2, 1.1, f64::INFINITY] {
        assert!(matches!(model.clone().with_hottest_share(share), Err(Error::Number { .. })));
    }
}

#[test]
fn bad_rates_are_named() {
    let with = |change: fn(&mut Rates)| {
        let mut rates = rates(5.0);
        change(&mut rates);
        match Model::new(4, rates) {
            Err(Error::Number { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(|r| r.lambda_m = f64::NAN), "lambda_m");
    assert_eq!(with(|r| r.lambda_r = -1.0), "lambda_r");
    assert_eq!(with(|r| r.mu_m = 0.0), "mu_m");
    assert_eq!(with(|r| r.mu_r = f64::INFINITY), "mu_r");
    assert_eq!(with(|r| r.mu_n = f64::NEG_INFINITY), "mu_n");
    assert_eq!(with(|r| r.eps = f64::INFINITY), "eps");
    assert!(matches!(Model::new(0, rates(5.0)), Err(Error::Count { count: 0, .. })));
    let model = Model::new(4, rates(5.0)).unwrap();
    for x in [0, 5, u32::MAX] {
        assert!(matches!(model.latency(Topology::Maps(x)), Err(Error::Count { .. })));
    }
    assert!(matches!(erlang_c(0, 0.5), Err(Error::Count { .. })));
    assert!(matches!(erlang_c(2, 2.0), Err(Error::Unstable { .. })));
    assert!(matches!(erlang_c(2, f64::NAN), Err(Error::Number { .. })));
    assert!(matches!(mmc_latency(2, 1.0, 0.0), Err(Error::Number { .. })));
}

#[test]
fn a_hundred_thousand_nodes_are_no_matter() {
    let rates = Rates { lambda_m: 4e6, lambda_r: 3e6, mu_m: 60.0, mu_r: 40.0, mu_n: 1e8, eps: 0.0 };
    let (topology, latency) = Model::new(100_000, rates).unwrap().best().unwrap();
    assert!(matches!(topology, Topology::Maps(x) if x > 66_666));
    assert!(latency.total().is_finite());
}

fn random_model(seed: u64) -> (u32, Rates) {
    let r = &mut Random::new(seed);
    let n = 1 + u32::try_from(r.below(24)).unwrap();
    let mut number = |high: f64| high * r.unit();
    let (mu_m, mu_r, mu_n) = (number(100.0), number(100.0), number(1000.0));
    let lambda_m = number(1.3 * mu_m * f64::from(n));
    let lambda_r = number(1.3 * mu_r * f64::from(n));
    let eps = number(0.01);
    (n, Rates { lambda_m, lambda_r, mu_m, mu_r, mu_n, eps })
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_papers_reading_is_strictly_decreasing_where_stable(seed in any::<u64>()) {
        let (n, rates) = random_model(seed);
        for queue in [ReduceQueue::Shared, ReduceQueue::Partitioned] {
            let model = Model::new(n, rates).unwrap();
            let model = model.with_reading(Reading::Paper).with_reduce(queue);
            let mut last = f64::INFINITY;
            for x in 1..=n {
                if let Ok(latency) = model.latency(Topology::Maps(x)) {
                    // Terms that no longer change in the last place may stand.
                    prop_assert!(latency.total() <= last * (1.0 + 1e-12));
                    last = latency.total();
                }
            }
        }
    }

    #[test]
    fn unstable_is_told_exactly_where_the_conditions_fail(seed in any::<u64>()) {
        let (n, rates) = random_model(seed);
        let model = Model::new(n, rates).unwrap();
        let nodes = f64::from(n);
        for x in 1..=n {
            let maps = f64::from(x);
            let map = rates.lambda_m < maps * rates.mu_m;
            let reduce = rates.lambda_r / nodes < rates.mu_r;
            let net = rates.lambda_r / nodes / maps < rates.mu_n / (nodes + maps - 1.0);
            let got = model.latency(Topology::Maps(x));
            prop_assert_eq!(got.is_ok(), map && reduce && net);
            if let Err(Error::Unstable { stage, .. }) = got {
                let failed = match stage {
                    Stage::Map => map,
                    Stage::Net => net,
                    _ => reduce,
                };
                prop_assert!(!failed);
            }
        }
        let broadcast = rates.lambda_m < rates.mu_m && rates.lambda_r / nodes < rates.mu_r;
        prop_assert_eq!(model.latency(Topology::Broadcast).is_ok(), broadcast);
    }

    #[test]
    fn best_is_the_least_of_all(seed in any::<u64>()) {
        let (n, rates) = random_model(seed);
        let model = Model::new(n, rates).unwrap();
        let all = std::iter::once(Topology::Broadcast).chain((1..=n).map(Topology::Maps));
        let least = all
            .filter_map(|t| Some(model.latency(t).ok()?.total()))
            .fold(f64::INFINITY, f64::min);
        match model.best() {
            Ok((topology, latency)) => {
                prop_assert_eq!(latency.total(), least);
                prop_assert_eq!(model.latency(topology).unwrap().total(), least);
            }
            Err(error) => {
                let unstable = matches!(error, Error::Unstable { .. });
                prop_assert!(unstable);
                prop_assert_eq!(least, f64::INFINITY);
            }
        }
    }
}
