//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! # Model
//! Packets that come are dropped, or marked, with a probability that is updated every 15 ms from how far the
//! queueing delay is from its target and how fast it changes. The queueing delay is the time that the packet at
//! the head has waited: of the two ways of the RFC (section 4.2: departure rate, or timestamps) the one that
//! needs no estimate. Drops are de-randomised (section 5.4).
//!
//! # Limits
//! Updates that fall into a time without calls are made up for at the next call, with the queue as it was:
//! nothing happens to a queue between calls.

use super::fifo::Fifo;
use super::{Discipline, is_capable};
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use crate::random::open_unit;
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Bytes, Duration, Fraction, Instant};

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Queueing delay that is aimed at; 15 ms (RFC 8033 section 4.1).
    pub target: Duration,
    /// Time between two updates of the probability; 15 ms.
    pub update: Duration,
    /// Weight of the deviation from the target, per second of it; 1/8 (section 4.2).
    pub alpha: f64,
    /// Weight of the trend, per second of it; 1 + 1/4.
    pub beta: f64,
    /// How long a burst into an idle queue passes untouched; 150 ms (section 4.4).
    pub burst: Duration,
    /// Whether ECN-capable packets are marked while the probability is at most `mark_below`.
    pub ecn: bool,
    /// 10 % (section 5.1): above, even ECN-capable packets are dropped.
    pub mark_below: Fraction,
}

impl Default for PieConfig {
    fn default() -> Self {
        PieConfig {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Duration::from_millis(150),
            ecn: true,
            mark_below: Fraction::from_f64(0.1),
        }
    }
}

/// A delay above this raises the probability by 2 % at each update (RFC 8033 section 5.5).
const EXTREME: Duration = Duration::from_millis(250);
/// Size of a packet for the exemption of a short queue (section 4.1: two packets).
const MEAN_PACKET: Bytes = Bytes::new(1500);

#[derive(Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    queue: Fifo,
    rng: Pcg64Mcg,
    probability: f64,
    delay_before: Duration,
    burst_left: Duration,
    next_update: Instant,
    /// Sum of the probabilities since the last drop (section 5.4).
    accumulated: f64,
}

impl Pie {
    pub(super) fn new(config: PieConfig, rng: Pcg64Mcg) -> Self {
        Pie {
            config,
            queue: Fifo::default(),
            rng,
            probability: 0.0,
            delay_before: Duration::ZERO,
            burst_left: config.burst,
            next_update: Instant::START + config.update,
            accumulated: 0.0,
        }
    }

