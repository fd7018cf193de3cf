//! RED: random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", 1993), with the `gentle` variant (Floyd, "Recommendation on using the gentle_ variant of
//! RED", 2000).
//!
//! # Model
//! Each packet that comes moves an exponentially weighted average of the queue length. Below `min` nothing
//! is dropped; from `min` to `max` the probability rises linearly from 0 to `max_p`, and the distance
//! between drops is uniform; above `max` every packet is dropped, or, if `gentle`, the probability rises
//! further to one at twice `max`.
//!
//! Lengths are bytes that wait, without the packet in transmission. Probabilities do not depend on the size
//! of a packet (RFC 7141 section 2.2).
//!
//! # Limits
//! RFC 7567 section 1.4 withdraws the advice of RFC 2309 to use RED as the default: its parameters have to
//! be set for each link. There is no adaptation of `max_p`.

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

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedConfig {
    /// Average length below which nothing is dropped: 5 packets of 1500 bytes (section IX of the paper
    /// says at least 5 packets).
    pub min: Bytes,
    /// Average length above which everything is dropped, unless `gentle`: 15 packets, three times `min`
    /// (Floyd, "RED: Discussions of Setting Parameters", 1997).
    pub max: Bytes,
    /// Weight of a new sample in the average (w_q): 0.002.
    pub weight: Fraction,
    /// Probability when the average reaches `max`: 10 % (Floyd 1997; the paper says 1/50).
    pub max_p: Fraction,
    /// Whether the probability rises from `max_p` to one between `max` and twice `max`: yes.
    pub gentle: bool,
    /// Mean size of packets, by which the average ages while the queue is empty: 1500 bytes.
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked instead of dropped while the average is below `max`: no, as
    /// in `tc-red`. Above it they are dropped (RFC 3168 section 7).
    pub ecn: bool,
}

impl Default for RedConfig {
    fn default() -> Self {
        RedConfig {
            min: Bytes::new(5 * 1500),
            max: Bytes::new(15 * 1500),
            weight: Fraction::from_f64(0.002),
            max_p: Fraction::from_f64(0.1),
            gentle: true,
            mean_packet: Bytes::new(1500),
            ecn: false,
        }
    }
}

/// RED over one queue.
#[derive(Debug)]
pub(crate) struct Red {
    config: RedConfig,
    rng: Pcg64Mcg,
    fifo: Fifo,
    average: Average,
    /// Packets since the last drop while the average has been between the thresholds; none just after it
    /// was below them.
    count: Option<u32>,
}

/// The average length of the queue in bytes.
#[derive(Debug)]
struct Average {
    bytes: f64,
    weight: f64,
    /// Since when the queue has been empty, if it is.
    empty_since: Instant,
}

impl Average {
    /// Updates for a packet that finds `backlog` in a non-empty queue.
    fn sample(&mut self, backlog: Bytes) {
        self.bytes += self.weight * (backlog.as_u64() as f64 - self.bytes);
    }

    /// Updates for a packet that finds an empty queue: as if `m` packets had arrived at the empty queue since
    /// then, where `m` is the number that the link could have sent.
    fn age(&mut self, now: Instant, packet_time: Duration) {
        let idle = (now - self.empty_since).as_nanos() as f64;
        let packets = idle / packet_time.as_nanos().max(1) as f64;
        self.bytes *= libm::pow(1.0 - self.weight, packets);
        self.empty_since = now;
    }
}

impl Red {
    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = stream(seed, "queue");
    }

    pub(super) fn new(config: &RedConfig, seed: u64, since: Instant) -> Self {
        Red {
            config: *config,
            rng: stream(seed, "queue"),
            fifo: Fifo::default(),
            average: Average {
                bytes: 0.0,
                weight: config.weight.as_f64(),
                empty_since: since,
            },
            count: None,
        }
    }

    /// p_b: the probability that follows only from the average, before drops are spread evenly. None
    /// below `min`, one where every packet is dropped.
    fn base_probability(&self) -> Option<f64> {
        let (min, max) = (
            self.config.min.as_u64() as f64,
            self.config.max.as_u64() as f64,
        );
        let (average, max_p) = (self.average.bytes, self.config.max_p.as_f64());
        if average < min {
            None
        } else if average < max {
            Some(max_p * (average - min) / (max - min))
        } else if self.config.gentle && average < 2.0 * max {
            Some(max_p + (1.0 - max_p) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }

    /// Whether the packet that comes now is to be dropped or marked.
    fn strikes(&mut self) -> bool {
        let Some(base) = self.base_probability() else {
            self.count = None;
            return false;
        };
        if base >= 1.0 {
            self.count = Some(0);
            return true;
        }
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        // p_a = p_b / (1 - count p_b): the distance between drops is uniform on 1..1/p_b.
        let rest = 1.0 - f64::from(count) * base;
        let strikes = rest <= base || open_unit(&mut self.rng) < base / rest;
        self.count = Some(if strikes { 0 } else { count });
        strikes
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, mut newest: Queued, port: &mut Port) {
        if self.fifo.is_empty() {
            let packet_time = port.transmitter.nominal.time_for(self.config.mean_packet);
            self.average.age(port.now(), packet_time);
        } else {
            self.average.sample(self.fifo.bytes());
        }
        let strikes = self.strikes();
        if !port.fits(newest.size) {
            port.drop(newest, DropCause::Full);
            return;
        }
        if strikes {
            let below = self.average.bytes < self.config.max.as_u64() as f64;
            if below && self.config.ecn && newest.ecn.is_capable() {
                port.mark(&mut newest);
            } else {
                port.drop(newest, DropCause::Early);
                return;
            }
        }
        self.fifo.push(newest);
    }

    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        let packet = self.fifo.pop();
        if self.fifo.is_empty() {
            self.average.empty_since = port.now();
        }
        packet
    }

    fn shed(&mut self, port: &mut Port) {
        let waited = !self.fifo.is_empty();
        self.fifo.shed(port);
        if waited && self.fifo.is_empty() {
            self.average.empty_since = port.now();
        }
    }

    fn drain(&mut self, port: &Port) -> Vec<Queued> {
        if !self.fifo.is_empty() {
            self.average.empty_since = port.now();
        }
        self.fifo.drain()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.fifo.push(waiting);
    }
}
