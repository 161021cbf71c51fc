//! Where spout tasks are, and how they go back there in a later incarnation.

use std::sync::Arc;

use super::contract::Sink;
use super::host::guarded;
use super::message::{Change, Place};
use super::shared::Shared;
use super::spout_host::SpoutHost;
use super::{Epoch, Resume};
use crate::component::{Seek, Spout};
use crate::report::{RunError, chain};

impl<S: Spout> SpoutHost<S> {
    /// Brings new instances to where the incarnation before can be taken up, and tells where they
    /// are, if they can say so.
    pub(super) fn go_on(&mut self, cx: &mut Shared, sink: &mut dyn Sink) -> Result<(), RunError> {
        let resume = cx.resume.clone();
        for at in 0..self.tasks.len() {
            if let Some(resume) = &resume {
                self.seek(at, resume, cx, sink)?;
            }
            if cx.plan.config.restarts == 0 {
                continue;
            }
            let place = self.place(at, cx, sink);
            if let Some(error) = cx.fatal.take() {
                return Err(error);
            }
            if place.is_some() {
                let task = &mut self.tasks[at];
                task.seekable = true;
                let (task, epoch) = (task.local.id, task.epoch);
                cx.changes.list.push(Change::Place { task, epoch, place });
            }
        }
        Ok(())
    }

    fn seek(
        &mut self,
        at: usize,
        resume: &Arc<Resume>,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        let task = &mut self.tasks[at];
        let id = task.local.id;
        let Some(Some(place)) = resume.places.get(id as usize) else { return Ok(()) };
        task.clock.mark = place.mark;
        // Those that were left out of it must not fall behind it; the others are not below it.
        task.clock.floor = resume.watermark;
        let to = if cx.tracked() { Seek::To(&place.position) } else { Seek::Onward };
        let spout = &mut self.spouts[at];
        sink.enter(id);
        let outcome = guarded(|| spout.seek(to).map_err(|error| chain(&*error)));
        task.local.charge(cx.spent(sink.lap(id, 0)));
        match outcome {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) | Err(message) => Err(RunError::Seek {
                component: cx.name_of(id).to_owned(),
                task: task.local.index,
                message,
                cause: resume.cause.clone(),
            }),
        }
    }

    /// A task is about to come to `epoch`: tells where it is, if anyone may go back there.
    pub(super) fn tell_place(
        &mut self,
        at: usize,
        epoch: Epoch,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) {
        // At most once nobody goes back.
        if self.tasks[at].seekable && cx.tracked() {
            let place = self.place(at, cx, sink);
            let task = self.tasks[at].local.id;
            cx.changes.list.push(Change::Place { task, epoch, place });
        }
    }

    fn place(&mut self, at: usize, cx: &mut Shared, sink: &mut dyn Sink) -> Option<Place> {
        let (task, spout) = (&mut self.tasks[at], &self.spouts[at]);
        let id = task.local.id;
        sink.enter(id);
        let outcome = guarded(|| spout.position());
        task.local.charge(cx.spent(sink.lap(id, 0)));
        match outcome {
            Ok(position) => {
                let (mark, records) = (task.clock.mark, task.told);
                let place = |position: Vec<u8>| Place { position: position.into(), mark, records };
                position.map(place)
            }
            Err(message) => {
                self.fail(at, message, cx);
                None
            }
        }
    }
}
