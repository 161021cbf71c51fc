//! A disk in memory that fails when told to, and loses or tears what was not synced in a crash.

#![allow(dead_code, reason = "each test file uses a part")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::rc::Rc;

use rtmr::store::{Disk, FileName};

use super::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and an error told: no space for writes and renames, loss for a sync.
    Error,
    /// Half of a write is done, and an error told.
    Short,
    /// All is done, and an error told.
    Late,
    /// The machine stops in the middle of it.
    Crash,
}

#[derive(Clone, Default)]
struct Inode {
    now: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
}

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<FileName, usize>,
    durable_names: BTreeMap<FileName, usize>,
    /// What was done to names since they were synced.
    pending_names: Vec<(FileName, Option<usize>)>,
    /// Calls that change something, so far.
    calls: u64,
    fault: Option<(u64, Fault)>,
    crashed: bool,
    read: u64,
    written: u64,
}

#[derive(Clone, Default)]
pub struct MemoryDisk(Rc<RefCell<State>>);

fn put(bytes: &mut Vec<u8>, at: u64, new: &[u8]) {
    let at = at as usize;
    if bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
    bytes[at..at + new.len()].copy_from_slice(new);
}

impl State {
    fn change(&mut self) -> io::Result<Option<Fault>> {
        if self.crashed {
            return Err(io::Error::other("crashed"));
        }
        let now = self.calls;
        self.calls += 1;
        let fault = self.fault.filter(|&(at, _)| at == now).map(|(_, fault)| fault);
        self.crashed |= fault == Some(Fault::Crash);
        Ok(fault)
    }

    fn name(&mut self, name: FileName, inode: Option<usize>) {
        match inode {
            Some(inode) => self.names.insert(name, inode),
            None => self.names.remove(&name),
        };
        self.pending_names.push((name, inode));
    }

    fn inode(&self, file: FileName) -> io::Result<usize> {
        self.names.get(&file).copied().ok_or(io::Error::from(ErrorKind::NotFound))
    }
}

impl MemoryDisk {
    /// The call that changes something, counted from now on, with this number fails.
    pub fn fail(&self, call: u64, fault: Fault) {
        let mut state = self.0.borrow_mut();
        state.fault = Some((state.calls + call, fault));
    }

    pub fn calls(&self) -> u64 {
        self.0.borrow().calls
    }

    pub fn crashed(&self) -> bool {
        self.0.borrow().crashed
    }

    /// Bytes read and written so far.
    pub fn traffic(&self) -> (u64, u64) {
        (self.0.borrow().read, self.0.borrow().written)
    }

    /// The power comes back: of what was not synced any part is there.
    pub fn restart(&self, seed: u64) {
        let (mut state, mut random) = (self.0.borrow_mut(), Random::new(seed));
        let kept = random.below(state.pending_names.len() as u64 + 1) as usize;
        let mut names = state.durable_names.clone();
        for &(name, inode) in &state.pending_names[..kept] {
            match inode {
                Some(inode) => names.insert(name, inode),
                None => names.remove(&name),
            };
        }
        (state.pending_names, state.names) = (Vec::new(), names.clone());
        state.durable_names = names;
        for inode in &mut state.inodes {
            for (at, bytes) in std::mem::take(&mut inode.pending) {
                match random.below(3) {
                    0 => put(&mut inode.durable, at, &bytes),
                    1 => {
                        let part = random.below(bytes.len() as u64 + 1) as usize;
                        put(&mut inode.durable, at, &bytes[..part]);
                    }
                    _ => {}
                }
            }
            inode.now = inode.durable.clone();
        }
        (state.crashed, state.fault) = (false, None);
    }

    /// The process was killed: all that was written is there, synced or not.
    pub fn kill(&self) {
        let mut state = self.0.borrow_mut();
        (state.crashed, state.fault) = (false, None);
    }

    pub fn contents(&self, file: FileName) -> Vec<u8> {
        let state = self.0.borrow();
        state.inodes[state.names[&file]].now.clone()
    }

