//! What a look-up on the ring costs, and a change of it, beside other crates.
//!
//! All look up the same roots, drawn at random; the crates that hash by themselves get the root
//! as 8 bytes or as what their interface asks for. Contenders take turns; a figure is the median
//! of their turns, in CPU time of the thread. A move is a root that has another owner after one
//! member was added; a wrong one goes to a member that was there before.
//!
//! `cargo bench -p benches --bench ring --features peers`; without the feature only ours runs.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[cfg(feature = "peers")]
#[path = "ring/peers.rs"]
mod peers;

use std::hint::black_box;

use acker::{IdGen, Ring, RootId};
use benches::timing::{median, timed};

const POINTS: u32 = 160;
const LOOKUPS: usize = 20_000;
const TURNS: usize = 25;

pub trait Contender {
    fn name(&self) -> &'static str;
    fn owner(&self, root: RootId) -> u32;
    /// Looks all roots up, and sums the owners so that none is left out.
    fn owners(&self, roots: &[RootId]) -> u64 {
        roots.iter().map(|&root| u64::from(self.owner(root))).sum()
    }
    /// Adds this member; false if this cannot be done.
    fn add(&mut self, member: u32) -> bool;
    /// Removes this member; false if this cannot be done.
    fn remove(&mut self, member: u32) -> bool;
}

struct Ours(Ring);

impl Contender for Ours {
    fn name(&self) -> &'static str {
        "acker"
    }

    fn owner(&self, root: RootId) -> u32 {
        self.0.owner(root).unwrap()
    }

    fn owners(&self, roots: &[RootId]) -> u64 {
        roots.iter().map(|&root| u64::from(self.0.owner(root).unwrap())).sum()
    }

    fn add(&mut self, member: u32) -> bool {
        black_box(self.0.add(member).unwrap());
        true
    }

    fn remove(&mut self, member: u32) -> bool {
        black_box(self.0.remove(member).unwrap());
        true
    }
}

fn contenders(members: u32) -> Vec<Box<dyn Contender>> {
    #[allow(unused_mut)]
    let mut all: Vec<Box<dyn Contender>> =
        vec![Box::new(Ours(Ring::with_members(members, POINTS)))];
    #[cfg(feature = "peers")]
    all.extend(peers::all(members, POINTS));
    all
}

fn roots(n: usize) -> Vec<RootId> {
    let mut ids = IdGen::from_seed(42, 0);
    (0..n).map(|_| RootId::new(ids.next_id().get()).unwrap()).collect()
}

fn lookups(members: u32) {
    let roots = roots(LOOKUPS);
    let mut all = contenders(members);
    let mut nanos = vec![Vec::new(); all.len()];
    for turn in 0..=TURNS {
        for (contender, nanos) in all.iter().zip(&mut nanos) {
            // The slow ones get fewer: their turns would be all that is left of the caches.
            let some = if contender.name() == "hash_ring" { &roots[..200] } else { &roots[..] };
            let spent = timed(|| {
                black_box(contender.owners(black_box(some)));
            });
            if turn > 0 {
                nanos.push(spent / some.len() as f64);
            }
        }
    }
    println!("\n{members} members x {POINTS} points   ns a look-up   times acker   moved    wrong");
    let medians: Vec<_> = nanos.into_iter().map(median).collect();
    for (contender, &each) in all.iter_mut().zip(&medians) {
        let before: Vec<_> = roots[..2_000].iter().map(|&root| contender.owner(root)).collect();
        let moves = contender.add(members).then(|| {
            let after = roots[..2_000].iter().map(|&root| contender.owner(root));
            let moved: Vec<_> = before.iter().zip(after).filter(|(old, new)| *old != new).collect();
            let wrong = moved.iter().filter(|(_, new)| *new != members).count();
            (moved.len() as f64 / 2_000.0, wrong)
        });
        let moves = moves.map_or("       -        -".to_owned(), |(moved, wrong)| {
            format!("{moved:>8.4} {wrong:>8}")
        });
        let ratio = each / medians[0];
        println!("{:<26} {each:>12.1} {ratio:>13.2} {moves}", contender.name());
    }
}

/// One member more and one less, among a thousand.
fn changes() {
    const MEMBERS: u32 = 1_000;
    println!(
        "\n{MEMBERS} members x {POINTS} points      us to add   times acker   us to remove   times acker"
    );
    let mut first = None;
    for mut contender in contenders(MEMBERS) {
        let turns = if contender.name() == "acker" { 25 } else { 5 };
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for member in MEMBERS..MEMBERS + turns {
            let mut able = true;
            let spent = timed(|| able = contender.add(member));
            let back = timed(|| able &= contender.remove(member));
            if !able {
                break;
            }
            add.push(spent / 1e3);
            remove.push(back / 1e3);
        }
        if add.is_empty() {
            println!("{:<26} cannot do both", contender.name());
            continue;
        }
        let (add, remove) = (median(add), median(remove));
        let (base_add, base_remove) = *first.get_or_insert((add, remove));
        println!(
            "{:<26} {add:>12.1} {:>13.2} {remove:>14.1} {:>13.2}",
            contender.name(),
            add / base_add,
            remove / base_remove
        );
    }
}

fn main() {
    lookups(6);
    lookups(100);
    changes();
}
