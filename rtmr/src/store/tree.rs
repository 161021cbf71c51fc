//! The ordered map of an entry: a sorted array, then a B+ tree of such arrays.
//!
//! A leaf is one array of pairs, as long as fits about a kilobyte, so that a search touches few
//! cache lines whatever the pairs' size; a small entry is one leaf and costs one allocation. All
//! leaves are equally deep. Arrays grow in small steps and are counted to the byte: each call adds
//! to `grown` by how much the memory of the tree has changed.

use std::mem;

use super::footprint::{Footprint, allocation};

/// Most children of an inner node.
const FANOUT: usize = 32;

#[derive(Clone, Debug)]
pub(crate) enum Tree<K, V> {
    /// Pairs in ascending order of keys; empty only as a whole tree.
    Leaf(Vec<(K, V)>),
    Inner(Box<Inner<K, V>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Inner<K, V> {
    /// `keys[i]` is above all keys of `children[i]`, and at most the least of `children[i + 1]`.
    pub(super) keys: Vec<K>,
    pub(super) children: Vec<Tree<K, V>>,
}

impl<K, V> Default for Tree<K, V> {
    fn default() -> Self {
        Tree::Leaf(Vec::new())
    }
}

/// What the array itself takes.
pub(super) fn array<T>(list: &Vec<T>) -> isize {
    allocation(list.capacity().saturating_mul(size_of::<T>())).cast_signed()
}

pub(super) fn heap<T: Footprint>(value: &T) -> isize {
    value.heap().cast_signed()
}

/// Makes room for `more`, in steps of half the capacity that do not pass `most` unless they must.
fn reserve<T>(list: &mut Vec<T>, more: usize, most: usize, grown: &mut isize) {
    let need = list.len() + more;
    if need > list.capacity() {
        let step = (list.capacity() + (list.capacity() / 2).max(2)).min(most);
        *grown -= array(list);
        list.reserve_exact(need.max(step) - list.len());
        *grown += array(list);
    }
}

/// Where the key is, or else belongs. Short arrays are read from the front: one line, no jumps.
#[inline]
fn position<K: Ord, V>(pairs: &[(K, V)], key: &K) -> Result<usize, usize> {
    if pairs.len() > 8 {
        return pairs.binary_search_by(|(held, _)| held.cmp(key));
    }
    for (at, (held, _)) in pairs.iter().enumerate() {
        if held >= key {
            return if held == key { Ok(at) } else { Err(at) };
        }
    }
    Err(pairs.len())
}

impl<K, V> Inner<K, V> {
    /// The array of separators, that of children, and the node itself.
    pub(super) fn own(&self) -> isize {
        array(&self.keys) + array(&self.children) + allocation(size_of::<Self>()).cast_signed()
    }
}

impl<K: Ord, V> Inner<K, V> {
    fn child(&self, key: &K) -> usize {
        self.keys.partition_point(|held| held <= key)
    }
}

impl<K: Ord, V> Tree<K, V> {
    /// Most pairs of a leaf.
    pub(super) const LEAF: usize = {
        let pair = size_of::<(K, V)>();
        let fit = 1024 / if pair == 0 { 1 } else { pair };
        if fit < 4 {
            4
        } else if fit > 32 {
            32
        } else {
            fit
        }
    };

    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let mut node = self;
        loop {
            match node {
                Tree::Leaf(pairs) => return position(pairs, key).ok().map(|at| &pairs[at].1),
                Tree::Inner(inner) => node = &inner.children[inner.child(key)],
            }
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let mut node = self;
        loop {
            match node {
                Tree::Leaf(pairs) => return position(pairs, key).ok().map(|at| &mut pairs[at].1),
                Tree::Inner(inner) => {
                    let at = inner.child(key);
                    node = &mut inner.children[at];
                }
            }
        }
    }
}

/// Where in a small entry each key is: a byte of its hash for each of the first eight pairs, so
/// that a look into the directory saves the search. A hint only: what it says is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tags(u64);

impl Tags {
    const ONES: u64 = 0x0101_0101_0101_0101;

    pub(crate) fn of<K, V>(tree: &Tree<K, V>, tag: impl Fn(&K) -> u8) -> Self {
        let Tree::Leaf(pairs) = tree else { return Self::default() };
        let first = pairs.iter().take(8).map(|(key, _)| tag(key));
        Self(first.rev().fold(0, |tags, tag| tags << 8 | u64::from(tag)))
    }

    /// The first place with this tag; 8 if there is none.
    #[inline]
    fn find(self, tag: u8) -> usize {
        let zero = self.0 ^ (Self::ONES * u64::from(tag));
        let found = zero.wrapping_sub(Self::ONES) & !zero & (Self::ONES << 7);
        found.trailing_zeros() as usize / 8
    }

    /// After a pair was put at `at`.
    fn insert(&mut self, at: usize, tag: u8) {
        if at < 8 {
            let below = (1 << (8 * at)) - 1;
            self.0 = (self.0 & below) | u64::from(tag) << (8 * at) | (self.0 & !below) << 8;
        }
    }
}

impl<K: Ord, V> Tree<K, V> {
    /// `get`, by way of the tags.
    #[inline]
    pub(crate) fn get_tagged(&self, tags: Tags, tag: u8, key: &K) -> Option<&V> {
        if let Tree::Leaf(pairs) = self
            && let Some((held, value)) = pairs.get(tags.find(tag))
            && held == key
        {
            return Some(value);
        }
        self.get(key)
    }

    /// `get_mut`, by way of the tags.
    #[inline]
    pub(crate) fn get_mut_tagged(&mut self, tags: Tags, tag: u8, key: &K) -> Option<&mut V> {
        let at = match self {
            Tree::Leaf(pairs) => {
                let at = tags.find(tag);
                pairs.get(at).filter(|(held, _)| held == key).map(|_| at)
            }
            Tree::Inner(_) => None,
        };
        match (self, at) {
            (Tree::Leaf(pairs), Some(at)) => pairs.get_mut(at).map(|(_, value)| value),
            (tree, _) => tree.get_mut(key),
        }
    }
}

impl<K: Ord + Clone + Footprint, V: Footprint> Tree<K, V> {
    /// `insert`, and the tags follow.
    pub(crate) fn insert_tagged(
        &mut self,
        tags: &mut Tags,
        tag: u8,
        key: K,
        value: V,
        grown: &mut isize,
    ) {
        if let Tree::Leaf(pairs) = self {
            tags.insert(position(pairs, &key).unwrap_or_else(|at| at), tag);
        }
        self.insert(key, value, grown);
    }

    /// Adds a pair whose key is not there yet.
    pub(crate) fn insert(&mut self, key: K, value: V, grown: &mut isize) {
        *grown += heap(&key) + heap(&value);
        if let Some((least, right)) = self.insert_below(key, value, grown) {
            let left = mem::take(self);
            let root = Inner { keys: vec![least], children: vec![left, right] };
            *grown += root.own();
            *self = Tree::Inner(Box::new(root));
        }
    }

    /// The right half and its separator, if this node was full.
    fn insert_below(&mut self, key: K, value: V, grown: &mut isize) -> Option<(K, Self)> {
        match self {
            Tree::Leaf(pairs) => {
                let at = position(pairs, &key).unwrap_or_else(|at| at);
                if pairs.len() < Self::LEAF {
                    reserve(pairs, 1, Self::LEAF, grown);
                    pairs.insert(at, (key, value));
                    return None;
                }
                // Keys that come in order leave full leaves behind.
                let cut = if at == pairs.len() { at } else { pairs.len() / 2 };
                let mut right = pairs.split_off(cut);
                *grown += array(&right);
                let (half, at) = if at < cut { (pairs, at) } else { (&mut right, at - cut) };
                reserve(half, 1, Self::LEAF, grown);
                half.insert(at, (key, value));
                let least = right[0].0.clone();
                *grown += heap(&least);
                Some((least, Tree::Leaf(right)))
            }
            Tree::Inner(inner) => {
                let at = inner.child(&key);
                let (least, right) = inner.children[at].insert_below(key, value, grown)?;
                reserve(&mut inner.keys, 1, FANOUT, grown);
                inner.keys.insert(at, least);
                reserve(&mut inner.children, 1, FANOUT, grown);
                inner.children.insert(at + 1, right);
                if inner.children.len() <= FANOUT {
                    return None;
                }
                let cut = inner.children.len() / 2;
                let right = Inner {
                    children: inner.children.split_off(cut),
                    keys: inner.keys.split_off(cut),
                };
                *grown += right.own();
                let least = inner.keys.pop()?;
                Some((least, Tree::Inner(Box::new(right))))
            }
        }
    }

    /// Most that one `insert` can add to the memory of a tree, but for what key and value hold.
    pub(crate) fn step(&self) -> usize {
        let node = allocation((FANOUT + 1) * (size_of::<K>() + size_of::<Self>()) + 64) + 64;
        allocation(Self::LEAF * size_of::<(K, V)>()) + (self.depth() + 1) * node
    }

    fn depth(&self) -> usize {
        let (mut node, mut depth) = (self, 0);
        while let Tree::Inner(inner) = node {
            depth += 1;
            let Some(first) = inner.children.first() else { break };
            node = first;
        }
        depth
    }

    /// Takes a key out.
    pub(crate) fn remove(&mut self, key: &K, grown: &mut isize) -> Option<V> {
        let removed = self.remove_below(key, grown)?;
        while let Tree::Inner(inner) = self {
            if inner.children.len() > 1 {
                break;
            }
            *grown -= inner.own();
            *self = inner.children.pop().unwrap_or_default();
        }
        Some(removed)
    }

    fn remove_below(&mut self, key: &K, grown: &mut isize) -> Option<V> {
        match self {
            Tree::Leaf(pairs) => {
                let (key, value) = pairs.remove(position(pairs, key).ok()?);
                *grown -= heap(&key) + heap(&value);
                if pairs.is_empty() {
                    *grown -= array(pairs);
                    *pairs = Vec::new();
                }
                Some(value)
            }
            Tree::Inner(inner) => {
                let at = inner.child(key);
                let removed = inner.children[at].remove_below(key, grown)?;
                inner.mend(at, grown);
                Some(removed)
            }
        }
    }

    /// Pairs of a leaf, children of an inner node; and the most of them.
    fn width(&self) -> (usize, usize) {
        match self {
            Tree::Leaf(pairs) => (pairs.len(), Self::LEAF),
            Tree::Inner(inner) => (inner.children.len(), FANOUT),
        }
    }
}

impl<K: Ord + Clone + Footprint, V: Footprint> Inner<K, V> {
    /// Drops the child `at` if it is empty, joins it with a neighbour if both are small.
    fn mend(&mut self, at: usize, grown: &mut isize) {
        let (width, most) = self.children[at].width();
        if width == 0 {
            if let Tree::Inner(empty) = self.children.remove(at) {
                *grown -= empty.own();
            }
            if !self.keys.is_empty() {
                let separator = self.keys.remove(at.saturating_sub(1));
                *grown -= heap(&separator);
            }
            return;
        }
        let fits = |other: usize| {
            self.children.get(other).is_some_and(|other| other.width().0 + width <= most * 3 / 4)
        };
        if width > most / 4 {
            return;
        }
        if fits(at + 1) {
            self.join(at, grown);
        } else if at > 0 && fits(at - 1) {
            self.join(at - 1, grown);
        }
    }

    /// Moves all of child `at + 1` into child `at`.
    fn join(&mut self, at: usize, grown: &mut isize) {
        let separator = self.keys.remove(at);
        let right = self.children.remove(at + 1);
        match (&mut self.children[at], right) {
            (Tree::Leaf(left), Tree::Leaf(mut right)) => {
                *grown -= heap(&separator) + array(&right);
                reserve(left, right.len(), 0, grown);
                left.append(&mut right);
            }
            (Tree::Inner(left), Tree::Inner(mut right)) => {
                *grown -= right.own();
                reserve(&mut left.keys, right.keys.len() + 1, 0, grown);
                left.keys.push(separator);
                left.keys.append(&mut right.keys);
                reserve(&mut left.children, right.children.len(), 0, grown);
                left.children.append(&mut right.children);
            }
            // All leaves are equally deep.
            (_, right) => {
                self.keys.insert(at, separator);
                self.children.insert(at + 1, right);
            }
        }
    }
}
