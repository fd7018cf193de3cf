//! DualPI2: two coupled queues for L4S and Classic traffic (RFC 9332, appendix A).
//!
//! # Model
//! ECT(1) and CE go to the L queue, everything else to the Classic queue. A PI controller computes a base
//! probability p' from the longer of the two delays, as in A.2; A.1 goes only by the Classic one. Classic
//! packets are dropped (or marked) with p_C = p'^2, L packets are marked with p_CL = k p' or by the native
//! step on their own delay, whichever is higher. Decisions are taken when packets leave, and are spread
//! evenly by accumulators (`recur` in A.1) instead of drawn at random.
//!
//! Once p_CL would reach 100 % (overload, A.2), L packets are dropped with p_C as well, and Classic packets
//! are dropped even if they are ECN-capable.
//!
//! # Limits
//! Classification is only by ECN; the two queues share the limit of the link.

use super::clock::Clock;
use super::discipline::Discipline;
use super::fifo::{Fifo, by_arrival};
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use thalweg_units::{Duration, Fraction, Instant};

#[cfg(test)]
mod tests;

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// Classic delay aimed at (RFC 9332 A.1): 15 ms.
    pub target: Duration,
    /// Time between updates of the base probability (Tupdate, A.1): the lesser of the target and a third
    /// of `rtt_max`, 15 ms. Zero counts as 1 ms.
    pub update: Duration,
    /// Largest round-trip time for which the controller is to be stable (RTT_max, A.1): 100 ms. The gains
    /// follow from it: alpha = 0.1 update / rtt_max^2, beta = 0.3 / rtt_max.
    pub rtt_max: Duration,
    /// Coupling factor k between Classic and L4S (section 2.1): 2. Zero switches the coupling off.
    pub coupling: u32,
    /// L packets that have waited at least this long are marked (minTh): 1 ms.
    pub step: Duration,
    /// Over how much more delay the native marking rises from 0 to 100 %: zero, a step at `step`. The ramp
    /// of A.1 is `step` 0.8 ms and `ramp` 0.4 ms.
    pub ramp: Duration,
    /// The step does not mark an L queue of up to this many packets (Th_len, A.1): 1.
    pub step_packets: u32,
    /// Classic drop probability from which on overload is assumed (p_Cmax of A.1, in A.2): 25 %, that is 1/k^2.
    pub classic_max: Fraction,
    /// The scheduler between the two queues.
    pub scheduler: DualPi2Scheduler,
    /// Whether ECN-capable Classic packets are marked instead of dropped (A.1): yes. L packets are always
    /// marked, their senders ask for it.
    pub ecn: bool,
}

/// How the two queues share the link (RFC 9332 section 4.2.2 and appendix A.1 leave the choice open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPi2Scheduler {
    /// Weighted round robin by bytes: Classic is sure of this share of the capacity and gets no more
    /// while L packets wait.
    Weighted {
        /// The share.
        classic: Fraction,
    },
    /// The packet that has waited longest leaves first; L packets count as if they had come `shift`
    /// earlier.
    TimeShifted {
        /// The bias in favour of the L queue.
        shift: Duration,
    },
}

impl Default for DualPi2Config {
    fn default() -> Self {
        DualPi2Config {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            rtt_max: Duration::from_millis(100),
            coupling: 2,
            step: Duration::from_millis(1),
            ramp: Duration::ZERO,
            step_packets: 1,
            classic_max: Fraction::from_f64(0.25),
            scheduler: DualPi2Scheduler::Weighted {
                classic: Fraction::from_f64(1.0 / 16.0),
            },
            ecn: true,
        }
    }
}

/// The two queues.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    alpha: f64,
    beta: f64,
    /// Coupled probability from which on overload is assumed (p_Lmax).
    coupled_max: f64,
    low: Lane,
    classic: Lane,
    clock: Clock,
    /// p'
    base: f64,
    /// Delay at the last update (prevq).
    delay: Duration,
    /// Weighted bytes that the L queue has had beyond its share.
    debt: f64,
}

/// A queue, and what has accumulated towards its next mark or drop (count, A.1).
#[derive(Debug, Default)]
struct Lane {
    fifo: Fifo,
    sum: f64,
}

impl Lane {
    /// Whether the event with this probability happens now (`recur`, A.1). It happens as soon as the
    /// probabilities sum up to one, not above one as in A.1, so that a certain event does not miss the
    /// first packet.
    fn recurs(&mut self, probability: f64) -> bool {
        self.sum += probability;
        let happens = self.sum >= 1.0;
        if happens {
            self.sum -= 1.0;
        }
        happens
    }
}

impl DualPi2 {
    pub(super) fn new(config: &DualPi2Config, since: Instant) -> Self {
        let clock = Clock::new(config.update, since);
        let rtt = config.rtt_max.as_secs_f64().max(1e-9);
        let coupled_max = f64::from(config.coupling) * libm::sqrt(config.classic_max.as_f64());
        DualPi2 {
            config: *config,
            alpha: 0.1 * clock.interval().as_secs_f64() / (rtt * rtt),
            beta: 0.3 / rtt,
            coupled_max: coupled_max.min(1.0),
            low: Lane::default(),
            classic: Lane::default(),
            clock,
            base: 0.0,
            delay: Duration::ZERO,
            debt: 0.0,
        }
    }

    /// p_CL
    fn coupled(&self) -> f64 {
        f64::from(self.config.coupling) * self.base
    }

