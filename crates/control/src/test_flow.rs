//! A fabricated flow for tests of controllers: it sends full packets as the window allows, and the test
//! says which of them arrive, when, and which do not.
//!
//! It keeps a [`PathState`] consistent with the events it reports, in the order that [`Controller`]
//! promises.
//!
//! # Limits
//! Packets are full, and count whole: no AEAD tag is taken off. Nothing is paced. There is no delivery
//! rate unless the test sets `path.delivery_rate`, `path.peak_rate` and `rate`.

use crate::event::{Ack, Lost, RateSample, RttSample, Sent, Snapshot, SpuriousLoss, Timeout};
use crate::{Context, Control, Controller, ControllerSpec, Init, Observer, PathState, Rng};
use std::collections::BTreeMap;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// Size of every packet.
pub(crate) const MTU: Bytes = Bytes::new(1_000);
/// Ten packets.
pub(crate) const INITIAL_WINDOW: Bytes = Bytes::new(10_000);

/// One flow and its controller.
pub(crate) struct Flow {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) path: PathState,
    pub(crate) now: Instant,
    /// Whether packets are marked as sent without enough data to fill the window.
    pub(crate) app_limited: bool,
    /// The delivery-rate sample that ACKs bring.
    pub(crate) rate: Option<RateSample>,
    rng: Rng,
    outstanding: BTreeMap<u64, Snapshot>,
    lost: BTreeMap<u64, Snapshot>,
}

impl Flow {
    /// A flow that starts at one second, driven by the controller of that name.
    pub(crate) fn new(spec: &str) -> Self {
        let now = Instant::START + Duration::from_secs(1);
        let spec: ControllerSpec = spec.parse().unwrap();
        let init = Init {
            now,
            mtu: MTU,
            initial_window: INITIAL_WINDOW,
        };
        let mut path = PathState::new(MTU);
        path.established = true;
        path.newest_acked_data_sent = now;
        Flow {
            controller: spec.build(&init),
            path,
            now,
            app_limited: false,
            rate: None,
            rng: Rng::new(1),
            outstanding: BTreeMap::new(),
            lost: BTreeMap::new(),
        }
    }

