//! A flow over one bottleneck, for tests of controllers that need a closed loop.
//!
//! The bottleneck is a queue with a rate and a limit in bytes; the rest of the path is a constant
//! delay. Every packet is acknowledged on its own. A packet is lost when one sent three later is
//! acknowledged (RFC 9002 section 6.1.1), a probe timeout fires three round trips after the last
//! departure, and rate samples are as in draft-ietf-ccwg-bbr-06 section 4.1.2.
//!
//! # Limits
//! No headers, no reordering unless requested, no retransmission (there is always more data).

use super::{Flow, PICOQUIC};
use crate::Rng;
use crate::event::{Lost, RateSample};
use rand_core::Rng as _;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant, Rate};

const MTU: Bytes = PICOQUIC.mtu;

struct Packet {
    number: u64,
    arrives: Option<Instant>,
    first_sent: Instant,
    delivered_time: Instant,
}

/// One flow on its path.
pub struct Bottleneck {
    /// The flow.
    pub flow: Flow,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Constant delay of the rest of the path, there and back.
    pub delay: Duration,
    /// Limit of the queue.
    pub buffer: Bytes,
    /// Random loss in parts per thousand.
    pub loss_permille: u64,
    /// Arrivals wait for the next multiple of this, as on links that send in bursts.
    pub burst: Duration,
    /// Rate at which the application writes; unlimited if `None`.
    pub app_rate: Option<Rate>,
    dice: Rng,
    in_flight: VecDeque<Packet>,
    busy_until: Instant,
    next_send: Instant,
    next_write: Instant,
    last_sent: Instant,
    first_sent: Instant,
    delivered_time: Instant,
    app_limited_until: Bytes,
    timeouts: u32,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Largest queue since it was last reset.
    pub max_queue: Bytes,
    /// Smallest volume in flight since it was last reset.
    pub min_in_flight: Bytes,
}

impl Bottleneck {
    /// A flow of that controller over so many Mbps, so many milliseconds of constant delay and such a buffer.
    pub fn new(spec: &str, mbps: u64, delay_ms: u64, buffer: Bytes) -> Self {
        Bottleneck::of(Flow::named(spec, &PICOQUIC), mbps, delay_ms, buffer)
    }

    /// The same for a flow that is there.
    pub fn of(flow: Flow, mbps: u64, delay_ms: u64, buffer: Bytes) -> Self {
        Bottleneck {
            flow,
            rate: Rate::from_bits_per_sec(mbps * 1_000_000),
            delay: Duration::from_millis(delay_ms),
            buffer,
            loss_permille: 0,
            burst: Duration::from_nanos(1),
            app_rate: None,
            dice: Rng::new(2),
            in_flight: VecDeque::new(),
            busy_until: Instant::START,
            next_send: Instant::START,
            next_write: Instant::START,
            last_sent: Instant::START,
            first_sent: Instant::START,
            delivered_time: Instant::START,
            app_limited_until: Bytes::ZERO,
            timeouts: 0,
            dropped: 0,
            max_queue: Bytes::ZERO,
            min_in_flight: Bytes::MAX,
        }
    }

