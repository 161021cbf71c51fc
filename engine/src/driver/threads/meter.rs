//! What a call of user code costs: thread CPU time, which is a call of the kernel to read, so that
//! short stretches are charged by the wall.

use cpu_time::ThreadTime;

use crate::config::whole;
use crate::core::Nanos;

/// A stretch below this is charged by the wall: if its thread was set aside meanwhile, it would not
/// be so short.
const SHORT: Nanos = 50_000;
/// For how long a reading serves: what the engine itself does meanwhile may be charged to the next
/// long stretch.
const FRESH: Nanos = 1_000_000;

/// The meter of one thread.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// A reading, and when it was taken.
    read: Option<(ThreadTime, Nanos)>,
    /// What was charged since.
    charged: Nanos,
}

impl Meter {
    /// User code begins at `now`.
    pub(crate) fn enter(&mut self, now: Nanos) {
        if self.read.is_none_or(|(_, at)| now.saturating_sub(at) > FRESH) {
            self.read = Some((ThreadTime::now(), now));
            self.charged = 0;
        }
    }

    /// User code took `wall`: what is it charged?
    pub(crate) fn lap(&mut self, wall: Nanos) -> Nanos {
        if wall < SHORT {
            self.charged += wall;
            return wall;
        }
        let Some((read, _)) = self.read.take() else { return wall };
        whole(read.elapsed()).saturating_sub(self.charged).min(wall)
    }
}

#[cfg(test)]
mod tests {
    use super::{FRESH, Meter, SHORT};

    fn burn(time: std::time::Duration) {
        let start = cpu_time::ThreadTime::now();
        while start.elapsed() < time {}
    }

    #[test]
    fn sleep_is_not_charged_and_work_is() {
        let mut meter = Meter::default();
        meter.enter(1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(meter.lap(20_000_000) < 10_000_000);
        meter.enter(30_000_000);
        burn(std::time::Duration::from_millis(5));
        let cost = meter.lap(40_000_000);
        assert!((5_000_000..30_000_000).contains(&cost), "{cost}");
    }

    #[test]
    fn short_stretches_are_charged_by_the_wall_and_not_again_with_a_long_one() {
        let mut meter = Meter::default();
        meter.enter(1);
        assert_eq!(meter.lap(SHORT - 1), SHORT - 1);
        // The reading is fresh: as long as nothing was burnt, the long one has nothing left.
        meter.enter(FRESH / 2);
        meter.charged = u64::MAX / 2;
        assert_eq!(meter.lap(SHORT), 0);
    }
}
