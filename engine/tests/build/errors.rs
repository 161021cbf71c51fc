//! Every error of `build`, by name, and all of them at once.

use std::time::Duration;

use streamwright::{
    BoxError, BuildError, Combiner, Config, EpochEnd, Grouping, Guarantee, Poll, Spout,
    SpoutEmitter, Topology, TopologyBuilder, ops,
};

use super::{Pass, pass, spout};

/// A spout of what cannot be cloned.
struct Once;

struct NoClone;

impl Spout for Once {
    type Out = Vec<NoClone>;

    fn next(&mut self, _: &mut SpoutEmitter<'_, Vec<NoClone>>) -> Result<Poll, BoxError> {
        Ok(Poll::End)
    }
}

fn errors(declare: impl FnOnce(&mut TopologyBuilder), config: Config) -> Vec<BuildError> {
    let mut builder = Topology::builder();
    declare(&mut builder);
    builder.build(config).map_or_else(|errors| errors.errors().to_vec(), |_| Vec::new())
}

fn of_config(change: impl FnOnce(&mut Config)) -> Vec<BuildError> {
    let mut config = Config::default();
    change(&mut config);
    errors(
        |builder| {
            let stream = spout(builder, "s", 1);
            let _ = pass(builder, "b", 4, vec![(stream, Grouping::whole())]);
        },
        config,
    )
}

/// Three workers, and one more for a dedicated bolt.
fn of_changes(changes: &[(u64, u32)]) -> Vec<BuildError> {
    let mut config = Config::default();
    (config.workers, config.acker_changes) = (3, changes.to_vec());
    errors(
        |builder| {
            let stream = spout(builder, "s", 1);
            let bolt = builder.bolt("b", 1, |_| Ok(Pass));
            let _ = bolt.input(stream, Grouping::whole()).dedicated().done();
        },
        config,
    )
}

fn of_topology(declare: impl FnOnce(&mut TopologyBuilder)) -> Vec<BuildError> {
    errors(declare, Config::default())
}

fn text(component: &str) -> String {
    component.to_owned()
}

/// A bolt "b" whose input is combined, so many keys at a time.
fn combined(builder: &mut TopologyBuilder, keys: usize) {
    let stream = spout(builder, "s", 1);
    let combiner = Combiner::by(|n: &u64| *n, |n| *n, |sum: &mut u64, n| *sum += n).keys(keys);
    let _ = builder
        .bolt("b", 1, |_| Ok(ops::map(|(key, _): &(u64, u64)| *key)))
        .input_combined(stream, combiner, Grouping::shuffle())
        .done();
}