    /// Makes the updates that are due.
    fn catch_up(&mut self, now: Instant) {
        // A configuration of zero would never get anywhere.
        let step = self.config.update.max(Duration::from_micros(1));
        while self.next_update <= now {
            self.update(self.queue.wait(self.next_update));
            self.next_update += step;
            if self.is_at_rest() {
                // Nothing changes any more until a packet comes.
                let skipped = (now - self.next_update).as_nanos() / step.as_nanos();
                self.next_update += step * skipped;
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.queue.is_empty()
            && self.probability == 0.0
            && self.delay_before.is_zero()
            && self.burst_left == self.config.burst
    }

    /// RFC 8033 sections 4.2 and 5.2, 5.5.
    fn update(&mut self, delay: Duration) {
        let (target, before) = (self.config.target, self.delay_before);
        let mut step = self.config.alpha * (delay.as_secs_f64() - target.as_secs_f64())
            + self.config.beta * (delay.as_secs_f64() - before.as_secs_f64());
        step *= tuning(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay > EXTREME {
            self.probability += 0.02;
        }
        if delay.is_zero() && before.is_zero() {
            self.probability *= 1.0 - 1.0 / 64.0;
        }
        // A share of one in a thousand million is none.
        self.probability = if self.probability < 1e-9 {
            0.0
        } else {
            self.probability.min(1.0)
        };
        self.burst_left -= self.config.update;
        if self.probability == 0.0 && delay < target / 2 && before < target / 2 {
            self.burst_left = self.config.burst;
        }
        self.delay_before = delay;
    }

    /// Whether the newest packet is to be dropped or marked (RFC 8033 sections 4.1 and 5.4).
    fn strikes(&mut self) -> bool {
        if self.burst_left > Duration::ZERO {
            return false;
        }
        let calm = self.delay_before < self.config.target / 2 && self.probability < 0.2;
        if calm || self.queue.bytes() <= MEAN_PACKET * 2 {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < 0.85 {
            return false;
        }
        let strikes = self.accumulated >= 8.5 || open_unit(&mut self.rng) < self.probability;
        if strikes {
            self.accumulated = 0.0;
        }
        strikes
    }
}

/// How much smaller steps are while the probability is small (RFC 8033 section 5.2).
fn tuning(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 1.0 / 2048.0,
        p if p < 0.000_01 => 1.0 / 512.0,
        p if p < 0.000_1 => 1.0 / 128.0,
        p if p < 0.001 => 1.0 / 32.0,
        p if p < 0.01 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut newest: Queued, buffer: &mut Buffer) {
        self.catch_up(buffer.now);
        if !buffer.fits(newest.size) {
            buffer.drop(newest, DropCause::Full);
            self.accumulated = 0.0;
            return;
        }
        if self.strikes() {
            let few = self.probability <= self.config.mark_below.as_f64();
            if self.config.ecn && few && is_capable(newest.ecn) {
                buffer.mark(&mut newest);
            } else {
                buffer.drop(newest, DropCause::Early);
                return;
            }
        }
        self.queue.push(newest);
    }

    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        self.catch_up(buffer.now);
        self.queue.pop()
    }

    fn youngest(&self) -> Option<Bytes> {
        self.queue.youngest().map(|packet| packet.size)
    }

    fn take_youngest(&mut self) -> Option<Queued> {
        self.queue.pop_youngest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{Bench, ms};
    use crate::random::stream;
    use thalweg_units::Ecn;

    fn pie() -> Pie {
        Pie::new(PieConfig::default(), stream(1, "queue"))
    }

    #[test]
    fn steps_are_scaled_by_the_table_of_the_rfc() {
        let factors = [0.0, 5e-6, 5e-5, 5e-4, 5e-3, 5e-2, 0.5].map(|p| 1.0 / tuning(p));
        assert_eq!(factors, [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0]);
    }

    #[test]
    fn an_update_weighs_the_deviation_and_the_trend() {
        let mut pie = pie();
        pie.probability = 0.05;
        pie.delay_before = Duration::from_millis(20);
        pie.update(Duration::from_millis(30));
        // (0.125 * (0.030 - 0.015) + 1.25 * (0.030 - 0.020)) / 2 = 0.0071875
        assert!((pie.probability - 0.057_187_5).abs() < 1e-12);
    }

    #[test]
    fn a_large_probability_grows_by_at_most_two_percent_and_by_two_more_when_the_delay_is_extreme()
    {
        let mut pie = pie();
        pie.probability = 0.2;
        pie.update(Duration::from_millis(200));
        assert!((pie.probability - 0.22).abs() < 1e-12);
        pie.update(Duration::from_millis(300));
        // 0.22 + 0.02 + 0.02
        assert!((pie.probability - 0.26).abs() < 1e-12);
    }

    #[test]
    fn an_idle_queue_forgets_by_a_sixty_fourth_at_a_time() {
        let mut pie = pie();
        pie.probability = 0.5;
        pie.config.alpha = 0.0;
        pie.update(Duration::ZERO);
        assert!((pie.probability - 0.5 * 63.0 / 64.0).abs() < 1e-12);
    }

    #[test]
    fn a_burst_of_150_ms_passes_untouched() {
        let mut bench = Bench::new(pie(), Ecn::NotEct);
        // Twice what leaves: the delay rises, and so does the probability.
        for at in 0..150 {
            bench.arrive(ms(at));
            bench.arrive(ms(at));
            bench.dequeue(ms(at));
        }
        assert!(bench.discipline.probability > 0.0);
        assert_eq!(bench.dropped(), 0);
        for at in 150..3_000 {
            bench.arrive(ms(at));
            bench.arrive(ms(at));
            bench.dequeue(ms(at));
        }
        // In the end about half of what comes has to go.
        let share = bench.dropped() as f64 / 6_000.0;
        assert!((0.3..0.6).contains(&share), "{share}");
    }

    #[test]
    fn marks_turn_into_drops_above_ten_percent() {
        let mut bench = Bench::new(pie(), Ecn::Ect0);
        for at in 0..5_000 {
            bench.arrive(ms(at));
            bench.arrive(ms(at));
            bench.dequeue(ms(at));
        }
        assert!(bench.marked() > 0);
        // Marks change nothing here, so the probability goes on to what it takes: one of two dropped.
        assert!((3_000..5_000).contains(&bench.dropped()));
    }
}
