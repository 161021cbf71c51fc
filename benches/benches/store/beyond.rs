//! History four times the budget, Zipf 0.99. One durability for all: what is written reaches the
//! system, and nobody waits for the device.

use std::time::Instant;

use cpu_time::ProcessTime;
use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use redb::{Durability, ReadableDatabase, TableDefinition};
use rtmr::store::{Blocks, Folder, Mixed, Store};

use super::folder;
use super::zipf::{Random, Zipf, scattered};

const KEYS: u64 = 1_000_000;
const OPS: usize = 500_000;
const BUDGET: usize = 27_000_000;
/// Puts of a transaction of redb's. A process that is killed loses what came after the last checkpoint
/// of ours, and with `Durability::None` all of redb's.
const BATCH: usize = 1_000;
/// Puts from one checkpoint to the next.
const CHECKPOINT: usize = 100_000;
const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("t");

trait Contender {
    fn put(&mut self, key: u64, value: &[u8; 100]);
    fn get(&mut self, key: u64) -> u8;
    /// After every put: where a batch or a checkpoint ends.
    fn after(&mut self, puts: usize);
}

type Spilled = Store<u64, [u8; 100], Blocks<Folder>, Mixed>;
struct Ours(Spilled);

impl Contender for Ours {
    fn put(&mut self, key: u64, value: &[u8; 100]) {
        self.0.insert(key, *value).unwrap();
    }

    fn get(&mut self, key: u64) -> u8 {
        self.0.get(&key).unwrap().unwrap()[9]
    }

    fn after(&mut self, puts: usize) {
        if puts.is_multiple_of(CHECKPOINT) {
            self.0.checkpoint(puts as u64).unwrap();
        }
    }
}

struct Fjall(Database, fjall::Keyspace);

impl Contender for Fjall {
    fn put(&mut self, key: u64, value: &[u8; 100]) {
        self.1.insert(key.to_be_bytes(), value).unwrap();
    }

    fn get(&mut self, key: u64) -> u8 {
        self.1.get(key.to_be_bytes()).unwrap().unwrap()[9]
    }

    fn after(&mut self, puts: usize) {
        if puts.is_multiple_of(CHECKPOINT) {
            self.0.persist(PersistMode::Buffer).unwrap();
        }
    }
}

struct Redb(redb::Database, Vec<(u64, [u8; 100])>, Option<redb::ReadOnlyTable<u64, &'static [u8]>>);

impl Redb {
    fn commit(&mut self) {
        self.2 = None;
        let mut txn = self.0.begin_write().unwrap();
        txn.set_durability(Durability::None).unwrap();
        {
            let mut table = txn.open_table(TABLE).unwrap();
            for (key, value) in self.1.drain(..) {
                table.insert(key, &value[..]).unwrap();
            }
        }
        txn.commit().unwrap();
    }
}

impl Contender for Redb {
    fn put(&mut self, key: u64, value: &[u8; 100]) {
        self.1.push((key, *value));
        if self.1.len() == BATCH {
            self.commit();
        }
    }

    fn get(&mut self, key: u64) -> u8 {
        if !self.1.is_empty() {
            self.commit();
        }
        let database = &self.0;
        let table =
            self.2.get_or_insert_with(|| database.begin_read().unwrap().open_table(TABLE).unwrap());
        redb::ReadableTable::get(table, key).unwrap().unwrap().value()[9]
    }

    fn after(&mut self, _: usize) {}
}

/// Resident bytes of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn phase(name: &str, what: &str, keys: &[u64], mut work: impl FnMut(usize, u64)) {
    let mut nanos: Vec<u64> = Vec::with_capacity(keys.len());
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    for (at, &key) in keys.iter().enumerate() {
        let start = Instant::now();
        work(at, key);
        nanos.push(start.elapsed().as_nanos() as u64);
    }
    let (cpu, wall) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    nanos.sort_unstable();
    let at = |part: f64| nanos[((nanos.len() - 1) as f64 * part) as usize] as f64 / 1e3;
    let many = keys.len() as f64 / 1e3;
    println!(
        "{name:<10} {what:<5} {:>8.0} k/s CPU {:>8.0} k/s wall  p50 {:>7.2} p99 {:>7.2} p99.9 {:>8.2} µs  {:>5} MB resident",
        many / cpu,
        many / wall,
        at(0.5),
        at(0.99),
        at(0.999),
        resident() / 1_000_000,
    );
}

/// What is put at a place of a phase.
fn value(at: usize, key: u64) -> [u8; 100] {
    [(key ^ at as u64) as u8; 100]
}

fn measure(
    name: &str,
    contender: &mut dyn Contender,
    load: &[u64],
    puts: &[u64],
    gets: &[u64],
) -> u64 {
    for (what, keys) in [("load", load), ("put", puts)] {
        phase(name, what, keys, |at, key| {
            contender.put(key, &value(at, key));
            contender.after(at + 1);
        });
    }
    let mut sum = 0_u64;
    phase(name, "get", gets, |_, key| sum += u64::from(contender.get(key)));
    sum
}

/// The sum of what the gets must find.
fn expected(load: &[u64], puts: &[u64], gets: &[u64]) -> u64 {
    let mut latest = hashbrown::HashMap::new();
    for keys in [load, puts] {
        latest.extend(keys.iter().enumerate().map(|(at, &key)| (key, value(at, key)[9])));
    }
    gets.iter().map(|key| u64::from(latest[key])).sum()
}

/// Each in a process of its own, so that nobody inherits memory.
pub fn run() {
    if let Ok(name) = std::env::var("RTMR_BENCH_CHILD") {
        return child(&name);
    }
    println!(
        "\n{KEYS} pairs of 8 and 100 bytes, budget {BUDGET} bytes, Zipf 0.99, {OPS} operations"
    );
    for _ in 0..std::env::var("ROUNDS").map_or(1, |rounds| rounds.parse().unwrap()) {
        for name in ["rtmr", "fjall", "redb"] {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let status = child.arg("beyond").env("RTMR_BENCH_CHILD", name).status().unwrap();
            assert!(status.success());
        }
    }
}

fn child(name: &str) {
    let (zipf, mut r) = (Zipf::new(KEYS, 0.99), Random(5));
    let load: Vec<u64> = (0..KEYS).map(|key| scattered(key * 7_368_787 % KEYS)).collect();
    let mut draw = || (0..OPS).map(|_| scattered(zipf.rank(&mut r))).collect::<Vec<_>>();
    let (puts, gets) = (draw(), draw());
    let path = folder(name);
    let contender: &mut dyn Contender = match name {
        "rtmr" => {
            let spill = Blocks::open(Folder::buffered(&path).unwrap()).unwrap();
            let bits = std::env::var("BITS").map_or(17, |bits| bits.parse().unwrap());
            &mut Ours(Store::with(bits, BUDGET, spill, Mixed).unwrap())
        }
        "fjall" => {
            let database = Database::builder(&path).cache_size(BUDGET as u64).open().unwrap();
            let keyspace = database.keyspace("t", KeyspaceCreateOptions::default).unwrap();
            &mut Fjall(database, keyspace)
        }
        _ => {
            std::fs::create_dir_all(&path).unwrap();
            let mut builder = redb::Database::builder();
            let database = builder.set_cache_size(BUDGET).create(path.join("t")).unwrap();
            &mut Redb(database, Vec::new(), None)
        }
    };
    println!("{name:<10} begins with {} MB resident", resident() / 1_000_000);
    let sum = measure(name, contender, &load, &puts, &gets);
    assert_eq!(sum, expected(&load, &puts, &gets));
    let _ = std::fs::remove_dir_all(path);
}