    /// The bandwidth-delay product.
    pub fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.delay)
    }
    /// Bytes that wait.
    pub fn queue(&self) -> Bytes {
        self.rate.bytes_in(self.busy_until - self.flow.now)
    }
    /// The state that the controller shows.
    pub fn state(&self) -> &'static str {
        self.flow.state()
    }
    /// A variable that the controller shows; infinite while it has no value.
    pub fn variable(&self, name: &str) -> f64 {
        self.flow.variable(name).unwrap_or(f64::INFINITY)
    }
    /// Forgets the extremes.
    pub fn reset_extremes(&mut self) {
        (self.max_queue, self.min_in_flight) = (Bytes::ZERO, Bytes::MAX);
    }
    /// Plays so long.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.flow.now + span;
        self.run_while(end, |_| true);
    }
    /// Runs until the state has this name; panics after a minute.
    pub fn run_to(&mut self, state: &str) {
        let end = self.flow.now + Duration::from_secs(60);
        self.run_while(end, |path| path.state() != state);
        assert!(self.flow.now < end, "{state} was not reached");
    }

    /// Runs while the condition holds, up to `end`.
    pub fn run_while(&mut self, end: Instant, go_on: impl Fn(&Self) -> bool) {
        while go_on(self) {
            let flow = &mut self.flow;
            flow.path.window_limited = flow.path.bytes_in_flight + MTU > flow.window();
            let write = if self.app_rate.is_some() {
                self.next_write
            } else {
                Instant::START
            };
            let send = if flow.path.window_limited {
                Instant::NEVER
            } else {
                self.next_send.max(write).max(flow.now)
            };
            let ack = self
                .in_flight
                .iter()
                .find_map(|p| p.arrives)
                .unwrap_or(Instant::NEVER);
            let timeout = match self.in_flight.is_empty() {
                true => Instant::NEVER,
                false => self.last_sent + flow.path.smoothed_rtt * (3 << self.timeouts.min(6)),
            };
            let next = send.min(ack).min(timeout.max(flow.now));
            if next > end {
                flow.now = end;
                return;
            }
            flow.now = next;
            if next == ack {
                self.receive();
            } else if next == send {
                // The application was late although window and pacing had room.
                if write > self.next_send && write >= self.last_sent {
                    self.app_limited_until =
                        (flow.path.delivered + flow.path.bytes_in_flight).max(Bytes::new(1));
                    flow.app_limited = true;
                }
                self.send();
            } else {
                self.timeouts += 1;
                flow.timeout_number(self.timeouts);
                self.send();
            }
            self.max_queue = self.max_queue.max(self.queue());
            self.min_in_flight = self.min_in_flight.min(self.flow.path.bytes_in_flight);
        }
    }

    /// Declares the oldest `count` packets in flight lost by mistake: they will still arrive.
    pub fn declare_lost(&mut self, count: usize) -> Vec<Lost> {
        let oldest = self.in_flight.iter().take(count);
        oldest
            .map(|packet| self.flow.suspect(packet.number))
            .collect()
    }

    fn send(&mut self) {
        let now = self.flow.now;
        if self.flow.path.bytes_in_flight.is_zero() {
            (self.first_sent, self.delivered_time) = (now, now);
        }
        let lost =
            self.queue() + MTU > self.buffer || self.dice.next_u64() % 1000 < self.loss_permille;
        let mut arrives = None;
        if lost {
            self.dropped += 1;
        } else {
            self.busy_until = self.busy_until.max(now) + self.rate.time_for(MTU);
            let arrival = (self.busy_until + self.delay).as_nanos();
            let burst = self.burst.as_nanos();
            arrives = Some(Instant::from_nanos(arrival.div_ceil(burst) * burst));
        }
        // RFC 9002 section 7.7 if the controller sets no rate.
        let control = self.flow.control();
        let spacing = match control.pacing {
            Some(rate) => rate.time_for(MTU),
            None => Rate::over(control.window, self.flow.path.smoothed_rtt)
                .mul_div(5, 4)
                .time_for(MTU),
        };
        self.next_send = self.next_send.max(now) + spacing;
        if let Some(app_rate) = self.app_rate {
            self.next_write = self.next_write.max(self.last_sent) + app_rate.time_for(MTU);
        }
        self.last_sent = now;
        self.in_flight.push_back(Packet {
            number: self.flow.send(),
            arrives,
            first_sent: self.first_sent,
            delivered_time: self.delivered_time,
        });
    }

    fn receive(&mut self) {
        let index = self
            .in_flight
            .iter()
            .position(|p| p.arrives.is_some())
            .unwrap();
        let packet = self.in_flight.remove(index).unwrap();
        self.timeouts = 0;
        let flow = &mut self.flow;
        let mut ack = flow.receive(&[packet.number], 0).unwrap();
        flow.app_limited &= flow.path.delivered <= self.app_limited_until;
        flow.path.app_limited = flow.app_limited;
        let sent = ack.snapshot.sent;
        let interval = (sent - packet.first_sent).max(flow.now - packet.delivered_time);
        self.first_sent = sent;
        self.delivered_time = flow.now;
        let mut last_lost = u64::MAX - 1;
        while self
            .in_flight
            .front()
            .is_some_and(|p| p.number + 3 <= packet.number)
        {
            let lost = self.in_flight.pop_front().unwrap().number;
            flow.lose(lost);
            ack.newly_lost += MTU;
            ack.lost_ranges += u32::from(lost != last_lost + 1);
            last_lost = lost;
        }
        ack.snapshot = ack.snapshot.compare(&flow.path);
        let delivered = ack.snapshot.delivered_since_sent;
        let rate = Rate::over(delivered, interval);
        flow.path.delivery_rate = rate;
        flow.path.peak_rate = flow.path.peak_rate.max(rate);
        ack.rate = (interval >= flow.path.min_rtt).then_some(RateSample {
            delivered,
            interval,
            rate,
            app_limited: ack.snapshot.app_limited,
        });
        flow.call(|controller, cx| controller.on_ack(&ack, cx));
    }
}
