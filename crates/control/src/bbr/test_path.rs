//! A sender over one bottleneck, for the tests of controllers that need a path to respond to.
//!
//! The bottleneck is a queue with a rate and a limit in bytes; the rest of the path is a constant
//! delay. Every packet is acknowledged by itself. A packet is lost when one sent three later is
//! acknowledged (RFC 9002 section 6.1.1), a probe timeout fires three round trips after the last
//! departure, and rate samples are those of draft-ietf-ccwg-bbr-06 section 4.1.2.
//!
//! # Limits
//! Headers are free, no reordering unless asked for, lost data is not sent again (there is always more).

use crate::event::{Ack, Lost, RateSample, RttSample, Sent, Snapshot, Timeout};
use crate::{Context, Controller, ControllerSpec, Init, Observer, PathState, Rng};
use rand_core::Rng as _;
use std::collections::{BTreeMap, VecDeque};
use thalweg_units::{Bytes, Duration, Instant, Rate};

pub(crate) const MTU: Bytes = Bytes::new(1_440);

/// What the observer saw last.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) state: &'static str,
    variables: BTreeMap<&'static str, f64>,
}
impl Observer for Seen {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.insert(name, value);
    }
}

struct Packet {
    number: u64,
    arrives: Option<Instant>,
    snapshot: Snapshot,
    first_sent: Instant,
    delivered_time: Instant,
}

/// One flow on its path.
pub(crate) struct TestPath {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) buffer: Bytes,
    /// Random loss in parts per thousand.
    pub(crate) loss_permille: u64,
    /// Arrivals wait for the next multiple of this, as on links that send in bursts.
    pub(crate) burst: Duration,
    /// Rate at which the application writes; unlimited if `None`.
    pub(crate) app_rate: Option<Rate>,
    pub(crate) now: Instant,
    pub(crate) path: PathState,
    rng: Rng,
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
    pub(crate) dropped: u64,
    /// Time and name of each state entered.
    pub(crate) states: Vec<(Instant, &'static str)>,
    /// Largest and smallest queue and volume in flight since they were last reset.
    pub(crate) max_queue: Bytes,
    pub(crate) min_in_flight: Bytes,
}

impl TestPath {
    pub(crate) fn new(spec: &str, mbps: u64, delay_ms: u64, buffer: Bytes) -> Self {
        let spec: ControllerSpec = spec.parse().unwrap();
        let init = Init {
            now: Instant::START,
            mtu: MTU,
            initial_window: Bytes::new(15_360),
        };
        TestPath {
            controller: spec.build(&init),
            rate: Rate::from_bits_per_sec(mbps * 1_000_000),
            delay: Duration::from_millis(delay_ms),
            buffer,
            loss_permille: 0,
            burst: Duration::from_nanos(1),
            app_rate: None,
            now: Instant::START,
            path: PathState::new(MTU),
            rng: Rng::new(1),
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
            states: Vec::new(),
            max_queue: Bytes::ZERO,
            min_in_flight: Bytes::MAX,
        }
    }