/// Each kind of mistake, alone: what is reported, and a part of its text.
fn mistakes() -> Vec<(Vec<BuildError>, BuildError, &'static str)> {
    let weighted = |weights: Vec<u64>| {
        of_topology(move |builder| {
            let stream = spout(builder, "s", 1);
            let _ = pass(builder, "b", 2, vec![(stream, Grouping::weighted(weights))]);
        })
    };
    let (second, linger) = (Duration::from_secs(1), Duration::from_secs(2));
    vec![
        (of_topology(|_| ()), BuildError::NoSpout, "no spout"),
        (
            of_topology(|builder| {
                let _ = (spout(builder, "s", 1), spout(builder, "s", 1));
            }),
            BuildError::DuplicateName { name: text("s") },
            "\"s\"",
        ),
        (
            of_topology(|builder| {
                let _ = (spout(builder, "s", 1), spout(builder, "", 1));
            }),
            BuildError::EmptyName { component: 1 },
            "number 1",
        ),
        (
            of_topology(|builder| {
                let _ = spout(builder, "s", 0);
            }),
            BuildError::NoTasks { component: text("s") },
            "s has 0 tasks",
        ),
        (
            of_topology(|builder| {
                let _ = spout(builder, "s", (1 << 24) + 1);
            }),
            BuildError::TooManyTasks { component: text("s"), tasks: (1 << 24) + 1, limit: 1 << 24 },
            "16777217",
        ),
        (
            of_topology(|builder| {
                let (a, b) = (spout(builder, "s", 1), spout(builder, "t", 1));
                for (name, stream, tasks) in [("a", a, 500), ("b", b, 12)] {
                    let bolt = builder.bolt(name, tasks, |_| Ok(Pass));
                    let _ = bolt.input(stream, Grouping::shuffle()).dedicated().done();
                }
            }),
            // And the one worker of the settings.
            BuildError::TooManyThreads { component: text("b"), threads: 513, limit: 512 },
            "bolt b bring the topology to 513 threads",
        ),
        (
            of_topology(|builder| {
                let _ = spout(builder, "s", 1);
                let _ = pass(builder, "b", 1, Vec::new());
            }),
            BuildError::NoInput { component: text("b") },
            "nothing feeds b",
        ),
        (
            of_topology(|builder| {
                let stream = spout(builder, "s", 1);
                let _ = builder.bolt("b", 1, |_| Ok(Pass)).input(stream, Grouping::shuffle());
            }),
            BuildError::NotDone { component: text("b") },
            "call `done`",
        ),
        (
            of_topology(|builder| {
                let _ = spout(builder, "s", 1);
                let foreign = spout(&mut Topology::builder(), "foreign", 1);
                let _ = pass(builder, "b", 1, vec![(foreign, Grouping::shuffle())]);
            }),
            BuildError::ForeignStream { component: text("b") },
            "another topology",
        ),
        (
            weighted(vec![1, 2, 3]),
            BuildError::WeightsDoNotFit { component: text("b"), tasks: 2, weights: 3 },
            "3 weights",
        ),
        (weighted(vec![0, 0]), BuildError::WeightsSum { component: text("b"), sum: 0 }, "sum to 0"),
        (
            weighted(vec![u64::MAX, u64::MAX]),
            BuildError::WeightsSum { component: text("b"), sum: 2 * u128::from(u64::MAX) },
            "at most 2^53",
        ),
        (
            of_config(|config| config.slot_bits = Some(1)),
            BuildError::TooFewSlots { component: text("b"), tasks: 4, slots: 2 },
            "raise slot_bits",
        ),
        (
            of_topology(|builder| {
                let _ = builder.spout_once("s", 1, |_| Ok(Once));
            }),
            BuildError::NotRepeatable { component: text("s") },
            "at most once",
        ),
        (
            errors(
                |builder| {
                    let stream = spout(builder, "s", 1);
                    let bolt = builder.bolt("b", 1, |_| Ok(Pass));
                    let _ = bolt.input(stream, Grouping::shuffle()).stateful().done();
                },
                {
                    let mut config = Config::default();
                    (config.guarantee, config.check_ppm) = (Guarantee::ExactlyOnce, 1);
                    config
                },
            ),
            BuildError::Unchecked { component: text("b") },
            "`checked_by` a hash",
        ),
        (
            errors(|builder| combined(builder, 1), {
                let mut config = Config::default();
                config.guarantee = Guarantee::ExactlyOnce;
                config
            }),
            BuildError::CombinedExactlyOnce { component: text("b") },
            "no lineage",
        ),
        (
            of_topology(|builder| combined(builder, 0)),
            BuildError::NoKeys { component: text("b") },
            "0 keys",
        ),
        (of_config(|config| config.queue = 0), BuildError::Zero { field: "queue" }, "queue is 0"),
        (
            of_config(|config| config.drop_ppm = 1_000_001),
            BuildError::Above { field: "drop_ppm", value: 1_000_001, limit: 1_000_000 },
            "drop_ppm is 1000001",
        ),
        (
            of_changes(&[(0, 1)]),
            BuildError::AckerChangeAtStart { ackers: 1 },
            "1 ackers from epoch 0 on: say so by `ackers`",
        ),
        (
            of_changes(&[(3, 1), (5, 2), (5, 1), (6, 2)]),
            BuildError::AckerChangeOrder { epoch: 5, before: 5 },
            "epoch 5 after epoch 5",
        ),
        (
            of_changes(&[(3, 1), (5, 4)]),
            // Workers of dedicated bolts have no acker.
            BuildError::AckerChangeCount { epoch: 5, ackers: 4, workers: 3 },
            "4 ackers from epoch 5 on: there must be at least 1, and at most as many as the 3",
        ),
        (
            of_config(|config| {
                config.guarantee = Guarantee::AtMostOnce;
                config.acker_changes = vec![(1, 1)];
            }),
            BuildError::UntrackedAckerChanges { guarantee: Guarantee::AtMostOnce },
            "no roots are tracked: the guarantee is at most once",
        ),
        (
            of_config(|config| config.drain = Duration::MAX),
            BuildError::TooLong {
                field: "drain",
                value: Duration::MAX,
                limit: Duration::from_secs(864_000_000),
            },
            "drain is 18446744073709551615.999999999s",
        ),
        (
            of_config(|config| (config.timeout, config.linger) = (second, linger)),
            BuildError::TimeoutWithinLinger { timeout: second, linger },
            "1s",
        ),
        (
            of_config(|config| {
                config.linger = Duration::from_millis(1);
                config.timeout = Duration::from_millis(9);
            }),
            BuildError::TimeoutTooShort { timeout: Duration::from_millis(9) },
            "9ms",
        ),
        (
            of_config(|config| (config.backoff, config.max_backoff) = (linger, second)),
            BuildError::BackoffAboveMax { backoff: linger, max_backoff: second },
            "backoff of 2s is longer than the max_backoff of 1s",
        ),
        (
            of_config(|config| config.check_ppm = 5),
            BuildError::NothingToCheck { check_ppm: 5, guarantee: Guarantee::AtLeastOnce },
            "check_ppm is 5, but only exactly once is checked",
        ),
    ]
}

