//! DualPI2: the dual-queue coupled AQM for L4S (RFC 9332 appendix A).
//!
//! # Model
//! Packets with ECT(1) or CE wait in the L queue, all others in the Classic queue. A PI controller keeps the
//! delay at its target through a base probability p'. Classic packets are dropped or marked with p' squared,
//! L packets are marked with k p' or by a ramp around 1 ms of delay in their own queue, whichever is more
//! (the coupling makes rates alike, section 2.1). The L queue goes first, but Classic packets have a tenth of the
//! capacity for sure (weighted round robin, section 4.1.1, appendix A.1).
//!
//! When the coupled probability saturates, both queues drop (appendix A.2, section 4.2).
//!
//! # Limits
//! One limit for both queues, that of the link. The ramp is idle while the L queue holds a single packet.

use super::fifo::Fifo;
use super::{Discipline, is_capable};
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use crate::random::open_unit;
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// Queueing delay that is aimed at for Classic traffic; 15 ms (RFC 9332 appendix A.1).
    pub target: Duration,
    /// Largest round-trip time that the controller is stable for; 100 ms. It sets the gains.
    pub max_rtt: Duration,
    /// Coupling factor k; 2.
    pub coupling: f64,
    /// Delay of the L queue at which marking starts; 800 us.
    pub ramp_start: Duration,
    /// From there, how much more delay marks all; 400 us. Zero is a step.
    pub ramp: Duration,
}

impl Default for DualPi2Config {
    fn default() -> Self {
        DualPi2Config {
            target: Duration::from_millis(15),
            max_rtt: Duration::from_millis(100),
            coupling: 2.0,
            ramp_start: Duration::from_micros(800),
            ramp: Duration::from_micros(400),
        }
    }
}

impl DualPi2Config {
    /// Time between updates: min(target, max_rtt / 3).
    fn update(&self) -> Duration {
        self.target
            .min(self.max_rtt / 3)
            .max(Duration::from_micros(1))
    }
    /// Integral gain in 1/s: 0.1 update / max_rtt^2.
    fn alpha(&self) -> f64 {
        let max_rtt = self.max_rtt.as_secs_f64().max(1e-6);
        0.1 * self.update().as_secs_f64() / (max_rtt * max_rtt)
    }
    /// Proportional gain in 1/s: 0.3 / max_rtt.
    fn beta(&self) -> f64 {
        0.3 / self.max_rtt.as_secs_f64().max(1e-6)
    }
    /// Classic probability above which ECN is no longer relied upon: min(1 / k^2, 1).
    fn max_classic(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }
}

/// Share of the capacity that Classic packets have for sure, in percent (section 4.1.1 asks for a small one).
const CLASSIC_WEIGHT: i64 = 10;

#[derive(Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    low: Fifo,
    classic: Fifo,
    rng: Pcg64Mcg,
    /// p'
    base: f64,
    delay_before: Duration,
    next_update: Instant,
    /// What the Classic queue is owed, in bytes times percent; negative when L has its turn.
    credit: i64,
}

impl DualPi2 {
    pub(super) fn new(config: DualPi2Config, rng: Pcg64Mcg) -> Self {
        DualPi2 {
            low: Fifo::default(),
            classic: Fifo::default(),
            rng,
            base: 0.0,
            delay_before: Duration::ZERO,
            next_update: Instant::START + config.update(),
            credit: 0,
            config,
        }
    }

    fn catch_up(&mut self, now: Instant) {
        let step = self.config.update();
        while self.next_update <= now {
            let at = self.next_update;
            self.update(self.classic.wait(at).max(self.low.wait(at)));
            self.next_update += step;
            let empty = self.low.is_empty() && self.classic.is_empty();
            if empty && self.base == 0.0 && self.delay_before.is_zero() {
                let skipped = (now - self.next_update).as_nanos() / step.as_nanos();
                self.next_update += step * skipped;
            }
        }
    }

    /// RFC 9332 appendix A.2, `dualpi2_update`, with the greater of both delays.
    fn update(&mut self, delay: Duration) {
        let now = delay.as_secs_f64();
        self.base += self.config.alpha() * (now - self.config.target.as_secs_f64())
            + self.config.beta() * (now - self.delay_before.as_secs_f64());
        self.base = self.base.clamp(0.0, 1.0);
        self.delay_before = delay;
    }

    /// Probability of a Classic drop or mark: p' squared.
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// Coupled probability of an L mark: k p'.
    fn coupled(&self) -> f64 {
        self.config.coupling * self.base
    }

    /// The L queue's own probability (appendix A.1, `laqm`).
    fn ramp(&self, delay: Duration) -> f64 {
        let start = self.config.ramp_start;
        if self.low.is_empty() || delay <= start {
            0.0
        } else if delay >= start + self.config.ramp {
            1.0
        } else {
            (delay - start).as_secs_f64() / self.config.ramp.as_secs_f64()
        }
    }

    fn strikes(&mut self, probability: f64) -> bool {
        probability > 0.0 && open_unit(&mut self.rng) < probability
    }

    /// Whether the L queue has its turn (weighted round robin).
    fn low_goes_first(&self) -> bool {
        match (self.low.is_empty(), self.classic.is_empty()) {
            (false, false) => self.credit <= 0,
            (low_is_empty, _) => !low_is_empty,
        }
    }

    fn charge(&mut self, low: bool, size: Bytes) {
        let size = size.as_u64() as i64;
        self.credit += if low {
            CLASSIC_WEIGHT * size
        } else {
            -(100 - CLASSIC_WEIGHT) * size
        };
        if self.low.is_empty() || self.classic.is_empty() {
            self.credit = 0;
        }
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        self.catch_up(buffer.now);
        if !buffer.fits(newest.size) {
            buffer.drop(newest, DropCause::Full);
        } else if matches!(newest.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low.push(newest);
        } else {
            self.classic.push(newest);
        }
    }

