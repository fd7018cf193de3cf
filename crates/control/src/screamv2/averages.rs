//! Averages of the queue's delay and of the share of marks (SCReAMv2 draft, "Network Congestion Control").

use thalweg_units::{Duration, Instant};

/// L4S_AVG_G and QDELAY_AVG_G.
const MARKS_GAIN: f64 = 1.0 / 16.0;
const QUEUE_GAIN: f64 = 1.0 / 4.0;
/// The longest time between updates of the share of marks.
const MARKS_UPDATE: Duration = Duration::from_millis(10);
/// For how long after a mark a node that marks counts as active: ours.
const ACTIVE: Duration = Duration::from_secs(5);

/// The averages, delays in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averages {
    /// qdelay: the latest sample.
    pub(super) queue: f64,
    /// qdelay_avg.
    pub(super) queue_average: f64,
    queue_updated: Instant,
    /// The average share of marks.
    pub(super) l4s_alpha: f64,
    marks_updated: Instant,
    delivered: u64,
    marked: u64,
    last_mark: Option<Instant>,
    /// Whether L4S is on, and packets are marked.
    pub(super) l4s_active: bool,
}

impl Averages {
    pub(super) fn new(now: Instant) -> Self {
        Averages {
            queue: 0.0,
            queue_average: 0.0,
            queue_updated: now,
            l4s_alpha: 0.0,
            marks_updated: now,
            delivered: 0,
            marked: 0,
            last_mark: None,
            l4s_active: false,
        }
    }

    pub(super) fn update(
        &mut self,
        delivered: u64,
        marked: u64,
        l4s: bool,
        (rtt, now): (Duration, Instant),
    ) {
        self.delivered += delivered;
        self.marked += marked;
        if marked > 0 {
            self.last_mark = Some(now);
        }
        self.l4s_active = l4s && self.last_mark.is_some_and(|last| now - last < ACTIVE);
        if now - self.marks_updated >= MARKS_UPDATE.min(rtt) && self.delivered > 0 {
            let share = self.marked as f64 / self.delivered as f64;
            self.l4s_alpha += MARKS_GAIN * (share.min(1.0) - self.l4s_alpha);
            self.marks_updated = now;
            (self.delivered, self.marked) = (0, 0);
        }
        if now - self.queue_updated >= rtt {
            // Slow attack, fast decay.
            self.queue_average = match self.queue < self.queue_average {
                true => self.queue,
                false => self.queue_average + QUEUE_GAIN * (self.queue - self.queue_average),
            };
            self.queue_updated = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    #[test]
    fn the_average_of_the_delay_rises_by_a_quarter_of_the_difference_and_falls_at_once() {
        let mut averages = Averages::new(Instant::START);
        for (round, queue, expected) in [(1, 0.04, 0.01), (2, 0.04, 0.0175), (3, 0.001, 0.001)] {
            averages.queue = queue;
            averages.update(1, 0, false, (RTT, Instant::START + RTT * round));
            assert!((averages.queue_average - expected).abs() < 1e-12, "{round}");
        }
    }

    #[test]
    fn a_share_of_marks_weighs_a_sixteenth_and_marks_make_l4s_active_for_a_while() {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        let mut averages = Averages::new(at(0));
        averages.update(3, 1, true, (RTT, at(5)));
        assert_eq!(averages.l4s_alpha, 0.0, "ten milliseconds are not over");
        averages.update(5, 3, true, (RTT, at(10)));
        assert_eq!(averages.l4s_alpha, 0.5 / 16.0); // 4 of 8
        assert!(averages.l4s_active);
        averages.update(5, 0, true, (RTT, at(5_010)));
        assert!(!averages.l4s_active);
    }
}