#[test]
fn each_mistake_is_named_and_nothing_else_is() {
    for (reported, expected, part) in mistakes() {
        assert_eq!(reported, std::slice::from_ref(&expected));
        assert!(expected.to_string().contains(part), "{expected} does not say {part}");
    }
}

#[test]
fn no_mistake_is_left_out_here() {
    let source = include_str!("../../src/topology/error.rs");
    let body = source.split("pub enum BuildError {").nth(1).unwrap();
    let body = body.split("\n}").next().unwrap();
    let variants = body.lines().filter_map(|line| {
        let name = line.strip_prefix("    ")?;
        let name = name.trim_end_matches(['{', ',', ' ']);
        name.chars().next().filter(char::is_ascii_uppercase).map(|_| name)
    });
    let variants: Vec<&str> = variants.collect();
    assert!(variants.len() >= 15, "{variants:?}");
    let known: Vec<String> =
        mistakes().iter().map(|(_, expected, _)| format!("{expected:?}")).collect();
    for variant in variants {
        assert!(known.iter().any(|known| known.starts_with(variant)), "{variant} has no test");
    }
}

#[test]
fn every_change_of_the_ackers_that_cannot_be_is_named() {
    let (workers, none) = (3, BuildError::AckerChangeCount { epoch: 4, ackers: 0, workers: 3 });
    assert_eq!(of_changes(&[(4, 0)]), [none]);
    assert_eq!(
        of_changes(&[(0, 9), (2, 1), (1, 0), (u64::MAX, 3)]),
        [
            BuildError::AckerChangeAtStart { ackers: 9 },
            BuildError::AckerChangeCount { epoch: 0, ackers: 9, workers },
            BuildError::AckerChangeOrder { epoch: 1, before: 2 },
            BuildError::AckerChangeCount { epoch: 1, ackers: 0, workers },
        ]
    );
    let many: Vec<(u64, u32)> = (1..=257).map(|epoch| (epoch, 1)).collect();
    assert_eq!(of_changes(&many[..256]), []);
    let above = BuildError::Above { field: "acker_changes", value: 257, limit: 256 };
    assert_eq!(of_changes(&many), [above]);
    // The same number again changes nothing, and is no mistake.
    assert_eq!(of_changes(&[(1, 1), (2, 3), (3, 3), (4, 2)]), []);
}

type Change = fn(&mut Config);

#[test]
fn zero_is_refused_for_each_setting_by_its_name() {
    let changes: [(&str, Change); 16] = [
        ("workers", |c| (c.workers, c.ackers) = (0, 0)),
        ("window", |c| c.window = 0),
        ("queue", |c| c.queue = 0),
        ("batch", |c| c.batch = 0),
        ("batch_bytes", |c| c.batch_bytes = 0),
        ("record_limit", |c| c.record_limit = 0),
        ("turn", |c| c.turn = 0),
        ("stall_after", |c| c.stall_after = Duration::ZERO),
        ("overrun", |c| c.overrun = Duration::ZERO),
        ("ticket_limit", |c| c.ticket_limit = Duration::ZERO),
        ("epoch", |c| c.epoch = EpochEnd::Every(Duration::ZERO)),
        ("epoch", |c| c.epoch = EpochEnd::Records(0)),
        ("ackers", |c| c.ackers = 0),
        ("max_pending", |c| c.max_pending = 0),
        ("max_pending_bytes", |c| c.max_pending_bytes = 0),
        ("attempts", |c| c.attempts = 0),
    ];
    for (field, change) in changes {
        let errors = of_config(change);
        assert!(errors.contains(&BuildError::Zero { field }), "{field}: {errors:?}");
    }
    // What only tracking needs may be zero without it, and what may be nothing may.
    let errors = of_config(|c| {
        c.guarantee = Guarantee::AtMostOnce;
        (c.ackers, c.max_pending, c.max_pending_bytes, c.attempts) = (0, 0, 0, 0);
        (c.linger, c.backoff, c.drain) = Default::default();
    });
    assert_eq!(errors, []);
}

