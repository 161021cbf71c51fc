//! The sink to a file.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use streamwright::{
    BoxError, Config, Grouping, Guarantee, Topology, TopologyBuilder, ops, threads,
};

use crate::bench::{cases, list, same_or_more, setting};

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("streamwright-ops-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, task: u32) -> PathBuf {
        self.0.join(format!("{task}.txt"))
    }

    /// The numbers of both files; a line that is none fails.
    fn numbers(&self) -> Vec<u64> {
        let texts = (0..2).map(|task| fs::read_to_string(self.file(task)).unwrap());
        texts
            .flat_map(|text| text.lines().map(|line| line.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes numbers; refuses those that 7 divides, one way or the other, after it has begun with them.
fn sink(builder: &mut TopologyBuilder, folder: &Folder, numbers: Vec<u64>, refuses: bool) {
    let stream = list(builder, "numbers", numbers);
    let files = [folder.file(0), folder.file(1)];
    builder
        .bolt("file", 2, move |cx| {
            ops::FileSink::append(&files[cx.index() as usize], move |n: &u64, to: &mut Vec<u8>| {
                to.extend_from_slice(n.to_string().as_bytes());
                if refuses && n.is_multiple_of(7) {
                    assert!(!n.is_multiple_of(2), "a panic");
                    return Err("refused".into());
                }
                to.push(b'\n');
                Ok(())
            })
        })
        .input(stream, Grouping::fields(|n: &u64| *n))
        .done();
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn every_record_is_in_the_file(numbers in vec(0..500_u64, 0..60), setting in setting()) {
        let folder = Folder::new();
        let mut builder = Topology::builder();
        sink(&mut builder, &folder, numbers.clone(), false);
        let _ = setting.run(builder);
        let more = setting.loses() && setting.guarantee != Guarantee::AtMostOnce;
        same_or_more(folder.numbers(), &numbers, more);
    }

    /// What the format refuses leaves nothing in the file, half a line neither.
    #[test]
    fn a_refused_record_leaves_nothing(numbers in vec(0..50_u64, 0..60), mut setting in setting()) {
        setting.faults = Default::default();
        setting.guarantee = Guarantee::AtLeastOnce;
        let folder = Folder::new();
        let mut builder = Topology::builder();
        sink(&mut builder, &folder, numbers.clone(), true);
        let mut config = setting.config();
        config.attempts = 2;
        let report = setting.run_with(builder, config);
        let good: Vec<u64> = numbers.iter().copied().filter(|n| !n.is_multiple_of(7)).collect();
        prop_assert_eq!(report.dead as usize, numbers.len() - good.len());
        same_or_more(folder.numbers(), &good, false);
    }
}

/// A file that cannot be opened is an error of the run, and names it.
#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let folder = Folder::new();
    let path = folder.0.join("no/such/folder/out.txt");
    let told = path.display().to_string();
    let mut builder = Topology::builder();
    let stream = list(&mut builder, "numbers", vec![1_u64]);
    builder
        .bolt("file", 1, move |_| {
            ops::FileSink::append(&path, |_: &u64, _: &mut Vec<u8>| Ok::<(), BoxError>(()))
        })
        .input(stream, Grouping::global())
        .done();
    let error = threads::run(builder.build(Config::default()).unwrap()).unwrap_err();
    assert!(error.to_string().contains(&told), "{error}");
}

/// A full disk: the roots fail by that reason, and are dead letters in the end; none is acked.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_fails_what_was_held_by_name() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
        let mut builder = Topology::builder();
        let stream = list(&mut builder, "numbers", (0..50_u64).collect());
        builder
            .bolt("file", 1, move |_| {
                ops::FileSink::append("/dev/full".as_ref(), |n: &u64, to: &mut Vec<u8>| {
                    to.extend_from_slice(&n.to_le_bytes());
                    Ok(())
                })
            })
            .input(stream, Grouping::global())
            .done();
        let mut config = Config::default();
        (config.guarantee, config.attempts) = (guarantee, 2);
        let report = threads::run(builder.build(config).unwrap()).unwrap();
        let reasons: Vec<String> = if guarantee == Guarantee::AtMostOnce {
            assert_eq!(report.failed, 50);
            report.failures.iter().map(ToString::to_string).collect()
        } else {
            assert_eq!((report.acked, report.dead), (0, 50));
            report.dead_letters.iter().map(|letter| letter.reason.to_string()).collect()
        };
        assert!(!reasons.is_empty());
        let named = "cannot write: No space left on device";
        assert!(reasons.iter().all(|reason| reason.contains(named)), "{reasons:?}");
    }
}

/// A device and a pipe can be neither cut back nor synced: they take what is written.
#[test]
#[cfg(target_os = "linux")]
fn a_device_and_a_pipe_take_records() {
    use std::io::Read;

    let (mut reader, writer) = std::io::pipe().unwrap();
    let pipe = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
    for path in ["/dev/null".to_owned(), pipe] {
        let mut builder = Topology::builder();
        let stream = list(&mut builder, "numbers", (0..50_u64).collect());
        builder
            .bolt("file", 1, move |_| {
                ops::FileSink::append(path.as_ref(), |n: &u64, to: &mut Vec<u8>| {
                    to.extend_from_slice(&n.to_le_bytes());
                    Ok(())
                })
            })
            .input(stream, Grouping::global())
            .done();
        let mut config = Config::default();
        config.attempts = 2;
        let report = threads::run(builder.build(config).unwrap()).unwrap();
        assert_eq!((report.acked, report.replayed), (50, 0));
    }
    drop(writer);
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    let mut numbers: Vec<u64> =
        read.chunks(8).map(|n| u64::from_le_bytes(n.try_into().unwrap())).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..50).collect::<Vec<u64>>());
}
