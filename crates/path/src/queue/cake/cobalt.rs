//! COBALT: CoDel and BLUE side by side, for each queue (`cobalt_should_drop`, `cobalt_queue_full` and `cobalt_queue_empty` of
//! `sch_cake.c`; the paper does not describe it).
//!
//! # Model
//! CoDel signals to a queue whose packets have waited longer than the target for an interval, the next time `interval /
//! sqrt(count)` after the last, and marks what it can mark. Other than RFC 8289, one time, `drop_next`, serves both for the first
//! signal and for the later ones, `count` already counts the signal that it is due after, and below the target it falls again, by
//! one at each time that a signal would have been due, instead of being guessed when dropping resumes.
//!
//! A queue that was at rest for an interval, and whose next packet has already waited longer than the target, gets its first
//! signal at the packet after that one: so it is in `sch_cake.c`, where `drop_next` lies in the past then.
//!
//! BLUE drops at random, marked or not, with a probability that rises by 1/256 when the queue overflows and falls by 1/4096
//! when it is found empty, each at most once in a target.
//!
//! # Limits
//! The square root has double precision, as in [`super::super::codel`].

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Duration, Instant};

/// 1/256 of [`u32::MAX`] and one: how much the probability of BLUE rises.
const INCREMENT: u32 = 1 << 24;
/// 1/4096: how much it falls.
const DECREMENT: u32 = 1 << 20;

/// What all queues have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Wait that is acceptable, and the least time between two updates of BLUE.
    pub(super) target: Duration,
    /// From the first packet above the target to the first signal.
    pub(super) interval: Duration,
    /// Transmission of the largest packet at the bandwidth of the shaper: four of them are acceptable.
    pub(super) mtu_time: Duration,
}

/// What becomes of a packet that leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    pub(super) mark: bool,
    pub(super) drop: bool,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// Signals since the queue was at rest, without those that have decayed.
    count: u32,
    dropping: bool,
    /// When the next signal is due; at rest, until when the queue counts as active.
    drop_next: Instant,
    /// The last update of BLUE, if any.
    updated: Option<Instant>,
    /// The probability of BLUE, of 2^32.
    probability: u32,
}

impl Cobalt {
    /// A packet that has waited for `wait` leaves at `now`.
    pub(super) fn judge(
        &mut self,
        parameters: &Parameters,
        now: Instant,
        wait: Duration,
        can_mark: bool,
        rng: &mut Pcg64Mcg,
    ) -> Signal {
        let above = wait > parameters.target && wait > parameters.mtu_time * 4;
        let due = self.is_due(now);
        let mut is_late = now > self.drop_next;
        if above {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, parameters);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut signal = Signal {
            mark: false,
            drop: false,
        };
        if due && self.dropping {
            signal.mark = can_mark;
            signal.drop = !can_mark;
            self.count = self.count.saturating_add(1);
            self.drop_next = self.after(self.drop_next, parameters);
            is_late = now > self.drop_next;
        } else if due {
            while self.is_due(now) {
                self.count -= 1;
                self.drop_next = self.after(self.drop_next, parameters);
            }
            is_late = now > self.drop_next;
        }
        if self.probability > 0 {
            signal.drop |= rng.next_u32() < self.probability;
        }
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if is_late && !signal.drop {
            self.drop_next = now;
        }
        signal
    }

    /// A packet of the queue has been dropped for want of room.
    pub(super) fn overflow(&mut self, parameters: &Parameters, now: Instant) {
        if self.may_update(parameters, now) {
            self.probability = self.probability.saturating_add(INCREMENT);
            self.updated = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue has its turn, and is empty.
    pub(super) fn empty(&mut self, parameters: &Parameters, now: Instant) {
        if self.probability > 0 && self.may_update(parameters, now) {
            self.probability = self.probability.saturating_sub(DECREMENT);
            self.updated = Some(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.count -= 1;
            self.drop_next = self.after(self.drop_next, parameters);
        }
    }

    /// Whether nothing is left to decay.
    pub(super) fn rests(&self, now: Instant) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether the last update of BLUE is more than a target ago.
    fn may_update(&self, parameters: &Parameters, now: Instant) -> bool {
        (self.updated).is_none_or(|updated| now - updated > parameters.target)
    }

    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// The control law (RFC 8289 section 3.3).
    fn after(&self, at: Instant, parameters: &Parameters) -> Instant {
        let root = libm::sqrt(f64::from(self.count.max(1)));
        at + Duration::from_nanos((parameters.interval.as_nanos() as f64 / root) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::test_packet::{at, ms};

    const PARAMETERS: Parameters = Parameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu_time: Duration::ZERO,
    };

    #[test]
    fn the_probability_of_blue_rises_in_steps_of_a_target_and_falls_sixteen_times_as_slowly() {
        let mut cobalt = Cobalt::default();
        // 1000 overflows in 1 s: an update at 1 ms, and one every 6 ms, the first whole millisecond above 5, until 997 ms: 167.
        (1..=1000).for_each(|now| cobalt.overflow(&PARAMETERS, at(now)));
        assert_eq!(cobalt.probability, 167 * INCREMENT);
        // Found empty 1000 times in the next second: from 1003 ms until 1999 ms, 167.
        (1001..=2000).for_each(|now| cobalt.empty(&PARAMETERS, at(now)));
        assert_eq!(cobalt.probability, 167 * INCREMENT - 167 * DECREMENT);
        // Even if it overflows for minutes, it is certain and no more.
        (2..=60_000).for_each(|now| cobalt.overflow(&PARAMETERS, at(now * 10)));
        assert_eq!(cobalt.probability, u32::MAX);
    }

    #[test]
    fn blue_drops_what_could_be_marked_with_its_probability() {
        let mut cobalt = Cobalt {
            probability: 64 * INCREMENT,
            ..Cobalt::default()
        };
        let mut rng = stream(1, "blue");
        let dropped = (1..=10_000)
            .filter(|now| {
                let signal = cobalt.judge(&PARAMETERS, at(*now), ms(0), true, &mut rng);
                assert!(!signal.mark);
                signal.drop
            })
            .count();
        // A quarter of 10 000, with a deviation of sqrt(10000 * 0.25 * 0.75) = 43.
        assert!((2_300..=2_700).contains(&dropped), "{dropped}");
    }

    #[test]
    fn the_count_falls_by_one_at_each_time_that_a_signal_would_have_been_due() {
        let mut cobalt = Cobalt {
            count: 4,
            drop_next: at(100),
            dropping: true,
            ..Cobalt::default()
        };
        let mut rng = stream(1, "blue");
        let mut calm = |cobalt: &mut Cobalt, now| {
            assert!(
                !cobalt
                    .judge(&PARAMETERS, at(now), ms(1), false, &mut rng)
                    .drop
            );
            cobalt.count
        };
        // Due at 100, then 57.7 ms later with count 3, 70.7 ms with 2, 100 ms with 1.
        assert_eq!(calm(&mut cobalt, 99), 4);
        assert_eq!(calm(&mut cobalt, 100), 3);
        assert_eq!(calm(&mut cobalt, 157), 3);
        assert_eq!(calm(&mut cobalt, 158), 2);
        assert_eq!(calm(&mut cobalt, 500), 0);
        assert!(!cobalt.rests(at(599)) && cobalt.rests(at(600)));
    }
}
