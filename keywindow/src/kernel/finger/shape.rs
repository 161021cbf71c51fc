//! The tree is a B-tree, and each node stands for what it should.

#![allow(clippy::cast_sign_loss, reason = "small numbers that are not negative")]

use alloc::vec;
use alloc::vec::Vec;

use super::{Finger, MAX, MIN, NONE, Side};
use crate::Aggregate;
use crate::kernel::Kernel;

/// The list of all records, which tells every order apart.
struct List;

impl Aggregate for List {
    type In = u32;
    type Acc = Vec<u32>;
    type Out = Vec<u32>;

    fn create(&self) -> Vec<u32> {
        Vec::new()
    }
    fn add(&self, acc: &mut Vec<u32>, record: &u32) {
        acc.push(*record);
    }
    fn merge(&self, older: &Vec<u32>, newer: &Vec<u32>) -> Vec<u32> {
        [older.as_slice(), newer].concat()
    }
    fn get(&self, acc: &Vec<u32>) -> Vec<u32> {
        acc.clone()
    }
    fn same(&self, a: &Vec<u32>, b: &Vec<u32>) -> bool {
        a == b
    }
}

type Tree = Finger<Vec<u32>, i64>;

/// All of a subtree, checked on the way.
fn all(tree: &Tree, id: u32, side: Side, parent: u32) -> Vec<u32> {
    let node = tree.node(id);
    assert_eq!((node.side, node.parent), (side, parent));
    let least = match (side, node.level) {
        (Side::Root, 0) => 0,
        (Side::Root, _) => 2,
        _ => MIN,
    };
    assert!((least..=MAX).contains(&node.slots.len()), "{} slots", node.slots.len());
    assert!(node.slots.is_sorted_by_key(|slot| slot.0));
    if node.level == 0 {
        assert!(node.children.is_empty());
        assert_eq!(tree.left == id, side == Side::Left || tree.root == id);
        assert_eq!(tree.right == id, side == Side::Right || tree.root == id);
        let elements = node.slots.iter().flat_map(|slot| slot.1.clone()).collect();
        stands_for(tree, id, &elements);
        return elements;
    }
    assert_eq!(node.children.len(), node.slots.len());
    let last = node.children.len() - 1;
    let (mut whole, mut own) = (Vec::new(), Vec::new());
    for (at, (&child, (first, merged))) in node.children.iter().zip(&node.slots).enumerate() {
        let below = match side {
            Side::Left | Side::Root if at == 0 => Side::Left,
            Side::Right | Side::Root if at == last => Side::Right,
            _ => Side::Inner,
        };
        assert_eq!(tree.node(child).level + 1, node.level);
        let elements = all(tree, child, below, id);
        if below == Side::Inner {
            assert_eq!(&elements, merged);
            own.extend(elements.clone());
        }
        let least = tree.node(child).slots.first().map(|slot| slot.0);
        assert!(below == Side::Left || least >= Some(*first));
        whole.extend(elements);
    }
    stands_for(tree, id, &own);
    whole
}

/// Whether the merge of a node on a spine is that of its own elements and of those above.
fn stands_for(tree: &Tree, id: u32, own: &Vec<u32>) {
    let node = tree.node(id);
    let above = match tree.nodes.get(node.parent as usize) {
        Some(parent) if parent.side != Side::Root => parent.agg.clone(),
        _ => Vec::new(),
    };
    match node.side {
        Side::Root => assert_eq!(&node.agg, own),
        Side::Left => assert_eq!(node.agg, [own.as_slice(), &above].concat()),
        Side::Right => assert_eq!(node.agg, [above.as_slice(), own].concat()),
        Side::Inner => {}
    }
}

fn check(tree: &Tree, model: &[(i64, u32)]) {
    let right: Vec<u32> = model.iter().map(|&(_, x)| x).collect();
    assert_eq!(all(tree, tree.root, Side::Root, NONE), right);
    assert_eq!(tree.query(&List), right);
    assert_eq!(Kernel::<List, i64>::len(tree), model.len());
    let elements = tree.iter().map(|(time, acc)| (*time, acc[0]));
    assert!(elements.eq(model.iter().copied()));
}

/// Filling, draining and swinging over several levels: at the ends, anywhere, one by one and in bulk.
#[test]
fn the_shape_holds_after_any_steps() {
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((random >> 33) % below).cast_signed()
    };
    for apart in [1, 4, 40] {
        let mut tree: Tree = Kernel::<List, i64>::new(&List);
        let (mut model, mut now) = (Vec::<(i64, u32)>::new(), 0);
        for step in 0..6_000_u32 {
            let filling = step / 700 % 2 == 0;
            let insert = |model: &mut Vec<(i64, u32)>, time| {
                let at = model.partition_point(|slot| slot.0 <= time);
                model.insert(at, (time, step));
            };
            match (next(10), filling) {
                (0..=5, true) | (0..=1, false) => {
                    now += next(apart);
                    let back = [0, 0, 3, 50, 5_000][next(5) as usize];
                    let time = now - next(back + 1);
                    tree.insert(&List, time, vec![step]);
                    insert(&mut model, time);
                }
                (6, _) if step % 5 == 0 => {
                    let start = now - next(300);
                    let mut times: Vec<i64> =
                        (0..next(60)).map(|_| start + next(30 * apart)).collect();
                    times.sort_unstable();
                    tree.extend(&List, times.iter().map(|&time| (time, vec![step])));
                    times.into_iter().for_each(|time| insert(&mut model, time));
                }
                (7, _) if step % 5 == 0 => {
                    let (first, spread) = (model.first().map_or(0, |slot| slot.0), now + 50);
                    let reach = [1, 5, 100, spread.cast_unsigned().max(1)][next(4) as usize];
                    let cut = first + next(reach);
                    let gone = model.partition_point(|slot| slot.0 < cut);
                    assert_eq!(tree.evict_before(&List, cut), gone);
                    model.drain(..gone);
                }
                _ => {
                    let gone = if model.is_empty() { None } else { Some(model.remove(0).0) };
                    assert_eq!(tree.pop(&List), gone);
                }
            }
            if step % 7 == 0 || model.len() < 40 {
                check(&tree, &model);
            }
            let (from, until) = (now - next(400), now - next(100) + 20);
            let inside = model.iter().filter(|slot| (from..until).contains(&slot.0));
            let right: Vec<u32> = inside.map(|slot| slot.1).collect();
            assert_eq!(tree.range(&List, from, until).unwrap_or_default(), right);
            let first = model.iter().map(|slot| slot.0).find(|&time| time >= from);
            assert_eq!(tree.first_from(from), first);
        }
    }
}

#[test]
fn memory_comes_back() {
    let mut tree: Tree = Kernel::<List, i64>::new(&List);
    tree.extend(&List, (0..20_000).map(|time| (time, vec![1])));
    assert!(tree.nodes.len() > 1_500);
    assert_eq!(tree.evict_before(&List, 19_950), 19_950);
    assert!(tree.nodes.capacity() < 100, "{} nodes", tree.nodes.capacity());
    check(&tree, &(19_950..20_000).map(|time| (time, 1)).collect::<Vec<_>>());
}
