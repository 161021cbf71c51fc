//! Owners of mailboxes that do what workers do: offer, keep what is refused, park when stuck.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use shuttle::thread;

use super::mailbox::Mailbox;

/// A component of an owner.
pub(crate) type Place = (usize, u32);

/// Where an item was born, and its number there.
type Item = (usize, u64);

/// Components an owner can have.
const COMPONENTS: usize = 2;

/// What one owner is to do.
#[derive(Default)]
pub(crate) struct Owner {
    source: Option<(u64, Place)>,
    /// By component: how many items come, and where each is passed on to.
    stages: [(u64, Option<Place>); COMPONENTS],
}

impl Owner {
    pub(crate) fn source(items: u64, to: Place) -> Self {
        Owner { source: Some((items, to)), ..Owner::default() }
    }

    pub(crate) fn relay(mut self, component: u32, items: u64, to: Place) -> Self {
        self.stages[component as usize] = (items, Some(to));
        self
    }

    pub(crate) fn sink(mut self, component: u32, items: u64) -> Self {
        self.stages[component as usize] = (items, None);
        self
    }
}

/// The items that each sink got, in order.
pub(crate) struct Trail(Vec<Vec<(u32, Item)>>);

impl Trail {
    /// The numbers of `sender`'s items that came to a sink.
    pub(crate) fn of(&self, owner: usize, component: u32, sender: usize) -> Vec<u64> {
        self.0[owner]
            .iter()
            .filter(|(c, (from, _))| *c == component && *from == sender)
            .map(|&(_, (_, number))| number)
            .collect()
    }
}

type Post = (u32, Item);

/// Runs owners to their end, each on a thread of its own, with queues of `capacity`.
pub(crate) fn run(capacity: usize, owners: Vec<Owner>) -> Trail {
    let mailboxes: Arc<Vec<Mailbox<Post>>> =
        Arc::new(owners.iter().map(|_| Mailbox::new(COMPONENTS, capacity)).collect());
    let threads: Vec<_> = owners
        .into_iter()
        .enumerate()
        .map(|(me, owner)| {
            let mailboxes = Arc::clone(&mailboxes);
            thread::spawn(move || work(me, &owner, &mailboxes))
        })
        .collect();
    Trail(threads.into_iter().map(|thread| thread.join().unwrap()).collect())
}

fn work(me: usize, owner: &Owner, mailboxes: &[Mailbox<Post>]) -> Vec<(u32, Item)> {
    let mut arrived = Vec::new();
    // One lane a target, as the outbox has one an edge.
    let mut born: VecDeque<(Place, Item)> = owner
        .source
        .iter()
        .flat_map(|&(items, to)| (0..items).map(move |number| (to, (me, number))))
        .collect();
    let mut queues: [VecDeque<Item>; COMPONENTS] = Default::default();
    let mut outboxes: [VecDeque<(Place, Item)>; COMPONENTS] = Default::default();
    let mut left = owner.stages.map(|(items, _)| items);
    let mut posts = Vec::new();
    let mut wake = Vec::new();
    loop {
        mailboxes[me].take(&mut posts);
        for (component, item) in posts.drain(..) {
            queues[component as usize].push_back(item);
        }
        let mut ran = offer(me, &mut born, mailboxes);
        for (c, component) in (0..COMPONENTS).zip(0u32..) {
            ran |= offer(me, &mut outboxes[c], mailboxes);
            // A component whose outbox is full stands still, and only that component.
            if !outboxes[c].is_empty() {
                continue;
            }
            let Some(item) = queues[c].pop_front() else { continue };
            match owner.stages[c].1 {
                Some(to) => outboxes[c].push_back((to, item)),
                None => arrived.push((component, item)),
            }
            left[c] -= 1;
            mailboxes[me].consumed(component, &mut wake);
            for sender in wake.drain(..) {
                if sender as usize != me {
                    mailboxes[sender as usize].wake();
                }
            }
            ran = true;
        }
        let sent = born.is_empty() && outboxes.iter().all(VecDeque::is_empty);
        if sent && left == [0; COMPONENTS] {
            return arrived;
        }
        if !ran {
            mailboxes[me].park(Duration::from_millis(1));
        }
    }
}

/// Offers what waits, in order, until one is refused; whether any left.
fn offer(me: usize, waiting: &mut VecDeque<(Place, Item)>, mailboxes: &[Mailbox<Post>]) -> bool {
    let mut any = false;
    while let Some(&((to, component), item)) = waiting.front() {
        let from = u32::try_from(me).unwrap();
        if mailboxes[to].offer(component, from, (component, item)).is_err() {
            break;
        }
        waiting.pop_front();
        any = true;
    }
    any
}
