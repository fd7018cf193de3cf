//! RED: random early detection (Floyd and Jacobson 1993), with the gentle slope (Floyd 2000).
//!
//! # Model
//! A moving average of the queue length decides: below `min` nothing happens, from `min` to `max` the chance
//! of a drop or mark rises to `max_probability`, from there to twice `max` it rises to one (without `gentle`,
//! it is one at once). Within a stretch the drops are spread by counting packets since the last one.
//!
//! # Limits
//! While the queue is empty the average decays as if packets of 1000 bytes left at the capacity.

use super::fifo::Fifo;
use super::{Discipline, is_capable};
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use crate::random::open_unit;
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Bytes, Fraction, Instant};

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Average queue below which nothing is dropped; 5 packets of 1500 bytes.
    pub min: Bytes,
    /// Average queue at which the chance is `max_probability`; three times `min`.
    pub max: Bytes,
    /// 10 % (Floyd 1997: recommendations on RED parameters).
    pub max_probability: Fraction,
    /// Weight of the newest sample; 0.002.
    pub weight: f64,
    /// Whether the chance goes on rising linearly above `max`.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked instead, while the average is at most `max`.
    pub ecn: bool,
}

impl Default for RedConfig {
    fn default() -> Self {
        RedConfig {
            min: Bytes::new(7_500),
            max: Bytes::new(22_500),
            max_probability: Fraction::from_f64(0.1),
            weight: 0.002,
            gentle: true,
            ecn: true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Red {
    config: RedConfig,
    queue: Fifo,
    rng: Pcg64Mcg,
    average: f64,
    /// Packets since the last drop or mark; -1 while the average is below `min`.
    count: i64,
    idle_since: Option<Instant>,
}

/// Size of the packets that would have left an idle queue.
const IDLE_PACKET: Bytes = Bytes::new(1000);

impl Red {
    pub(super) fn new(config: RedConfig, rng: Pcg64Mcg) -> Self {
        Red {
            config,
            queue: Fifo::default(),
            rng,
            average: 0.0,
            count: -1,
            idle_since: Some(Instant::START),
        }
    }

    /// Floyd and Jacobson 1993, section IV and figure 2.
    fn observe(&mut self, buffer: &Buffer) {
        let weight = self.config.weight;
        if let Some(since) = self.idle_since.take() {
            let left = buffer.rate.bytes_in(buffer.now - since).as_u64();
            let packets = left as f64 / IDLE_PACKET.as_u64() as f64;
            self.average *= libm::pow(1.0 - weight, packets);
        }
        let length = self.queue.bytes().as_u64() as f64;
        self.average += weight * (length - self.average);
    }

    /// The chance of a drop, before it is spread.
    fn chance(&self) -> f64 {
        let (min, max) = (
            self.config.min.as_u64() as f64,
            self.config.max.as_u64() as f64,
        );
        let top = self.config.max_probability.as_f64();
        match self.average {
            average if average < min => 0.0,
            average if average < max => top * (average - min) / (max - min),
            average if self.config.gentle && average < 2.0 * max => {
                top + (1.0 - top) * (average - max) / max
            }
            _ => 1.0,
        }
    }

    fn strikes(&mut self) -> bool {
        let chance = self.chance();
        if chance == 0.0 {
            self.count = -1;
            return false;
        }
        self.count += 1;
        let spread = chance / (1.0 - self.count as f64 * chance);
        let strikes = !(0.0..1.0).contains(&spread) || open_unit(&mut self.rng) < spread;
        if strikes {
            self.count = 0;
        }
        strikes
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, mut newest: Queued, buffer: &mut Buffer) {
        self.observe(buffer);
        if !buffer.fits(newest.size) {
            self.count = 0;
            buffer.drop(newest, DropCause::Full);
        } else if self.strikes() {
            let few = self.average <= self.config.max.as_u64() as f64;
            if self.config.ecn && few && is_capable(newest.ecn) {
                buffer.mark(&mut newest);
                self.queue.push(newest);
            } else {
                buffer.drop(newest, DropCause::Early);
            }
        } else {
            self.queue.push(newest);
        }
        if self.queue.is_empty() {
            self.idle_since = Some(buffer.now);
        }
    }

    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        let packet = self.queue.pop();
        if self.queue.is_empty() {
            self.idle_since = Some(buffer.now);
        }
        packet
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

    fn red(average: f64) -> Red {
        let mut red = Red::new(RedConfig::default(), stream(1, "queue"));
        red.average = average;
        red
    }

    #[test]
    fn the_chance_rises_from_min_to_max_and_gently_to_twice_max() {
        let chances = [7_499.0, 7_500.0, 15_000.0, 22_500.0, 33_750.0, 45_000.0]
            .map(|average| (red(average).chance() * 1e6) as u64);
        // Half way to max: 0.1 / 2; half way from max to twice max: 0.1 + 0.9 / 2.
        assert_eq!(chances, [0, 0, 50_000, 100_000, 550_000, 1_000_000]);
    }

    #[test]
    fn the_average_moves_by_its_weight_and_decays_while_idle() {
        let mut bench = Bench::new(red(0.0), Ecn::NotEct);
        bench.discipline.idle_since = None;
        bench.fill(3);
        // Samples 0, 1000 and 2000 bytes: 0.002 * 1000 = 2, then 2 + 0.002 * 1998 = 5.996.
        assert!((bench.discipline.average - 5.996).abs() < 1e-9);
        while bench.dequeue(ms(10)).is_some() {}
        bench.arrive(ms(18));
        // 8 ms at 10 Mbps are ten packets: 5.996 * 0.998^10, then one sample of zero: * 0.998.
        let expected = 5.996 * 0.998f64.powi(11);
        assert!((bench.discipline.average - expected).abs() < 1e-9);
    }

    #[test]
    fn drops_are_spread_uniformly_with_the_mean_of_the_chance() {
        let mut red = red(15_000.0);
        let mut gaps = Vec::new();
        let mut gap = 0;
        while gaps.len() < 4_000 {
            gap += 1;
            if red.strikes() {
                gaps.push(gap);
                gap = 0;
            }
        }
        // With p = 0.05 the gap is uniform on 1 to 20 (section IV): mean 10.5, never more than 20, for all
        // but the first, which counts from -1.
        let mean = gaps[1..].iter().sum::<u64>() as f64 / 3_999.0;
        assert!((9.5..11.5).contains(&mean), "{mean}");
        assert!(gaps[1..].iter().all(|gap| (1..=21).contains(gap)));
    }
}
