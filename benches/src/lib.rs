//! What the benches share. Timing only: the benches are in `benches/`, the results in `README.md`.

pub mod networks;
pub mod timing;
pub mod window;

use std::sync::Arc;

use streamwright::demos::wordcount::generate::Generator;
use streamwright::{Batch, BoxError, Poll, Push, Spout, SpoutEmitter, Text};

/// The first `lines` lines of the generated text of seed 0.
#[must_use]
pub fn generated(lines: u64) -> Text {
    let mut text = Text::default();
    let mut generator = Generator::new(0, 0, 1, lines);
    while let Some(line) = generator.next_line() {
        text.push_item(line);
    }
    text
}

/// Emits every `tasks`-th line of a text that is in memory.
#[derive(Clone, Debug)]
pub struct MemorySpout {
    text: Arc<Text>,
    next: usize,
    step: usize,
}

impl MemorySpout {
    /// The lines of task `index` of `tasks`.
    #[must_use]
    pub fn new(text: Arc<Text>, index: u32, tasks: u32) -> Self {
        MemorySpout { text, next: index as usize, step: tasks as usize }
    }
}

impl Spout for MemorySpout {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(64) {
            if self.next >= self.text.len() {
                return Ok(Poll::End);
            }
            out.emit(self.text.item(self.next));
            self.next += self.step;
        }
        Ok(Poll::More)
    }
}
