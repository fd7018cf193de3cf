//! A flow made up of events: it keeps what the transport would know consistent, and calls its controller as the trait
//! promises.

use std::collections::BTreeMap;
use thalweg_control::event::{
    Ack, Lost, RateSample, RttSample, Sent, Snapshot, SpuriousLoss, Timeout,
};
use thalweg_control::{
    Context, Control, Controller, ControllerSpec, Init, Observer, PathState, Rng,
};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// No round trip is shorter.
const SHORTEST: Duration = Duration::from_micros(1);
/// No link delivers faster.
const FASTEST: Rate = Rate::from_bits_per_sec(400_000_000_000);

/// A packet that left.
#[derive(Clone)]
struct Packet {
    size: Bytes,
    snapshot: Snapshot,
}

/// One flow and its controller.
pub(crate) struct Flow {
    pub(crate) now: Instant,
    pub(crate) path: PathState,
    controller: Box<dyn Controller>,
    rng: Rng,
    app_limited: bool,
    outstanding: BTreeMap<u64, Packet>,
    lost: BTreeMap<u64, Packet>,
    timeouts: u32,
    last_ack: Instant,
    /// Offered with the first RTT sample.
    remembered: Option<Bytes>,
}

impl Flow {
    /// A flow that begins at `start` nanoseconds.
    pub(crate) fn new(spec: &ControllerSpec, start: u64, mtu: u64, window: u64) -> Flow {
        let now = Instant::from_nanos(start.min(1 << 50));
        let mtu = Bytes::new(mtu);
        let init = Init {
            now,
            mtu,
            initial_window: Bytes::new(window),
            media: None,
        };
        let mut path = PathState::new(mtu, init.now);
        path.established = true;
        Flow {
            now,
            path,
            controller: spec.build(&init),
            rng: Rng::new(1),
            app_limited: false,
            outstanding: BTreeMap::new(),
            lost: BTreeMap::new(),
            timeouts: 0,
            last_ack: now,
            remembered: None,
        }
    }

    pub(crate) fn control(&self) -> Control {
        self.controller.control()
    }

