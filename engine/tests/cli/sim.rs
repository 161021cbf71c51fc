//! `--driver sim`: the same bytes from the same seed, and cluster files that make no sense refused
//! by file, line and field.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Ended, Temp, counts, run, truth_of_generator, wordcount};

fn cluster(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clusters").join(name)
}

fn simulate(cluster: &std::path::Path, args: &str) -> Ended {
    let mut command = wordcount(&format!("--driver sim {args}"));
    run(command.arg("--cluster").arg(cluster))
}

#[test]
fn eight_machines_count_right_and_the_same_run_gives_the_same_bytes() {
    let once = simulate(&cluster("eight.toml"), "--lines 2000 --seed 3 --top all --json");
    let report = once.json(0);
    assert_eq!(counts(&report), truth_of_generator(3, 2000));
    assert_eq!((&report["driver"], &report["complete"]), (&"sim".into(), &true.into()));
    assert_eq!(report["tracking"]["acked"], 2000);
    assert_eq!(report["tracking"]["replayed"], 0);
    assert_eq!(report["config"]["workers"], 16);
    let sim = &report["sim"];
    assert_eq!((&sim["seed"], sim["nodes"].as_array().map(Vec::len)), (&3.into(), Some(8)));
    assert!(sim["tuples"].as_u64() > Some(0) && sim["events"].as_u64() > Some(0), "{sim}");
    assert_eq!(sim["trace"].as_str().map(str::len), Some(16));
    let again = simulate(&cluster("eight.toml"), "--lines 2000 --seed 3 --top all --json");
    assert_eq!(once.out, again.out);
    let other = simulate(&cluster("eight.toml"), "--lines 2000 --seed 4 --json").json(0);
    assert_ne!(other["sim"]["trace"], sim["trace"]);
    // The command that the report names repeats it.
    let command = report["command"].as_str().unwrap_or_default();
    assert!(command.contains("--driver sim --cluster="), "{command}");
}

#[test]
fn a_bad_day_on_a_bad_network_loses_no_line() {
    let once = simulate(&cluster("faulty.toml"), "--lines 3000 --top all --json");
    let report = once.json(0);
    assert_eq!(
        (&report["tracking"]["acked"], &report["tracking"]["dead"]),
        (&3000.into(), &0.into())
    );
    assert!(report["tracking"]["replayed"].as_u64() > Some(0));
    let counted = counts(&report);
    for (word, count) in truth_of_generator(0, 3000) {
        assert!(counted.get(&word).is_some_and(|&counted| counted >= count));
    }
    let faults = &report["sim"]["faults"];
    for kind in
        ["lost_tuples", "lost_batches", "lost_in_batches", "repeated_batches", "lost_messages"]
    {
        assert!(faults[kind].as_u64() > Some(0), "{kind}: {faults}");
    }
    assert_eq!((&report["sim"]["seed"], &faults["stale_batches"]), (&7.into(), &0.into()));
    // The file's seed stands as long as the command line says none: so does the command say none.
    let command = report["command"].as_str().unwrap_or_default();
    assert!(!command.contains("--seed"), "{command}");
    let said = simulate(&cluster("faulty.toml"), "--lines 100 --seed 0 --json").json(0);
    assert_eq!(said["sim"]["seed"], 0);
    assert!(said["command"].as_str().is_some_and(|command| command.contains("--seed 0")));
    assert_eq!(once.out, simulate(&cluster("faulty.toml"), "--lines 3000 --top all --json").out);
}

