//! The target of the queue's delay, larger against flows that fill the queue (SCReAMv2 draft, "Competing Flows
//! Compensation").

use std::collections::VecDeque;
use thalweg_units::{Duration, Instant};

/// QDELAY_TARGET_LO and QDELAY_TARGET_HI, in seconds.
const LOW: f64 = 0.06;
const HIGH: f64 = 0.4;
/// Samples of the variance, and of the average.
const HISTORY: usize = 200;
const RECENT: usize = 50;
/// Time between samples, and the weight of a round trip in the rate of losses: ours.
const EVERY: Duration = Duration::from_millis(50);
const ROUND_WEIGHT: f64 = 0.01;
/// A rate of losses above which others fill the queue, and a variance below which a new target is safe.
const MANY_LOSSES: f64 = 0.002;
const STABLE: f64 = 0.2;

/// The target.
#[derive(Clone, Debug)]
pub(super) struct Target {
    adjusts: bool,
    seconds: f64,
    /// Delays in QDELAY_TARGET_LO, the newest last.
    history: VecDeque<f64>,
    sampled: Instant,
    /// loss_event_rate, and whether the current round trip had a loss.
    losses: f64,
    lost: bool,
    round: Instant,
}

impl Target {
    pub(super) fn new(adjusts: bool, now: Instant) -> Self {
        Target {
            adjusts,
            seconds: LOW,
            history: VecDeque::with_capacity(HISTORY),
            sampled: now,
            losses: 0.0,
            lost: false,
            round: now,
        }
    }

    /// qdelay_target.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    pub(super) fn update(&mut self, queue: f64, lost: bool, (rtt, now): (Duration, Instant)) {
        self.lost |= lost;
        if now - self.round >= rtt {
            self.losses += ROUND_WEIGHT * (f64::from(self.lost) - self.losses);
            (self.lost, self.round) = (false, now);
        }
        if self.adjusts && now - self.sampled >= EVERY {
            self.sampled = now;
            if self.history.len() == HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(queue / LOW);
            self.adjust();
        }
    }

    fn adjust(&mut self) {
        let count = self.history.len() as f64;
        let mean = self.history.iter().sum::<f64>() / count;
        let squares = self.history.iter().map(|x| (x - mean) * (x - mean));
        let variance = squares.sum::<f64>() / count;
        let recent = self.history.len().min(RECENT);
        let average = self.history.iter().rev().take(recent).sum::<f64>() / recent as f64;
        let new = LOW * (average + libm::sqrt(variance));
        let target = if self.losses > MANY_LOSSES {
            1.5 * new
        } else if variance < STABLE {
            new
        } else if new < LOW {
            (self.seconds * 0.5).max(new)
        } else {
            self.seconds * 0.9
        };
        self.seconds = target.clamp(LOW, HIGH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target after so many samples of a delay of the queue in seconds, with a loss in each round trip or not.
    fn after(target: &mut Target, samples: u64, queue: f64, lost: bool) -> f64 {
        for _ in 0..samples {
            let now = target.sampled + EVERY;
            target.update(queue, lost, (EVERY, now));
        }
        target.seconds()
    }

    #[test]
    fn the_target_stays_at_sixty_milliseconds_with_a_short_queue() {
        let mut target = Target::new(true, Instant::START);
        assert_eq!(after(&mut target, 300, 0.03, false), LOW);
    }

    #[test]
    fn losses_beside_a_long_queue_raise_the_target_to_what_the_queue_is_and_half_more() {
        let mut target = Target::new(true, Instant::START);
        // A steady queue of 0.2 s: 1.5 * 0.2 s
        assert!((after(&mut target, 300, 0.2, true) - 0.3).abs() < 1e-9);
        assert_eq!(after(&mut target, 300, 0.5, true), HIGH);
        // Losses are forgotten in ln(0.002) / ln(0.99) = 618 round trips
        assert_eq!(after(&mut target, 900, 0.01, false), LOW);
    }

    #[test]
    fn a_target_that_is_not_adjusted_stays() {
        let mut target = Target::new(false, Instant::START);
        assert_eq!(after(&mut target, 300, 0.2, true), LOW);
    }
}