    pub(crate) fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.delay)
    }
    pub(crate) fn queue(&self) -> Bytes {
        self.rate.bytes_in(self.busy_until - self.now)
    }
    pub(crate) fn seen(&self) -> Seen {
        let mut seen = Seen::default();
        self.controller.observe(&mut seen);
        seen
    }
    pub(crate) fn state(&self) -> &'static str {
        self.seen().state
    }
    pub(crate) fn variable(&self, name: &str) -> f64 {
        self.seen()
            .variables
            .get(name)
            .copied()
            .unwrap_or(f64::INFINITY)
    }
    pub(crate) fn reset_extremes(&mut self) {
        (self.max_queue, self.min_in_flight) = (Bytes::ZERO, Bytes::MAX);
    }
    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        self.run_while(end, |_| true);
    }
    /// Runs until the state has this name; panics after a minute.
    pub(crate) fn run_to(&mut self, state: &str) {
        let end = self.now + Duration::from_secs(60);
        self.run_while(end, |path| path.state() != state);
        assert!(self.now < end, "{state} was not reached");
    }

    /// Runs while the condition holds, up to `end`.
    pub(crate) fn run_while(&mut self, end: Instant, go_on: impl Fn(&Self) -> bool) {
        while go_on(self) {
            let control = self.controller.control();
            self.path.window_limited = self.path.bytes_in_flight + MTU > control.window;
            let write = if self.app_rate.is_some() {
                self.next_write
            } else {
                Instant::START
            };
            let send = if self.path.window_limited {
                Instant::NEVER
            } else {
                self.next_send.max(write).max(self.now)
            };
            let ack = self
                .in_flight
                .iter()
                .find_map(|p| p.arrives)
                .unwrap_or(Instant::NEVER);
            let timeout = match self.in_flight.is_empty() {
                true => Instant::NEVER,
                false => self.last_sent + self.path.smoothed_rtt * (3 << self.timeouts.min(6)),
            };
            let next = send.min(ack).min(timeout.max(self.now));
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if self.now == ack {
                self.receive();
            } else if self.now == send {
                // The application was late although window and pacing had room.
                if write > self.next_send && write >= self.last_sent {
                    self.app_limited_until =
                        (self.path.delivered + self.path.bytes_in_flight).max(Bytes::new(1));
                    self.path.app_limited = true;
                }
                self.send();
            } else {
                self.timeouts += 1;
                let oldest = &self.in_flight[0];
                let event = Timeout {
                    count: self.timeouts,
                    packet: oldest.number,
                    snapshot: self.compare(&oldest.snapshot),
                };
                self.call(|controller, cx| controller.on_timeout(&event, cx));
                self.send();
            }
            self.max_queue = self.max_queue.max(self.queue());
            self.min_in_flight = self.min_in_flight.min(self.path.bytes_in_flight);
            let state = self.state();
            if self.states.last().is_none_or(|(_, last)| *last != state) {
                self.states.push((self.now, state));
            }
        }
    }

    /// Declares the oldest `count` packets in flight lost by mistake: they will still arrive.
    pub(crate) fn declare_lost(&mut self, count: usize) -> Vec<Lost> {
        let mut events = Vec::new();
        for index in 0..count {
            self.path.lost += MTU;
            let packet = &self.in_flight[index];
            events.push(Lost {
                packet: packet.number,
                size: MTU,
                snapshot: self.compare(&packet.snapshot),
                persistent_congestion: false,
            });
            let event = &events[index];
            self.call(|controller, cx| controller.on_lost(event, cx));
        }
        events
    }

    /// Hands any event to the controller.
    pub(crate) fn call(&mut self, event: impl FnOnce(&mut dyn Controller, &mut Context<'_>)) {
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        event(self.controller.as_mut(), &mut cx);
    }

    fn compare(&self, snapshot: &Snapshot) -> Snapshot {
        Snapshot {
            delivered_since_sent: self.path.delivered - snapshot.delivered_at_send,
            lost_since_sent: self.path.lost - snapshot.lost_at_send,
            ..snapshot.clone()
        }
    }

    fn send(&mut self) {
        let was_idle = self.path.bytes_in_flight.is_zero();
        if was_idle {
            (self.first_sent, self.delivered_time) = (self.now, self.now);
        }
        let prior_in_flight = self.path.bytes_in_flight;
        self.path.bytes_in_flight += MTU;
        let number = self.path.next_packet;
        self.path.next_packet += 1;
        let lost =
            self.queue() + MTU > self.buffer || self.dice.next_u64() % 1000 < self.loss_permille;
        let mut arrives = None;
        if lost {
            self.dropped += 1;
        } else {
            self.busy_until = self.busy_until.max(self.now) + self.rate.time_for(MTU);
            let arrival = (self.busy_until + self.delay).as_nanos();
            let burst = self.burst.as_nanos();
            arrives = Some(Instant::from_nanos(arrival.div_ceil(burst) * burst));
        }
        self.in_flight.push_back(Packet {
            number,
            arrives,
            first_sent: self.first_sent,
            delivered_time: self.delivered_time,
            snapshot: Snapshot {
                sent: self.now,
                in_flight_at_send: self.path.bytes_in_flight,
                delivered_at_send: self.path.delivered,
                lost_at_send: self.path.lost,
                delivered_since_sent: Bytes::ZERO,
                lost_since_sent: Bytes::ZERO,
                app_limited: self.path.app_limited,
                window_limited: self.path.bytes_in_flight + MTU > self.controller.control().window,
            },
        });
        // RFC 9002 section 7.7 if the controller names no rate.
        let control = self.controller.control();
        let spacing = match control.pacing {
            Some(rate) => rate.time_for(MTU),
            None => Rate::over(control.window, self.path.smoothed_rtt)
                .mul_div(5, 4)
                .time_for(MTU),
        };
        self.next_send = self.next_send.max(self.now) + spacing;
        if let Some(app_rate) = self.app_rate {
            self.next_write = self.next_write.max(self.last_sent) + app_rate.time_for(MTU);
        }
        self.last_sent = self.now;
        let event = Sent {
            packet: number,
            size: MTU,
            prior_in_flight,
            was_idle,
        };
        self.call(|controller, cx| controller.on_sent(&event, cx));
    }

    fn receive(&mut self) {
        let index = self
            .in_flight
            .iter()
            .position(|p| p.arrives.is_some())
            .unwrap();
        let packet = self.in_flight.remove(index).unwrap();
        let prior_in_flight = self.path.bytes_in_flight;
        self.timeouts = 0;
        self.path.bytes_in_flight -= MTU;
        self.path.delivered += MTU;
        self.path.largest_acked = Some(packet.number);
        self.path.newest_acked_data_sent = packet.snapshot.sent;
        if self.path.delivered > self.app_limited_until {
            self.path.app_limited = false;
        }
        let rtt = self.now - packet.snapshot.sent;
        self.path.latest_rtt = rtt;
        self.path.smoothed_rtt = match self.path.has_rtt() {
            true => self.path.smoothed_rtt.mul_div(7, 8) + rtt / 8,
            false => rtt,
        };
        let least = if self.path.has_rtt() {
            self.path.min_rtt.min(rtt)
        } else {
            rtt
        };
        self.path.min_rtt = least;
        let sample = RttSample { rtt, raw: rtt };
        self.call(|controller, cx| controller.on_rtt(&sample, cx));
        let interval =
            (packet.snapshot.sent - packet.first_sent).max(self.now - packet.delivered_time);
        self.first_sent = packet.snapshot.sent;
        self.delivered_time = self.now;
        let (mut newly_lost, mut lost_ranges, mut last_lost) = (Bytes::ZERO, 0, u64::MAX - 1);
        while self
            .in_flight
            .front()
            .is_some_and(|p| p.number + 3 <= packet.number)
        {
            let lost = self.in_flight.pop_front().unwrap();
            self.path.bytes_in_flight -= MTU;
            self.path.lost += MTU;
            newly_lost += MTU;
            lost_ranges += u32::from(lost.number != last_lost + 1);
            last_lost = lost.number;
            let event = Lost {
                packet: lost.number,
                size: MTU,
                snapshot: self.compare(&lost.snapshot),
                persistent_congestion: false,
            };
            self.call(|controller, cx| controller.on_lost(&event, cx));
        }
        let snapshot = self.compare(&packet.snapshot);
        let delivered = snapshot.delivered_since_sent;
        let rate = Rate::over(delivered, interval);
        self.path.delivery_rate = rate;
        self.path.peak_rate = self.path.peak_rate.max(rate);
        let app_limited = snapshot.app_limited;
        let event = Ack {
            largest: packet.number,
            newly_acked: MTU,
            newly_acked_packets: 1,
            newly_lost,
            lost_ranges,
            rtt: Some(rtt),
            snapshot,
            rate: (interval >= self.path.min_rtt).then_some(RateSample {
                delivered,
                interval,
                rate,
                app_limited,
            }),
            prior_in_flight,
        };
        self.call(|controller, cx| controller.on_ack(&event, cx));
    }
}
