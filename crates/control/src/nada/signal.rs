//! The congestion signal: queueing delay, losses and marks as one time (RFC 8698 sections 4.2 and 5.1).

use super::MOST_SIGNAL;
use super::loss_intervals::LossIntervals;
use crate::event::Arrival;
use crate::realtime::{OneWayDelay, Recent};
use std::collections::VecDeque;
use thalweg_units::{Duration, Instant, Rate};

/// LOGWIN: the time whose packets count (RFC 8698 Figure 3, as all of these).
const WINDOW: Duration = Duration::from_millis(500);
/// Delays of which the least is the delay of the queue (RFC 8698 section 5.1.1).
const MINIMUM_OF: usize = 15;
/// QTH and LAMBDA: a queue longer than QTH counts for less while packets are lost.
const THRESHOLD: f64 = 0.05;
const LAMBDA: f64 = 0.5;
/// MULTILOSS: mean intervals between losses for which a loss keeps the delay from counting fully.
const MULTILOSS: f64 = 7.0;
/// DLOSS at PLRREF, and DMARK at PMRREF.
const LOSS_PENALTY: f64 = 0.01;
const MARK_PENALTY: f64 = 0.002;
const REFERENCE_SHARE: f64 = 0.01;
/// ALPHA: weight of a new share of losses or marks.
const ALPHA: f64 = 0.1;

/// What the signal is made of.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    delay: OneWayDelay,
    /// The last delays of the queue.
    delays: [Duration; MINIMUM_OF],
    next: usize,
    /// Delays of the window and when they were met, by the receiver's clock, decreasing: the first is the largest.
    largest: VecDeque<(Instant, Duration)>,
    recent: Recent,
    losses: LossIntervals,
    /// Smoothed shares.
    loss: f64,
    marks: f64,
}

impl Signal {
    pub(super) fn new(now: Instant) -> Self {
        Signal {
            delay: OneWayDelay::new(now),
            delays: [Duration::MAX; MINIMUM_OF],
            next: 0,
            largest: VecDeque::new(),
            recent: Recent::new(WINDOW),
            losses: LossIntervals::default(),
            loss: 0.0,
            marks: 0.0,
        }
    }

    pub(super) fn on_arrival(&mut self, packet: &Arrival, packets: u64, now: Instant) {
        let queue = self.delay.queue(packet, now);
        self.delays[self.next] = queue;
        self.next = (self.next + 1) % MINIMUM_OF;
        while self
            .largest
            .back()
            .is_some_and(|(_, least)| *least <= queue)
        {
            self.largest.pop_back();
        }
        self.largest.push_back((packet.arrived, queue));
        self.recent.arrived(packet, packets);
        self.losses.on_packets(packets);
    }

    pub(super) fn on_lost(&mut self, rtt: Duration, now: Instant) {
        self.recent.lost();
        self.losses.on_lost(rtt, now);
    }

    pub(super) fn on_marks(&mut self, packets: u64) {
        self.recent.marked(packets);
    }

    /// The signal in seconds (RFC 8698 section 4.2, equation 2).
    pub(super) fn update(&mut self) -> f64 {
        let newest = self.recent.newest();
        while self
            .largest
            .front()
            .is_some_and(|(met, _)| *met + WINDOW < newest)
        {
            self.largest.pop_front();
        }
        self.loss += ALPHA * (self.recent.loss() - self.loss);
        self.marks += ALPHA * (self.recent.marks() - self.marks);
        let square = |share: f64| (share / REFERENCE_SHARE) * (share / REFERENCE_SHARE);
        let penalty = LOSS_PENALTY * square(self.loss) + MARK_PENALTY * square(self.marks);
        (self.counted_delay() + penalty).min(MOST_SIGNAL.as_secs_f64())
    }

    /// The delay of the queue as it counts. After MULTILOSS mean intervals without a loss, it counts more and more
    /// fully during one more.
    fn counted_delay(&self) -> f64 {
        let plain = self.queue().as_secs_f64();
        let Some(mean) = self.losses.mean() else {
            return plain;
        };
        let fullness = self.losses.current() / mean - MULTILOSS;
        let fullness = fullness.clamp(0.0, 1.0);
        fullness * plain + (1.0 - fullness) * warped(plain)
    }

    /// The delay of the queue.
    pub(super) fn queue(&self) -> Duration {
        let least = self.delays.iter().copied().min();
        least
            .filter(|least| *least < Duration::MAX)
            .unwrap_or(Duration::ZERO)
    }

    /// The largest delay of the window.
    pub(super) fn largest_queue(&self) -> Duration {
        self.largest
            .front()
            .map_or(Duration::ZERO, |(_, queue)| *queue)
    }

    /// Whether packets of the window were lost.
    pub(super) fn has_losses(&self) -> bool {
        self.recent.has_losses()
    }

    /// r_recv: the rate of arrival.
    pub(super) fn received(&self) -> Rate {
        self.recent.rate()
    }
}

/// Equation 1, in seconds.
fn warped(delay: f64) -> f64 {
    match delay < THRESHOLD {
        true => delay,
        false => THRESHOLD * libm::exp(-LAMBDA * (delay - THRESHOLD) / THRESHOLD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    #[test]
    fn the_largest_delay_is_that_of_the_last_500_ms() {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        let mut signal = Signal::new(Instant::START);
        let mut arrive = |sent, arrived| {
            let size = Bytes::new(1000);
            let (sent, arrived) = (at(sent), at(arrived));
            signal.on_arrival(
                &Arrival {
                    packet: 0,
                    size,
                    sent,
                    arrived,
                },
                1,
                arrived,
            );
            signal.update();
            signal.largest_queue()
        };
        assert_eq!(arrive(0, 10), Duration::ZERO); // the least delay there is
        assert_eq!(arrive(70, 110), Duration::from_millis(30));
        assert_eq!(arrive(595, 610), Duration::from_millis(30)); // 500 ms later
        assert_eq!(arrive(602, 615), Duration::from_millis(5));
    }

    #[test]
    fn a_longer_queue_counts_for_less_beyond_fifty_milliseconds() {
        assert_eq!(warped(0.04), 0.04);
        assert_eq!(warped(0.05), 0.05);
        // 50 ms * exp(-0.5 * (150 - 50) / 50) = 50 ms / e
        assert!((warped(0.15) - 0.05 / std::f64::consts::E).abs() < 1e-12);
        assert!(warped(0.3) < warped(0.2));
    }
}