    /// RFC 9332 appendix A.2, `dualpi2_dequeue`.
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        self.catch_up(buffer.now);
        loop {
            if self.low_goes_first() {
                let delay = self.low.wait(buffer.now);
                let mut packet = self.low.pop()?;
                self.charge(true, packet.size);
                let coupled = self.coupled();
                if coupled < 1.0 {
                    let probability = self.ramp(delay).max(coupled);
                    if self.strikes(probability) {
                        buffer.mark(&mut packet);
                    }
                } else {
                    // Saturated: marks alone no longer tell enough.
                    if self.strikes(self.classic_probability()) {
                        buffer.drop(packet, DropCause::Early);
                        continue;
                    }
                    buffer.mark(&mut packet);
                }
                return Some(packet);
            }
            let mut packet = self.classic.pop()?;
            self.charge(false, packet.size);
            let probability = self.classic_probability();
            if self.strikes(probability) {
                if !is_capable(packet.ecn) || probability >= self.config.max_classic() {
                    buffer.drop(packet, DropCause::Early);
                    continue;
                }
                buffer.mark(&mut packet);
            }
            return Some(packet);
        }
    }

    fn youngest(&self) -> Option<Bytes> {
        let youngest = [self.low.youngest(), self.classic.youngest()];
        let youngest = youngest.into_iter().flatten();
        youngest.max_by_key(|p| p.arrived).map(|packet| packet.size)
    }

    fn take_youngest(&mut self) -> Option<Queued> {
        let low = self.low.youngest().map(|packet| packet.arrived);
        if low > self.classic.youngest().map(|packet| packet.arrived) {
            self.low.pop_youngest()
        } else {
            self.classic.pop_youngest()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{Bench, ms};
    use crate::random::stream;

    fn dualpi2() -> DualPi2 {
        DualPi2::new(DualPi2Config::default(), stream(1, "queue"))
    }

    #[test]
    fn the_gains_follow_from_the_largest_round_trip() {
        let config = DualPi2Config::default();
        // 0.1 * 0.015 / 0.1^2 = 0.15 and 0.3 / 0.1 = 3 per second; 1 / 2^2.
        assert_eq!(config.update(), Duration::from_millis(15));
        assert!((config.alpha() - 0.15).abs() < 1e-12);
        assert!((config.beta() - 3.0).abs() < 1e-12);
        assert_eq!(config.max_classic(), 0.25);
    }

    #[test]
    fn an_update_weighs_the_deviation_and_the_trend() {
        let mut queue = dualpi2();
        queue.delay_before = Duration::from_millis(20);
        queue.update(Duration::from_millis(25));
        // 0.15 * 0.010 + 3 * 0.005
        assert!((queue.base - 0.0165).abs() < 1e-12);
    }

    #[test]
    fn the_classic_probability_is_the_square_of_half_the_coupled_one() {
        let mut queue = dualpi2();
        queue.base = 0.1;
        // RFC 9332 equation (1): p_C = (p_CL / k)^2 = (0.2 / 2)^2.
        assert!((queue.coupled() - 0.2).abs() < 1e-12);
        assert!((queue.classic_probability() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn low_latency_packets_are_marked_on_a_ramp_around_one_millisecond() {
        let mut queue = dualpi2();
        let mut bench = Bench::new(dualpi2(), Ecn::Ect1);
        bench.fill(2);
        std::mem::swap(&mut queue.low, &mut bench.discipline.low);
        let marks = [800, 900, 1_000, 1_200, 5_000]
            .map(|us| (queue.ramp(Duration::from_micros(us)) * 100.0) as u64);
        assert_eq!(marks, [0, 25, 50, 100, 100]);
    }

    #[test]
    fn classic_packets_have_a_tenth_of_the_turns_when_the_low_queue_never_empties() {
        let mut bench = Bench::new(dualpi2(), Ecn::Ect1);
        for _ in 0..2_000 {
            bench.arrive_with(ms(0), 1, 1000, Ecn::Ect1);
            bench.arrive_with(ms(0), 2, 1000, Ecn::Ect0);
        }
        let mut turns = [0; 3];
        for _ in 0..1_000 {
            turns[bench.dequeue(ms(0)).expect("plenty").flow as usize] += 1;
        }
        assert_eq!(turns, [0, 900, 100]);
    }

    #[test]
    fn marks_go_to_capable_packets_and_drops_to_the_others() {
        for (ecn, marks, drops) in [(Ecn::Ect0, true, false), (Ecn::NotEct, false, true)] {
            let mut bench = Bench::new(dualpi2(), ecn);
            bench.discipline.base = 0.3;
            bench.fill(1_000);
            while bench.dequeue(ms(1)).is_some() {}
            // 0.3^2 = 9 % of 1000 packets, standard deviation 9.
            let struck = bench.marked() + bench.dropped();
            assert!((60..=120).contains(&struck), "{struck}");
            assert_eq!((bench.marked() > 0, bench.dropped() > 0), (marks, drops));
        }
    }

    #[test]
    fn in_overload_even_low_latency_packets_are_dropped() {
        let mut bench = Bench::new(dualpi2(), Ecn::Ect1);
        bench.discipline.base = 0.6;
        bench.fill(1_000);
        let mut out = 0;
        while let Some(packet) = bench.dequeue(ms(1)) {
            assert_eq!(packet.ecn, Ecn::Ce);
            out += 1;
        }
        // 2 * 0.6 > 1: saturated. 0.36 of 1000 are dropped, standard deviation 15.
        assert!((570..=710).contains(&out), "{out}");
    }
}
