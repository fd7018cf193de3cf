//! The `Controller` trait of noq.

use crate::bridge::{Bridge, Factory};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Adapter::new(self, now, current_mtu))
    }
}

struct Adapter {
    factory: Arc<Factory>,
    bridge: Bridge,
    mtu: u16,
    /// Time of the last report: the start of the clock of a copy for a new path.
    now: Instant,
}

impl Adapter {
    fn new(factory: Arc<Factory>, now: Instant, mtu: u16) -> Self {
        Adapter {
            bridge: factory.bridge(now, mtu),
            factory,
            mtu,
            now,
        }
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("factory", &self.factory)
            .finish_non_exhaustive()
    }
}

impl Controller for Adapter {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.now = now;
        self.bridge
            .sender()
            .on_sent(now, u64::from(bytes), Some(pn));
    }

    fn on_cwnd_limited(&mut self) {
        self.bridge.sender().on_window_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _bytes: u64,
        pn: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.bridge
            .sender()
            .on_acked(now, sent, Some(pn), app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, _app_limited: bool, _: Option<u64>) {
        self.now = now;
        self.bridge.sender().on_acks_ended(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let mut sender = self.bridge.sender();
        if is_ecn {
            sender.on_marked(now);
        }
        if is_persistent_congestion {
            sender.on_persistent_congestion();
        }
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, now: Instant) {
        self.bridge.sender().on_lost(now, pn);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.bridge.sender().on_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.bridge.sender().set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.bridge.sender().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let control = self.bridge.sender().control();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = control.window.as_u64().max(1);
        metrics.pacing_rate = control.pacing.map(|rate| rate.as_bits_per_sec() / 8);
        metrics.send_quantum = Some(control.quantum.as_u64());
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Adapter::new(Arc::clone(&self.factory), self.now, self.mtu))
    }

    fn initial_window(&self) -> u64 {
        self.bridge.sender().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
