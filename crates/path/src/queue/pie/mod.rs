//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! # Model
//! Every `update`, a probability follows from how far the delay is from `target` and how fast it grows.
//! A packet that comes is dropped (or marked) with this probability, unless the queue is short or a burst
//! is still allowed.
//!
//! The delay is measured with timestamps, as section 4.3 allows instead of the estimate of the departure
//! rate: it is the age of the oldest waiting packet, zero if none waits. Age also grows on a suspended
//! link, unlike the wait of the last departed packet.
//!
//! # Limits
//! The controller is always active; the switch of section 5.3 is a saving that RFC 8033 leaves open.

use super::clock::Clock;
use super::discipline::Discipline;
use super::fifo::Fifo;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use crate::random::stream;
use rand_pcg::Pcg64Mcg;
use thalweg_random::open_unit;
use thalweg_units::{Bytes, Duration, Fraction, Instant};

#[cfg(test)]
mod tests;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Delay aimed at (QDELAY_REF, RFC 8033 section 4.2): 15 ms.
    pub target: Duration,
    /// Time between updates of the probability (T_UPDATE): 15 ms. Zero counts as 1 ms.
    pub update: Duration,
    /// Gain on the distance from the target, per second (section 4.2): 1/8.
    pub alpha: f64,
    /// Gain on the growth since the last update, per second (section 4.2): 1 + 1/4.
    pub beta: f64,
    /// How long a burst passes without drops after a time without congestion (MAX_BURST, section 4.4): 150 ms.
    pub max_burst: Duration,
    /// Mean size of packets: nothing is dropped while no more than two of them wait (section 4.1): 1024.
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked instead of dropped (section 5.1, optional): no, as in
    /// `tc-pie`.
    pub ecn: bool,
    /// Above this probability ECN-capable packets are dropped all the same (mark_ecnth, section 5.1): 10 %.
    pub mark_below: Fraction,
    /// Whether drops keep a distance from each other (section 5.4, optional): yes.
    pub derandomise: bool,
    /// Whether the probability rises by 2 % at most per update once it is above 10 % (section 5.5): yes.
    pub cap: bool,
}

impl Default for PieConfig {
    fn default() -> Self {
        PieConfig {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::from_millis(150),
            mean_packet: Bytes::new(1024),
            ecn: false,
            mark_below: Fraction::from_f64(0.1),
            derandomise: true,
            cap: true,
        }
    }
}

/// PIE over one queue.
#[derive(Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    rng: Pcg64Mcg,
    fifo: Fifo,
    clock: Clock,
    /// drop_prob_
    probability: f64,
    /// Sum of the probabilities since the last drop (accu_prob_).
    sum: f64,
    /// Delay at the last update (qdelay_old_).
    delay: Duration,
    /// How much longer a burst may last (burst_allowance_).
    burst: Duration,
}

impl Pie {
    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = stream(seed, "queue");
    }

    pub(super) fn new(config: &PieConfig, seed: u64, since: Instant) -> Self {
        Pie {
            config: *config,
            rng: stream(seed, "queue"),
            fifo: Fifo::default(),
            clock: Clock::new(config.update, since),
            probability: 0.0,
            sum: 0.0,
            delay: Duration::ZERO,
            burst: config.max_burst,
        }
    }

    /// Does the updates that are due by `now`. Nothing has come or left since the last call.
    fn catch_up(&mut self, now: Instant) {
        while let Some(at) = self.clock.tick(now) {
            let before = (self.probability, self.delay);
            self.update(self.fifo.age(at));
            // While nothing waits, an update that moves neither is the last one that could. Only the burst allowance
            // goes on: it stays at its maximum, or shrinks by the same amount each time.
            if self.fifo.is_empty() && before == (self.probability, self.delay) {
                let left_out = self.clock.skip(now);
                if !self.is_calm(self.delay) {
                    self.burst -= self.clock.interval() * left_out;
                }
            }
            // While nothing leaves, the oldest packet only grows older: beyond the target, certainty stays.
            if self.probability >= 1.0 && self.delay >= self.config.target {
                let left_out = self.clock.interval() * self.clock.skip(now);
                self.burst -= left_out;
                self.delay = self.fifo.age(at + left_out);
            }
        }
    }

    /// Whether another burst is allowed (RFC 8033 section 4.4): no drops, and a delay well below the
    /// target, now and at the last update.
    fn is_calm(&self, delay: Duration) -> bool {
        let low = self.config.target / 2;
        self.probability == 0.0 && delay < low && self.delay < low
    }

    /// RFC 8033 sections 4.2, 4.4 and 5.5.
    fn update(&mut self, delay: Duration) {
        let PieConfig {
            target,
            alpha,
            beta,
            ..
        } = self.config;
        let (now, old) = (delay.as_secs_f64(), self.delay.as_secs_f64());
        let step = alpha * (now - target.as_secs_f64()) + beta * (now - old);
        let mut step = step / tuning(self.probability);
        if self.config.cap && self.probability >= 0.1 {
            step = step.min(0.02);
        }
        let mut probability = self.probability + step;
        if delay.is_zero() && self.delay.is_zero() {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        if self.is_calm(delay) {
            self.burst = self.config.max_burst;
        } else {
            self.burst -= self.clock.interval();
        }
        self.delay = delay;
    }

    /// Whether a packet that finds `backlog` is to be dropped (RFC 8033 sections 4.1 and 5.4).
    fn strikes(&mut self, backlog: Bytes) -> bool {
        if !self.burst.is_zero() {
            return false;
        }
        // Safeguards that keep the link busy.
        let mild = self.delay < self.config.target / 2 && self.probability < 0.2;
        if mild || backlog <= self.config.mean_packet * 2 {
            return false;
        }
        if !self.config.derandomise {
            return open_unit(&mut self.rng) < self.probability;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        self.sum >= 0.85 && (self.sum >= 8.5 || open_unit(&mut self.rng) < self.probability)
    }
}

/// What a step of the probability is divided by, so that the controller is stable whether the probability
/// is small or large (RFC 8033 section 4.2).
fn tuning(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut newest: Queued, port: &mut Port) {
        self.catch_up(port.now());
        if !port.fits(newest.size) {
            self.sum = 0.0;
            port.drop(newest, DropCause::Full);
            return;
        }
        if self.strikes(self.fifo.bytes()) {
            self.sum = 0.0;
            let markable = self.config.ecn && newest.ecn.is_capable();
            if markable && self.probability < self.config.mark_below.as_f64() {
                port.mark(&mut newest);
            } else {
                port.drop(newest, DropCause::Early);
                return;
            }
        }
        self.fifo.push(newest);
    }

    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        self.catch_up(port.now());
        self.fifo.pop()
    }

    fn shed(&mut self, port: &mut Port) {
        self.catch_up(port.now());
        self.fifo.shed(port);
    }

    fn drain(&mut self, port: &Port) -> Vec<Queued> {
        self.catch_up(port.now());
        self.fifo.drain()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.fifo.push(waiting);
    }
}
