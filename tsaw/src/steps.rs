//! The budget of steps that all searches draw on.

/// Counts steps down. A step is one task placed, one stream looked at, or one move weighed.
#[derive(Debug)]
pub(crate) struct Steps {
    limit: u64,
    used: u64,
}

impl Steps {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    /// Takes so many steps, or none and returns false.
    pub(crate) fn take(&mut self, count: usize) -> bool {
        let count = count as u64;
        let enough = count <= self.limit - self.used;
        if enough {
            self.used += count;
        }
        enough
    }

    /// Lends a part of what is left to `work`, and takes back what it did not use.
    pub(crate) fn lend<T>(&mut self, most: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self::new(most.min(self.left()));
        let result = work(&mut part);
        self.used += part.used;
        result
    }

    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    pub(crate) fn left(&self) -> u64 {
        self.limit - self.used
    }
}
