//! The other crates, each used as its documentation has it.

use acker::RootId;
use anchorhash::AnchorHash;
use consistent_hash_ring::RingBuilder;
use jumphash::JumpHasher;

use super::Contender;

pub fn all(members: u32, points: u32) -> Vec<Box<dyn Contender>> {
    let mut ring = Hashring { ring: hashring::HashRing::new(), points };
    let vnodes = |member| (0..points).map(move |index| (member, index));
    ring.ring.batch_add((0..members).flat_map(vnodes).collect());
    let resource = anchorhash::Builder::default().with_resources(0..members);
    let probes = mpchash::HashRing::new();
    (0..members).for_each(|member| probes.add(member));
    vec![
        Box::new(ring),
        Box::new(Consistent(
            RingBuilder::default().vnodes(points as usize).nodes_iter(0..members).build(),
        )),
        Box::new(HashRing(hash_ring::HashRing::new(
            (0..members).collect(),
            isize::try_from(points).unwrap(),
        ))),
        Box::new(Anchor(resource.build(2_048))),
        Box::new(Jump { hasher: JumpHasher::new_with_keys(1, 2), members }),
        Box::new(Probes(probes)),
    ]
}

struct Hashring {
    ring: hashring::HashRing<(u32, u32)>,
    points: u32,
}

impl Contender for Hashring {
    fn name(&self) -> &'static str {
        "hashring"
    }

    fn owner(&self, root: RootId) -> u32 {
        self.ring.get(&root.get()).unwrap().0
    }

    fn add(&mut self, member: u32) -> bool {
        self.ring.batch_add((0..self.points).map(|index| (member, index)).collect());
        true
    }

    fn remove(&mut self, member: u32) -> bool {
        (0..self.points).all(|index| self.ring.remove(&(member, index)).is_some())
    }
}

struct Consistent(consistent_hash_ring::Ring<u32>);

impl Contender for Consistent {
    fn name(&self) -> &'static str {
        "consistent_hash_ring"
    }

    fn owner(&self, root: RootId) -> u32 {
        *self.0.get(root.get())
    }

    fn add(&mut self, member: u32) -> bool {
        self.0.insert(member)
    }

    fn remove(&mut self, member: u32) -> bool {
        self.0.remove(&member)
    }
}

struct HashRing(hash_ring::HashRing<u32>);

impl Contender for HashRing {
    fn name(&self) -> &'static str {
        "hash_ring"
    }

    fn owner(&self, root: RootId) -> u32 {
        *self.0.get_node(root.get().to_string()).unwrap()
    }

    fn add(&mut self, member: u32) -> bool {
        self.0.add_node(&member);
        true
    }

    fn remove(&mut self, member: u32) -> bool {
        self.0.remove_node(&member);
        true
    }
}

struct Anchor(AnchorHash<u64, u32, std::hash::RandomState>);

impl Contender for Anchor {
    fn name(&self) -> &'static str {
        "anchorhash"
    }

    fn owner(&self, root: RootId) -> u32 {
        *self.0.get_resource(root.get()).unwrap()
    }

    fn add(&mut self, member: u32) -> bool {
        self.0.add_resource(member).is_ok()
    }

    fn remove(&mut self, member: u32) -> bool {
        self.0.remove_resource(&member).is_ok()
    }
}

/// It has numbers instead of members, and only the last can go.
struct Jump {
    hasher: JumpHasher,
    members: u32,
}

impl Contender for Jump {
    fn name(&self) -> &'static str {
        "jumphash"
    }

    fn owner(&self, root: RootId) -> u32 {
        self.hasher.slot(&root.get(), self.members)
    }

    fn add(&mut self, member: u32) -> bool {
        self.members += u32::from(member == self.members);
        true
    }

    fn remove(&mut self, _: u32) -> bool {
        false
    }
}

/// One point a member, and many probes instead.
struct Probes(mpchash::HashRing<u32>);

impl Contender for Probes {
    fn name(&self) -> &'static str {
        "mpchash"
    }

    fn owner(&self, root: RootId) -> u32 {
        *self.0.node(&root.get()).unwrap().node()
    }

    fn add(&mut self, member: u32) -> bool {
        self.0.add(member);
        true
    }

    fn remove(&mut self, member: u32) -> bool {
        self.0.remove(&member);
        true
    }
}