    /// What the controller shows of itself.
    pub(crate) fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        self.controller.observe(&mut shown);
        shown
    }

    fn call(&mut self, f: impl FnOnce(&mut dyn Controller, &mut Context<'_>)) {
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        f(self.controller.as_mut(), &mut cx);
    }

    /// Sends full packets as far as the window allows, at most `most`.
    pub(crate) fn fill(&mut self, most: u64) {
        let mut sent = 0;
        while sent < most && self.path.bytes_in_flight + self.path.mtu <= self.control().window {
            self.send(self.path.mtu.as_u64());
            sent += 1;
        }
        self.path.window_limited = sent < most;
    }

    /// Sends one packet, whatever the window.
    pub(crate) fn send(&mut self, size: u64) {
        if self.outstanding.len() >= 2000 {
            return;
        }
        let size = Bytes::new(size.clamp(40, self.path.mtu.as_u64()));
        let prior = self.path.bytes_in_flight;
        let number = self.path.next_packet;
        self.path.next_packet += 1;
        self.path.bytes_in_flight += size;
        self.path.app_limited = self.app_limited;
        self.path.window_limited = self.path.bytes_in_flight >= self.control().window;
        let snapshot = Snapshot::at_send(self.now, &self.path);
        self.outstanding.insert(number, Packet { size, snapshot });
        let event = Sent {
            packet: number,
            size,
            prior_in_flight: prior,
            was_idle: prior.is_zero(),
        };
        self.call(|controller, cx| controller.on_sent(&event, cx));
    }

    /// One ACK of `count` packets from place `from` on, `marked` of them with a CE mark.
    pub(crate) fn ack(&mut self, from: usize, count: usize, marked: u64) {
        let chosen: Vec<u64> = self
            .outstanding
            .keys()
            .copied()
            .skip(from)
            .take(count)
            .collect();
        let Some(&largest) = chosen.last() else {
            return;
        };
        let acked: Vec<Packet> = chosen
            .iter()
            .filter_map(|n| self.outstanding.remove(n))
            .collect();
        let newest = acked[acked.len() - 1].clone();
        let prior_in_flight = self.path.bytes_in_flight;
        let wire: Bytes = acked
            .iter()
            .fold(Bytes::ZERO, |sum, packet| sum + packet.size);
        let counted = wire - Bytes::new(16 * acked.len() as u64);
        self.timeouts = 0;
        self.path.bytes_in_flight -= wire;
        self.path.delivered += counted;
        self.path.largest_acked = self.path.largest_acked.max(Some(largest));
        self.path.newest_acked_data_sent =
            self.path.newest_acked_data_sent.max(newest.snapshot.sent);
        self.renew_lowest();
        let had_rtt = self.path.has_rtt();
        let arrived = self.last_ack + FASTEST.time_for(wire);
        self.now = self.now.max(arrived).max(newest.snapshot.sent + SHORTEST);
        self.last_ack = self.now;
        let rtt = self.now - newest.snapshot.sent;
        let snapshot = newest.snapshot.compare(&self.path);
        let rate = self.rate(&snapshot, rtt);
        self.count_marks(largest, acked.len() as u64, marked.min(acked.len() as u64));
        self.path.take_rtt(rtt, Duration::ZERO);
        let sample = RttSample { rtt, raw: rtt };
        self.call(|controller, cx| controller.on_rtt(&sample, cx));
        if !had_rtt && let Some(window) = self.remembered.take() {
            self.call(|controller, cx| controller.on_seed(window, cx));
        }
        let event = Ack {
            largest,
            newly_acked: counted,
            newly_acked_packets: acked.len() as u64,
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(rtt),
            snapshot,
            rate,
            prior_in_flight,
        };
        self.call(|controller, cx| controller.on_ack(&event, cx));
    }

    fn rate(&mut self, snapshot: &Snapshot, interval: Duration) -> Option<RateSample> {
        if interval < self.path.min_rtt {
            return None;
        }
        let delivered = snapshot.delivered_since_sent;
        let rate = Rate::over(delivered, interval);
        self.path.delivery_rate = rate;
        self.path.peak_rate = self.path.peak_rate.max(rate);
        Some(RateSample {
            delivered,
            interval,
            rate,
            app_limited: snapshot.app_limited,
        })
    }

    fn count_marks(&mut self, largest: u64, packets: u64, marked: u64) {
        match self.controller.ecn() {
            Ecn::Ect0 => self.path.ecn.ect0 += packets - marked,
            Ecn::Ect1 => self.path.ecn.ect1 += packets - marked,
            Ecn::NotEct | Ecn::Ce => return,
        }
        self.path.ecn.ce += marked;
        self.path.ecn.largest_acked = largest;
        let counts = self.path.ecn;
        if marked > 0 {
            self.call(|controller, cx| controller.on_ecn(&counts, cx));
        }
    }

    fn renew_lowest(&mut self) {
        let lowest = self.outstanding.keys().next().copied();
        self.path.lowest_unacked = lowest.unwrap_or(self.path.next_packet);
    }

    /// `count` packets from place `from` on are declared lost.
    pub(crate) fn lose(&mut self, from: usize, count: usize, persistent_congestion: bool) {
        let chosen: Vec<u64> = self
            .outstanding
            .keys()
            .copied()
            .skip(from)
            .take(count)
            .collect();
        for number in chosen {
            let Some(packet) = self.outstanding.remove(&number) else {
                continue;
            };
            self.path.bytes_in_flight -= packet.size;
            self.path.lost += packet.size - Bytes::new(16);
            self.renew_lowest();
            let event = Lost {
                packet: number,
                size: packet.size,
                snapshot: packet.snapshot.compare(&self.path),
                persistent_congestion,
            };
            self.lost.insert(number, packet);
            self.call(|controller, cx| controller.on_lost(&event, cx));
        }
    }

    /// A packet that was declared lost, or one that was only timed out, arrives after all.
    pub(crate) fn spurious(&mut self, position: usize) {
        let lost = self.lost.keys().copied().nth(position);
        let timeout_only = lost.is_none();
        let Some(number) = lost.or_else(|| self.outstanding.keys().copied().next()) else {
            return;
        };
        let packet = if timeout_only {
            self.outstanding.get(&number).cloned()
        } else {
            self.lost.remove(&number)
        };
        let Some(packet) = packet else {
            return;
        };
        if !timeout_only {
            self.path.lost -= packet.size - Bytes::new(16);
        }
        let event = SpuriousLoss {
            packet: number,
            size: packet.size,
            sent: packet.snapshot.sent,
            timeout_only,
        };
        self.call(|controller, cx| controller.on_spurious_loss(&event, cx));
    }

    /// A probe timeout fires for the oldest packet.
    pub(crate) fn timeout(&mut self) {
        let Some((number, packet)) = self.outstanding.iter().next() else {
            return;
        };
        self.timeouts += 1;
        let event = Timeout {
            count: self.timeouts,
            packet: *number,
            snapshot: packet.snapshot.compare(&self.path),
        };
        self.call(|controller, cx| controller.on_timeout(&event, cx));
    }

    /// The sender has too little to send, or enough again.
    pub(crate) fn app_limited(&mut self, limited: bool) {
        self.app_limited = limited;
        if limited {
            self.path.last_idle = self.now;
            self.path.window_limited = false;
            self.call(|controller, cx| controller.on_app_limited(cx));
        }
    }

    /// Nothing is sent for `span`; all that was in flight has arrived.
    pub(crate) fn idle(&mut self, span: Duration) {
        self.ack(0, usize::MAX, 0);
        self.path.last_idle = self.now;
        self.now += span;
        self.call(|controller, cx| controller.on_idle_restart(cx));
    }

    /// A window is remembered from an earlier connection: it is offered with the first RTT sample.
    pub(crate) fn remember(&mut self, window: u64) {
        self.remembered = Some(Bytes::new(window));
    }
}

/// The state and the variables of a controller.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    state: &'static str,
    variables: Vec<(&'static str, f64)>,
}

impl Shown {
    /// A variable that is not a number.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let mut wrong = self.variables.iter().filter(|(_, value)| value.is_nan());
        wrong.next().map(|(name, _)| *name)
    }
}

impl Observer for Shown {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.push((name, value));
    }
}
