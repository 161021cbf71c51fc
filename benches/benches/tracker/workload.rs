//! Messages: every root gets one init and four acks, in random order among the pending roots.

use acker::{Delta, EdgeId, IdGen, Op, RootId, mix};

const ACKS: u8 = 4;

/// A root and the acks that it has had.
#[derive(Clone, Copy)]
struct Live {
    root: RootId,
    acked: u8,
}

pub struct Workload {
    live: Vec<Live>,
    born: u64,
    random: IdGen,
}

/// The `k`-th edge of a root: cheap, so that the table is what is measured.
fn edge(root: RootId, k: u8) -> Delta {
    Delta::of(&[EdgeId::new(root.get().rotate_left(7 + 13 * u32::from(k))).unwrap()])
}

impl Workload {
    pub fn new(pending: usize, seed: u64) -> Self {
        let live = Vec::with_capacity(pending);
        Workload { live, born: 0, random: IdGen::from_seed(seed, 0) }
    }

    /// The next root, whose tree is a chain of four edges.
    fn init(&mut self) -> (Live, Op) {
        self.born += 1;
        let root = mix(self.born, 0);
        (Live { root, acked: 0 }, Op::init(root, 1, edge(root, 0)))
    }

    fn ack(live: Live) -> Op {
        let k = live.acked;
        let produced = if k + 1 < ACKS { edge(live.root, k + 1) } else { Delta::EMPTY };
        Op::ack(live.root, edge(live.root, k), produced)
    }

    /// The inits of the roots that are pending from the start.
    pub fn fill(&mut self) -> Vec<Op> {
        (0..self.live.capacity())
            .map(|_| {
                let (live, op) = self.init();
                self.live.push(live);
                op
            })
            .collect()
    }

    /// The next `n` messages: acks of random roots; a root that is done makes way for a new one.
    pub fn messages(&mut self, n: usize) -> Vec<Op> {
        let mut ops = Vec::with_capacity(n + 1);
        while ops.len() < n {
            let word = u128::from(self.random.next_id().get());
            let at = ((word * self.live.len() as u128) >> 64) as usize;
            ops.push(Self::ack(self.live[at]));
            self.live[at].acked += 1;
            if self.live[at].acked == ACKS {
                let (live, op) = self.init();
                self.live[at] = live;
                ops.push(op);
            }
        }
        ops
    }

    /// All acks that are missing, each root's merged into one.
    pub fn drain(&mut self) -> Vec<Op> {
        let rest = |live: Live| Op::ack(live.root, edge(live.root, live.acked), Delta::EMPTY);
        self.live.drain(..).map(rest).collect()
    }
}