#[test]
fn what_is_too_much_is_refused_by_its_name() {
    let ages = Duration::from_secs(u64::MAX);
    let changes: [(&str, Change); 8] = [
        ("workers", |c| c.workers = 4097),
        ("ackers", |c| c.ackers = c.workers + 1),
        ("slot_bits", |c| c.slot_bits = Some(25)),
        ("slot_bits", |c| c.slot_bits = Some(u32::MAX)),
        ("drop_ppm", |c| c.drop_ppm = u32::MAX),
        ("batch", |c| c.batch = usize::MAX),
        ("queue", |c| c.queue = usize::MAX),
        ("window", |c| c.window = u32::MAX),
    ];
    let names = |errors: Vec<BuildError>| -> Vec<&str> {
        let field = |error| match error {
            BuildError::Above { field, .. } | BuildError::TooLong { field, .. } => field,
            other => panic!("{other}"),
        };
        errors.into_iter().map(field).collect()
    };
    for (field, change) in changes {
        assert_eq!(names(of_config(change)), [field]);
    }
    let endless = of_config(|c| {
        (c.timeout, c.backoff, c.max_backoff) = (ages, ages, ages);
        (c.stall_after, c.overrun, c.drain) = (ages, ages, ages);
    });
    let all = ["timeout", "backoff", "max_backoff", "stall_after", "overrun", "drain"];
    assert_eq!(names(endless), all);
}

#[test]
fn an_epoch_of_ages_is_refused_by_its_name() {
    // As every other time is: the coordinator adds it to the clock.
    let errors = of_config(|c| c.epoch = EpochEnd::Every(Duration::MAX));
    assert!(matches!(errors[..], [BuildError::TooLong { field: "epoch", .. }]), "{errors:?}");
    assert!(errors[0].to_string().ends_with("over the limit of 864000000s"), "{}", errors[0]);
}

#[test]
fn tasks_are_summed_over_components_without_overflow() {
    let errors = of_topology(|builder| {
        for name in ["a", "b", "c"] {
            let _ = spout(builder, name, u32::MAX);
        }
    });
    // Named once, where the limit is passed.
    let tasks = u64::from(u32::MAX);
    let component = text("a");
    assert_eq!(errors, [BuildError::TooManyTasks { component, tasks, limit: 1 << 24 }]);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let mut config = Config::default();
    config.workers = 0;
    config.queue = 0;
    config.linger = config.timeout;
    let found = errors(
        |builder| {
            let twice = spout(builder, "s", 0);
            let _ = spout(builder, "s", 1);
            let foreign = spout(&mut Topology::builder(), "foreign", 1);
            let _ = pass(
                builder,
                "b",
                2,
                vec![(twice, Grouping::weighted([1])), (foreign, Grouping::all())],
            );
            let _ = builder.bolt("fed by none", 0, |_| Ok(Pass)).done();
        },
        config,
    );
    let expected = [
        BuildError::WeightsDoNotFit { component: text("b"), tasks: 2, weights: 1 },
        BuildError::ForeignStream { component: text("b") },
        BuildError::NoTasks { component: text("s") },
        BuildError::DuplicateName { name: text("s") },
        BuildError::NoTasks { component: text("fed by none") },
        BuildError::NoInput { component: text("fed by none") },
        BuildError::Zero { field: "workers" },
        BuildError::Zero { field: "queue" },
    ];
    for error in &expected {
        assert!(found.contains(error), "{error} is not among {found:?}");
    }
    assert!(found.iter().any(|e| matches!(e, BuildError::TimeoutWithinLinger { .. })));
    // More ackers than workers as well: there are none.
    assert_eq!(found.len(), expected.len() + 2, "{found:?}");
}

#[test]
fn a_message_names_every_mistake() {
    let mut builder = Topology::builder();
    let _ = spout(&mut builder, "s", 0);
    let mut config = Config::default();
    config.queue = 0;
    let message = builder.build(config).unwrap_err().to_string();
    assert_eq!(message, "s has 0 tasks: give it at least one; queue is 0: it must be at least 1");
}
