//! What arrives, and what a free place brings about.

use super::engine::{Engine, GATHER};
use super::error::{Cause, SimError};
use super::hands::Office;
use super::post::{COORDINATOR, Parcel, Post, Slot};
use super::seat::At;

impl Engine<'_> {
    pub(super) fn arrive(&mut self, parcel: Parcel) -> Result<(), SimError> {
        let now = self.net.now;
        let Parcel { from, to, bytes, count, ref post, .. } = parcel;
        // Whoever is gone takes nothing in, but the word that begins the next life there.
        let mut refused = false;
        if to != COORDINATOR {
            let begins = self.begins(to, post);
            let seat = &mut self.seats[to as usize];
            if begins && seat.at == At::Stopped {
                seat.at = At::Rest;
            }
            refused = !begins && (seat.at == At::Stopped || self.workers[to as usize].is_none());
        }
        self.net.trace.words(&[now, 11 << 32 | u64::from(to), post.lane() as u64]);
        match post {
            Post::Report(_) => {
                let Post::Report(report) = parcel.post else { return Ok(()) };
                let office = &mut Office { desk: &mut self.desk, net: &mut self.net };
                self.coordinator.report(now, report, office);
                if self.coordinator.finished() {
                    self.finished_at.get_or_insert(now);
                } else {
                    self.tick_by(now.saturating_add(GATHER));
                }
                return Ok(());
            }
            Post::Failed(..) => {
                let Post::Failed(incarnation, error) = parcel.post else { return Ok(()) };
                if incarnation != self.net.incarnation {
                    // One of an old incarnation: nobody waits for it.
                    return Ok(());
                }
                return self.restart(error, None).map_err(|error| self.failed(error));
            }
            Post::Batch(_) => {
                let node = self.net.node_of[from as usize] as usize;
                self.net.nodes[node].release(bytes, count);
                if refused {
                    return Ok(());
                }
                let node = self.net.node_of[to as usize] as usize;
                self.net.nodes[node].hold(bytes);
                self.net.inboxes[to as usize].push(parcel);
                self.call(to);
                self.check_memory(node);
                return Ok(());
            }
            _ => {}
        }
        if !refused {
            self.net.inboxes[to as usize].push(parcel);
            self.call(to);
        }
        Ok(())
    }

    pub(super) fn check_memory(&mut self, node: usize) {
        if let Some(bytes) = self.net.nodes[node].over.take() {
            let memory = self.net.nodes[node].memory();
            self.crash(node, Cause::Memory { bytes, memory });
        }
    }

    /// A place of a queue is free: whoever was refused hears of it, as far away as it is.
    pub(super) fn free(&mut self, slot: Slot, component: u32) {
        let mut wake = std::mem::take(&mut self.wake);
        let now = self.net.now;
        self.net.queues.free((slot, component), now, &mut wake);
        for sender in wake.drain(..) {
            match self.net.way(slot, sender) {
                0 => self.call(sender),
                way => self.net.room(sender, now.saturating_add(way)),
            }
        }
        self.wake = wake;
    }
}
