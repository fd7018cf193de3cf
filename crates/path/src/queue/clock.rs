//! The timer of a discipline that updates its probability at regular times. A link has no clock: the
//! discipline catches up with the time of each call.

use thalweg_units::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Clock {
    next: Instant,
    interval: Duration,
}

impl Clock {
    /// The first tick comes one interval after `since`. An interval of zero counts as one millisecond.
    pub(super) fn new(interval: Duration, since: Instant) -> Self {
        let interval = match interval {
            Duration::ZERO => Duration::from_millis(1),
            interval => interval,
        };
        Clock {
            next: since + interval,
            interval,
        }
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// The time of the next tick, if it is due by `now`. It will not be returned again.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Instant> {
        let at = self.next;
        if at > now || at == Instant::NEVER {
            return None;
        }
        self.next = at + self.interval;
        Some(at)
    }

    /// Skips all ticks that are due by `now`; returns their number.
    pub(super) fn skip(&mut self, now: Instant) -> u64 {
        if self.next > now {
            return 0;
        }
        let ticks = (now - self.next).as_nanos() / self.interval.as_nanos() + 1;
        self.next += self.interval * ticks;
        ticks
    }
}

/// Asserts that catching up after each of `spans` (in updates) gives the same state as updating one by one. `catch_up`
/// returns the state to compare.
#[cfg(test)]
pub(super) fn assert_late_is_punctual<D, S: PartialEq + std::fmt::Debug>(
    make: impl Fn() -> D,
    update: Duration,
    spans: &[u64],
    catch_up: impl Fn(&mut D, Instant) -> S,
) {
    let (mut late, mut punctual) = (make(), make());
    let mut updates = 0;
    for span in spans {
        let mut state = None;
        for _ in 0..*span {
            updates += 1;
            state = Some(catch_up(&mut punctual, Instant::START + update * updates));
        }
        let at_once = catch_up(&mut late, Instant::START + update * updates);
        assert_eq!(Some(at_once), state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_at_multiples_of_the_interval_whether_skipped_or_not() {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        let mut clock = Clock::new(Duration::from_millis(15), at(0));
        assert_eq!(clock.tick(at(14)), None);
        assert_eq!(clock.tick(at(31)), Some(at(15)));
        assert_eq!(clock.tick(at(31)), Some(at(30)));
        assert_eq!(clock.tick(at(31)), None);
        assert_eq!(clock.skip(at(60)), 2); // 45 and 60
        assert_eq!(clock.skip(at(60)), 0);
        assert_eq!(clock.tick(at(74)), None);
        assert_eq!(clock.tick(at(75)), Some(at(75)));
    }
}
