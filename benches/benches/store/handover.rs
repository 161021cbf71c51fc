//! An entry handed over: bytes touched, whatever else the store holds.

use std::cell::Cell;
use std::io;

use rtmr::store::{Blocks, Disk, FileName, Folder, Mixed, NoSpill, Store};

use super::{folder, timed};

thread_local! {
    static TOUCHED: Cell<u64> = const { Cell::new(0) };
}

/// A folder that counts what is read and written.
struct Counted(Folder);

fn touch(bytes: usize) {
    TOUCHED.set(TOUCHED.get() + bytes as u64);
}

impl Disk for Counted {
    fn list(&mut self) -> io::Result<Vec<FileName>> {
        self.0.list()
    }

    fn len(&mut self, file: FileName) -> io::Result<u64> {
        self.0.len(file)
    }

    fn read(&mut self, file: FileName, at: u64, into: &mut [u8]) -> io::Result<()> {
        touch(into.len());
        self.0.read(file, at, into)
    }

    fn write(&mut self, file: FileName, at: u64, bytes: &[u8]) -> io::Result<()> {
        touch(bytes.len());
        self.0.write(file, at, bytes)
    }

    fn sync(&mut self, file: FileName) -> io::Result<()> {
        self.0.sync(file)
    }

    fn rename(&mut self, from: FileName, to: FileName) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&mut self, file: FileName) -> io::Result<()> {
        self.0.remove(file)
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.0.sync_names()
    }
}

pub fn run() {
    println!(
        "\nhand-over of spilled entries of about 16 keys of 108 bytes, by the size of the store"
    );
    for bits in [8_u32, 12, 16] {
        let keys = 16_u64 << bits;
        let path = folder("handover");
        let spill = Blocks::open(Counted(Folder::buffered(&path).unwrap())).unwrap();
        let budget = (keys as usize * 30) + (160 << bits) + 500_000;
        let mut store = Store::<u64, [u8; 100], _, _>::with(bits, budget, spill, Mixed).unwrap();
        for key in 0..keys {
            store.insert(super::zipf::scattered(key), [key as u8; 100]).unwrap();
        }
        let mut other =
            Store::<u64, [u8; 100], _, _>::with(bits, usize::MAX, NoSpill, Mixed).unwrap();
        let spilled: Vec<u32> = (0..1 << bits)
            .filter(|&entry| !store.stats(entry).unwrap().resident)
            .take(64)
            .collect();
        TOUCHED.set(0);
        let mut moved = 0;
        let nanos = timed(|| {
            for &entry in &spilled {
                let bytes = store.export(entry).unwrap().unwrap();
                moved += bytes.len();
                other.import(entry, &bytes).unwrap();
                store.clear(entry).unwrap();
            }
        });
        let each = spilled.len();
        println!(
            "2^{bits:<2} entries, {keys:>8} keys: {:>6} bytes an entry, {:>6} touched on disk, {:>7.0} ns",
            moved / each,
            TOUCHED.get() / each as u64,
            nanos / each as f64,
        );
        drop(store);
        std::fs::remove_dir_all(path).unwrap();
    }
}