#[test]
fn the_text_names_driver_seed_virtual_time_and_trace() {
    let report = simulate(&cluster("eight.toml"), "--lines 500 --json").json(0);
    let ended = simulate(&cluster("eight.toml"), "--lines 500");
    let text = ended.text();
    assert_eq!((ended.code(), ended.err.as_str()), (0, ""));
    let trace = report["sim"]["trace"].as_str().unwrap_or("?").to_owned();
    for part in ["virtual time", "driver             sim", &trace, "node7", "--driver sim"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert_eq!(text, simulate(&cluster("eight.toml"), "--lines 500").text());
}

#[test]
fn a_crash_is_lived_through_and_what_it_lost_is_said() {
    let temp = Temp::new();
    let mut file = std::fs::read_to_string(cluster("eight.toml")).expect("a cluster");
    file += "\n[[fault]]\nat = \"5ms\"\nevent = \"crash\"\nnode = \"node3\"\n";
    let path = temp.file("crash.toml", file);
    let report = simulate(&path, "--lines 50000 --seed 11 --top all --json").json(0);
    assert_eq!(report["complete"], true);
    let crashes = report["crashes"].as_array().expect("crashes");
    assert_eq!((crashes.len(), &crashes[0]["at_us"]), (1, &5500.into()));
    // Half a millisecond later the coordinator knows.
    let cause = crashes[0]["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("node 3 crashed, as the scenario says"), "{cause}");
    // No epoch was closed by then: nothing is lost, and all came again.
    assert_eq!(crashes[0]["lost_epochs"], 0);
    let counted = counts(&report);
    for (word, count) in truth_of_generator(11, 50_000) {
        assert!(counted.get(&word).is_some_and(|&counted| counted >= count));
    }
}

#[test]
fn a_run_that_fails_says_when_and_with_which_seed() {
    let temp = Temp::new();
    let file = std::fs::read_to_string(cluster("eight.toml")).expect("a cluster");
    let path = temp.file("short.toml", format!("until = \"3ms\"\n{file}"));
    let report = simulate(&path, "--lines 50000 --seed 11 --json").json(1);
    let error = report["error"].as_str().unwrap_or_default();
    assert!(error.contains("no end within 3ms") && error.ends_with("seed 11)"), "{error}");
    assert_eq!((&report["complete"], &report["sim"]), (&false.into(), &Value::Null));
}

#[test]
fn files_that_make_no_sense_are_refused_by_file_line_and_field() {
    const HEAD: &str = "[[node]]\nname = \"a\"\ncores = 2\n[[node]]\nname = \"b\"\n";
    const LINK: &str = "[link]\nlatency = \"1ms\"\n";
    let temp = Temp::new();
    for (body, line, says) in [
        (format!("{HEAD}[link]\nlatencey = \"1ms\"\n"), 7, "did you mean `latency`?"),
        (format!("{HEAD}{LINK}[fautls]\n"), 8, "did you mean `fault`?"),
        (format!("{HEAD}{LINK}bandwidth = 0\n"), 8, "link.bandwidth: "),
        (format!("{HEAD}[link]\nlatency = \"1 ms\"\n"), 7, "is no duration"),
        (format!("{HEAD}[link]\nlatency = 1\n"), 7, "expected a string"),
        (HEAD.to_owned(), 1, "missing field `link`"),
        (format!("{HEAD}speed = 0.0\n{LINK}"), 6, "node[1].speed: node 1 (b) has speed 0"),
        (format!("{HEAD}cores = 0\n{LINK}"), 6, "node[1].cores: node 1 (b) has no core"),
        (format!("{HEAD}cores = -1\n{LINK}"), 6, "-1"),
        (format!("{HEAD}[[node]]\nname = \"a\"\n{LINK}"), 7, "node[2].name: a second node \"a\""),
        (format!("{HEAD}{LINK}[cost.splitt]\ntuple = \"1us\"\n"), 8, "did you mean \"split\"?"),
        (format!("{HEAD}{LINK}[bytes]\nbogus = 3\n"), 9, "bytes.bogus: "),
        (format!("workers = [\"a\", \"aa\"]\n{HEAD}{LINK}"), 1, "workers[1]: no node \"aa\""),
        (
            format!("{HEAD}{LINK}[[links]]\nbetween = [\"a\", \"c\"]\nlatency = \"1ms\"\n"),
            9,
            "links[0].between[1]: no node \"c\"",
        ),
        (format!("{HEAD}{LINK}[faults]\nlose_acks = 1000001\n"), 9, "faults.lose_acks: "),
        (
            format!("{HEAD}{LINK}[[fault]]\nat = \"1s\"\nevent = \"crush\"\nnode = \"a\"\n"),
            10,
            "did you mean `crash`?",
        ),
        (
            format!("{HEAD}{LINK}[[fault]]\nat = \"1s\"\nnode = \"a\"\nevent = \"slow\"\n"),
            11,
            "fault[0].event: it asks for `factor`",
        ),
        (
            format!("{HEAD}{LINK}[[fault]]\nat = \"1s\"\nevent = \"crash\"\nnode = \"x\"\n"),
            11,
            "fault[0].node: no node \"x\"",
        ),
        (LINK.to_owned(), 1, "the cluster has no node"),
        ("[link\n".to_owned(), 1, ""),
    ] {
        let path = temp.file("cluster.toml", &body);
        let ended = simulate(&path, "--lines 10");
        let at = format!("error: {}:{line}: ", path.display());
        assert_eq!(ended.code(), 2, "{body}\n{}", ended.err);
        assert!(ended.err.starts_with(&at) && ended.err.contains(says), "{body}\n{}", ended.err);
        assert_eq!((ended.out.len(), ended.err.lines().count()), (0, 1), "{body}\n{}", ended.err);
    }
}

#[test]
fn the_driver_and_its_arguments_belong_together() {
    let eight = cluster("eight.toml");
    assert_eq!(run(&mut wordcount("--driver sim")).code(), 2);
    let mut on_threads = wordcount("--lines 5");
    let on_threads = run(on_threads.arg("--cluster").arg(&eight));
    assert!(
        on_threads.code() == 2 && on_threads.err.contains("--driver sim"),
        "{}",
        on_threads.err
    );
    let input = simulate(&eight, "--input Cargo.toml");
    assert!(input.code() == 2 && input.err.contains("made-up lines"), "{}", input.err);
    let missing = simulate(&cluster("missing.toml"), "--lines 5");
    assert!(missing.code() == 3 && missing.err.contains("missing.toml"), "{}", missing.err);
    let workers = simulate(&cluster("faulty.toml"), "--lines 5 --workers 3");
    assert!(workers.code() == 2 && workers.err.contains("workers: "), "{}", workers.err);
}

#[test]
fn a_signal_stops_the_simulation_where_it_is() {
    let mut command = wordcount("--driver sim --lines 100000000 --json");
    let child = crate::support::start(command.arg("--cluster").arg(cluster("eight.toml")));
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.send(rustix::process::Signal::INT);
    let report = child.wait().json(130);
    assert_eq!((&report["complete"], &report["interrupted"]), (&false.into(), &"SIGINT".into()));
}