    pub fn set_contents(&self, file: FileName, bytes: Vec<u8>) {
        let mut state = self.0.borrow_mut();
        let inode = state.names[&file];
        state.inodes[inode] = Inode { now: bytes.clone(), durable: bytes, pending: Vec::new() };
    }

    /// A disk of its own with the same files.
    pub fn copy(&self) -> Self {
        let copy = Self::default();
        let state = self.0.borrow();
        for (&name, &inode) in &state.names {
            let now = state.inodes[inode].now.clone();
            let mut target = copy.0.borrow_mut();
            let at = target.inodes.len();
            target.inodes.push(Inode { durable: now.clone(), now, pending: Vec::new() });
            target.names.insert(name, at);
            target.durable_names.insert(name, at);
        }
        copy
    }
}

fn full() -> io::Error {
    io::Error::from(ErrorKind::StorageFull)
}

impl Disk for MemoryDisk {
    fn list(&mut self) -> io::Result<Vec<FileName>> {
        Ok(self.0.borrow().names.keys().copied().collect())
    }

    fn len(&mut self, file: FileName) -> io::Result<u64> {
        let state = self.0.borrow();
        Ok(state.inodes[state.inode(file)?].now.len() as u64)
    }

    fn read(&mut self, file: FileName, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        if state.crashed {
            return Err(io::Error::other("crashed"));
        }
        state.read += into.len() as u64;
        let held = &state.inodes[state.inode(file)?].now;
        let range = at as usize..at as usize + into.len();
        into.copy_from_slice(held.get(range).ok_or(io::Error::from(ErrorKind::UnexpectedEof))?);
        Ok(())
    }

    fn write(&mut self, file: FileName, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        let fault = state.change()?;
        if fault == Some(Fault::Error) {
            return Err(full());
        }
        let bytes = if matches!(fault, Some(Fault::Short | Fault::Crash)) {
            &bytes[..bytes.len() / 2]
        } else {
            bytes
        };
        if !state.names.contains_key(&file) {
            state.inodes.push(Inode::default());
            let inode = state.inodes.len() - 1;
            state.name(file, Some(inode));
        }
        let inode = state.names[&file];
        put(&mut state.inodes[inode].now, at, bytes);
        state.inodes[inode].pending.push((at, bytes.to_vec()));
        state.written += bytes.len() as u64;
        fault.map_or(Ok(()), |_| Err(full()))
    }

    fn sync(&mut self, file: FileName) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        let fault = state.change()?;
        let inode = state.inode(file)?;
        let inode = &mut state.inodes[inode];
        match fault {
            // What the cache held is gone, and still read back until it is dropped.
            Some(Fault::Error | Fault::Short) => inode.pending.clear(),
            Some(Fault::Crash) => {}
            Some(Fault::Late) | None => {
                for (at, bytes) in std::mem::take(&mut inode.pending) {
                    put(&mut inode.durable, at, &bytes);
                }
            }
        }
        fault.map_or(Ok(()), |_| Err(io::Error::other("lost")))
    }

    fn rename(&mut self, from: FileName, to: FileName) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        let fault = state.change()?;
        let inode = state.inode(from)?;
        if matches!(fault, Some(Fault::Error | Fault::Short)) {
            return Err(full());
        }
        // One step, as a journal makes it.
        state.names.remove(&from);
        state.name(to, Some(inode));
        fault.map_or(Ok(()), |_| Err(full()))
    }

    fn remove(&mut self, file: FileName) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        match state.change()? {
            Some(Fault::Error | Fault::Short) => Err(io::Error::other("refused")),
            fault => {
                if state.names.contains_key(&file) {
                    state.name(file, None);
                }
                fault.map_or(Ok(()), |_| Err(io::Error::other("crashed")))
            }
        }
    }

    fn sync_names(&mut self) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        if state.change()?.is_some() {
            return Err(io::Error::other("refused"));
        }
        state.durable_names = state.names.clone();
        state.pending_names.clear();
        Ok(())
    }
}