    pub(crate) fn control(&self) -> Control {
        self.controller.control()
    }
    pub(crate) fn window(&self) -> Bytes {
        self.control().window
    }
    /// The window in packets.
    pub(crate) fn packets(&self) -> f64 {
        self.window().as_u64() as f64 / MTU.as_u64() as f64
    }
    /// The state that the controller shows in traces.
    pub(crate) fn state(&self) -> &'static str {
        let mut probe = Probe::default();
        self.controller.observe(&mut probe);
        probe.state
    }
    /// A variable that the controller shows in traces.
    pub(crate) fn variable(&self, name: &str) -> Option<f64> {
        let mut probe = Probe::default();
        self.controller.observe(&mut probe);
        probe.variables.get(name).copied()
    }
    /// The packets in flight, oldest first.
    pub(crate) fn in_flight(&self) -> Vec<u64> {
        self.outstanding.keys().copied().collect()
    }
    pub(crate) fn advance(&mut self, span: Duration) {
        self.now += span;
    }

    /// Calls the controller with the context of the moment.
    pub(crate) fn call(&mut self, f: impl FnOnce(&mut dyn Controller, &mut Context<'_>)) {
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        f(self.controller.as_mut(), &mut cx);
    }

    /// Sends one packet, whatever the window.
    pub(crate) fn send(&mut self) -> u64 {
        let packet = self.path.next_packet;
        let prior = self.path.bytes_in_flight;
        self.path.next_packet += 1;
        self.path.bytes_in_flight += MTU;
        self.path.app_limited = self.app_limited;
        self.path.window_limited = self.path.bytes_in_flight >= self.window();
        let snapshot = Snapshot {
            sent: self.now,
            in_flight_at_send: self.path.bytes_in_flight,
            delivered_at_send: self.path.delivered,
            lost_at_send: self.path.lost,
            delivered_since_sent: Bytes::ZERO,
            lost_since_sent: Bytes::ZERO,
            app_limited: self.app_limited,
            window_limited: self.path.window_limited,
        };
        self.outstanding.insert(packet, snapshot);
        let sent = Sent {
            packet,
            size: MTU,
            prior_in_flight: prior,
            was_idle: prior == Bytes::ZERO,
        };
        self.call(|controller, cx| controller.on_sent(&sent, cx));
        packet
    }

    /// Sends until the window is full.
    pub(crate) fn fill_window(&mut self) {
        while self.path.bytes_in_flight + MTU <= self.window() {
            self.send();
        }
        self.path.window_limited = true;
    }

    /// The oldest packet arrives now, alone in its ACK.
    pub(crate) fn ack_next(&mut self) {
        if let Some(packet) = self.outstanding.keys().next().copied() {
            self.ack(packet);
        }
    }

    /// One packet arrives now, alone in its ACK.
    pub(crate) fn ack(&mut self, packet: u64) {
        self.ack_all(&[packet]);
    }

    /// Packets that arrive in one ACK now; those that are not in flight are ignored.
    pub(crate) fn ack_all(&mut self, packets: &[u64]) {
        self.ack_marked(packets, 0);
    }

    /// Packets that arrive in one ACK now, `marked` of them with a CE mark.
    pub(crate) fn ack_marked(&mut self, packets: &[u64], marked: u64) {
        let acked: Vec<(u64, Snapshot)> = packets
            .iter()
            .filter_map(|p| Some((*p, self.outstanding.remove(p)?)))
            .collect();
        let Some((largest, newest)) = acked.iter().max_by_key(|(p, _)| *p) else {
            return;
        };
        let size = MTU * acked.len() as u64;
        let prior_in_flight = self.path.bytes_in_flight;
        self.path.bytes_in_flight -= size;
        self.path.delivered += size;
        self.path.largest_acked = self.path.largest_acked.max(Some(*largest));
        self.path.newest_acked_data_sent = self.path.newest_acked_data_sent.max(newest.sent);
        self.path.lowest_unacked = self
            .outstanding
            .keys()
            .next()
            .copied()
            .unwrap_or(self.path.next_packet);
        self.report_ecn(*largest, acked.len() as u64, marked);
        let rtt = self.now - newest.sent;
        self.take_rtt(rtt);
        self.call(|controller, cx| controller.on_rtt(&RttSample { rtt, raw: rtt }, cx));
        let ack = Ack {
            largest: *largest,
            newly_acked: size,
            newly_acked_packets: acked.len() as u64,
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(rtt),
            snapshot: self.complete(newest.clone()),
            rate: self.rate.clone(),
            prior_in_flight,
        };
        self.call(|controller, cx| controller.on_ack(&ack, cx));
    }

    fn complete(&self, snapshot: Snapshot) -> Snapshot {
        Snapshot {
            delivered_since_sent: self.path.delivered - snapshot.delivered_at_send,
            lost_since_sent: self.path.lost - snapshot.lost_at_send,
            ..snapshot
        }
    }

    /// RFC 9002 section 5.3.
    fn take_rtt(&mut self, rtt: Duration) {
        let path = &mut self.path;
        path.latest_rtt = rtt;
        if !path.has_rtt() {
            (path.min_rtt, path.smoothed_rtt, path.rtt_var) = (rtt, rtt, rtt / 2);
            return;
        }
        path.min_rtt = path.min_rtt.min(rtt);
        path.rtt_var = (path.rtt_var * 3 + path.smoothed_rtt.abs_diff(rtt)) / 4;
        path.smoothed_rtt = (path.smoothed_rtt * 7 + rtt) / 8;
    }

    /// A packet is declared lost.
    pub(crate) fn lose(&mut self, packet: u64) {
        self.declare_lost(packet, false);
    }

    /// A packet is declared lost and completes a period of persistent congestion.
    pub(crate) fn lose_persistently(&mut self, packet: u64) {
        self.declare_lost(packet, true);
    }

    fn declare_lost(&mut self, packet: u64, persistent_congestion: bool) {
        let Some(snapshot) = self.outstanding.remove(&packet) else {
            return;
        };
        self.path.bytes_in_flight -= MTU;
        self.path.lost += MTU;
        self.lost.insert(packet, snapshot.clone());
        let snapshot = self.complete(snapshot);
        let lost = Lost {
            packet,
            size: MTU,
            snapshot,
            persistent_congestion,
        };
        self.call(|controller, cx| controller.on_lost(&lost, cx));
    }

    /// A packet that was declared lost, or only timed out, arrives after all.
    pub(crate) fn spurious(&mut self, packet: u64) {
        let timeout_only = !self.lost.contains_key(&packet);
        let (sent, size) = match self.lost.remove(&packet) {
            Some(snapshot) => (snapshot.sent, MTU),
            None => (self.now, MTU),
        };
        if !timeout_only {
            self.path.lost -= MTU;
        }
        let event = SpuriousLoss {
            packet,
            size,
            sent,
            timeout_only,
        };
        self.call(|controller, cx| controller.on_spurious_loss(&event, cx));
    }

    /// A probe timeout fires for the oldest packet in flight.
    pub(crate) fn timeout(&mut self) {
        let Some((packet, snapshot)) = self.outstanding.iter().next() else {
            return;
        };
        let event = Timeout {
            count: 1,
            packet: *packet,
            snapshot: self.complete(snapshot.clone()),
        };
        self.call(|controller, cx| controller.on_timeout(&event, cx));
    }

    /// An ACK of `packet` reports one more CE mark.
    pub(crate) fn mark_ce(&mut self, packet: u64) {
        self.report_ecn(packet, 1, 1);
    }

    /// An ACK up to `largest` counts so many more packets, `marked` of them with a CE mark.
    fn report_ecn(&mut self, largest: u64, packets: u64, marked: u64) {
        let counts = &mut self.path.ecn;
        match self.controller.ecn() {
            Ecn::Ect0 => counts.ect0 += packets - marked,
            Ecn::Ect1 => counts.ect1 += packets - marked,
            Ecn::NotEct | Ecn::Ce => {}
        }
        counts.ce += marked;
        counts.largest_acked = largest;
        let counts = *counts;
        if marked > 0 {
            self.call(|controller, cx| controller.on_ecn(&counts, cx));
        }
    }

    /// Sends a window, waits `rtt`, and acknowledges each of its packets.
    pub(crate) fn round(&mut self, rtt: Duration) {
        self.fill_window();
        self.advance(rtt);
        for packet in self.in_flight() {
            self.ack(packet);
        }
    }
}

#[derive(Default)]
struct Probe {
    state: &'static str,
    variables: BTreeMap<&'static str, f64>,
}

impl Observer for Probe {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.insert(name, value);
    }
}