    /// p_C
    fn squared(&self) -> f64 {
        self.base * self.base
    }

    /// Does the updates that are due by `now`. Nothing has come or left since the last call.
    fn catch_up(&mut self, now: Instant) {
        while let Some(at) = self.clock.tick(now) {
            let before = (self.base, self.delay);
            self.update(self.age(at));
            let empty = self.low.fifo.is_empty() && self.classic.fifo.is_empty();
            if empty && before == (self.base, self.delay) {
                self.clock.skip(now);
            }
            // While nothing leaves, what waits only grows older: beyond the target, certainty stays.
            if self.base >= 1.0 && self.delay >= self.config.target {
                let at = at + self.clock.interval() * self.clock.skip(now);
                self.delay = self.age(at);
            }
        }
    }

    /// The longer delay. A.2: the L queue counts too. Without it, L packets alone could never cause overload.
    fn age(&self, at: Instant) -> Duration {
        self.low.fifo.age(at).max(self.classic.fifo.age(at))
    }

    /// dualpi2_update, A.1 (figure 6).
    fn update(&mut self, delay: Duration) {
        let (now, old) = (delay.as_secs_f64(), self.delay.as_secs_f64());
        let step = self.alpha * (now - self.config.target.as_secs_f64()) + self.beta * (now - old);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay = delay;
    }

    /// Probability of a mark by the L queue's own AQM (laqm, A.1), for a packet that has waited `delay`.
    fn native(&self, delay: Duration) -> f64 {
        if self.low.fifo.len() <= self.config.step_packets as usize || delay < self.config.step {
            return 0.0;
        }
        let above = delay - self.config.step;
        if above >= self.config.ramp {
            1.0
        } else {
            above.as_secs_f64() / self.config.ramp.as_secs_f64()
        }
    }

    /// Whether the L queue is served next; none if nothing waits.
    fn schedule(&mut self, now: Instant) -> Option<bool> {
        let (low, classic) = (self.low.fifo.oldest(), self.classic.fifo.oldest());
        match (low, classic) {
            (None, None) => {
                self.debt = 0.0;
                None
            }
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (Some(low), Some(classic)) => Some(match self.config.scheduler {
                DualPi2Scheduler::TimeShifted { shift } => {
                    now - low.arrived + shift >= now - classic.arrived
                }
                DualPi2Scheduler::Weighted { classic: share } => {
                    let serves_low = self.debt <= 0.0;
                    self.debt += if serves_low {
                        share.as_f64() * low.size.as_u64() as f64
                    } else {
                        -(1.0 - share.as_f64()) * classic.size.as_u64() as f64
                    };
                    serves_low
                }
            }),
        }
    }

    /// The oldest L packet, marked or not; none if it is dropped.
    fn dequeue_low(&mut self, port: &mut Port) -> Option<Queued> {
        let mut packet = self.low.fifo.pop()?;
        let coupled = self.coupled();
        if coupled < self.coupled_max {
            let native = self.native(port.now() - packet.arrived);
            if self.low.recurs(native.max(coupled)) {
                port.mark(&mut packet);
            }
        } else {
            let squared = self.squared();
            if self.low.recurs(squared) {
                port.drop(packet, DropCause::Early);
                return None;
            }
            if self.low.recurs(coupled.min(1.0)) {
                port.mark(&mut packet);
            }
        }
        Some(packet)
    }

    /// The oldest Classic packet, marked or not; none if it is dropped.
    fn dequeue_classic(&mut self, port: &mut Port) -> Option<Queued> {
        let mut packet = self.classic.fifo.pop()?;
        let squared = self.squared();
        if self.classic.recurs(squared) {
            let overload = squared >= self.config.classic_max.as_f64();
            if overload || !self.config.ecn || !packet.ecn.is_capable() {
                port.drop(packet, DropCause::Early);
                return None;
            }
            port.mark(&mut packet);
        }
        Some(packet)
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        self.catch_up(port.now());
        if !port.fits(newest.size) {
            port.drop(newest, DropCause::Full);
        } else if newest.ecn.is_l4s() {
            self.low.fifo.push(newest);
        } else {
            self.classic.fifo.push(newest);
        }
    }

    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        self.catch_up(port.now());
        loop {
            let leaves = if self.schedule(port.now())? {
                self.dequeue_low(port)
            } else {
                self.dequeue_classic(port)
            };
            if leaves.is_some() {
                return leaves;
            }
        }
    }

    fn shed(&mut self, port: &mut Port) {
        self.catch_up(port.now());
        loop {
            let came = |lane: &Lane| lane.fifo.youngest().map(|packet| packet.arrived);
            // None is less than any time.
            let lane = if came(&self.low) > came(&self.classic) {
                &mut self.low
            } else {
                &mut self.classic
            };
            let fits = |packet: &Queued| port.fits(packet.size);
            if lane.fifo.youngest().is_none_or(fits) {
                break;
            }
            if let Some(youngest) = lane.fifo.pop_youngest() {
                port.drop(youngest, DropCause::Shrunk);
            }
        }
    }

    fn drain(&mut self, port: &Port) -> Vec<Queued> {
        self.catch_up(port.now());
        let low = self.low.fifo.drain().into_iter();
        by_arrival(low.chain(self.classic.fifo.drain()))
    }

    fn adopt(&mut self, waiting: Queued) {
        if waiting.ecn.is_l4s() {
            self.low.fifo.push(waiting);
        } else {
            self.classic.fifo.push(waiting);
        }
    }
}
