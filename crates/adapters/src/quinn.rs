//! The `Controller` trait of quinn.

use crate::bridge::{Bridge, Factory};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
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
    last_number: Option<u64>,
}

impl Adapter {
    fn new(factory: Arc<Factory>, now: Instant, mtu: u16) -> Self {
        Adapter {
            bridge: factory.bridge(now, mtu),
            factory,
            mtu,
            now,
            last_number: None,
        }
    }
}

impl Controller for Adapter {
    /// One call stands for all packets of a batch, assumed to be of one size.
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.now = now;
        let since_last = self
            .last_number
            .map_or(1, |last| last_packet_number.saturating_sub(last));
        self.last_number = Some(last_packet_number);
        // Numbers restart in each packet number space, and no packet is larger than the path MTU.
        let least = bytes.div_ceil(u64::from(self.mtu)).max(1);
        let count = if (least..=bytes.max(1)).contains(&since_last) {
            since_last
        } else {
            least
        };
        let mut sender = self.bridge.sender();
        for index in 0..count {
            let (end, begin) = (bytes * (index + 1) / count, bytes * index / count);
            sender.on_sent(now, end - begin, None);
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _bytes: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.bridge.sender().on_acked(now, sent, None, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, _app_limited: bool, _: Option<u64>) {
        self.now = now;
        self.bridge.sender().on_acks_ended(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let mut sender = self.bridge.sender();
        // No bytes are lost where the trigger was ECN.
        if lost_bytes == 0 {
            sender.on_marked(now);
        } else {
            sender.on_lost_until(now, sent, lost_bytes);
        }
        if is_persistent_congestion {
            sender.on_persistent_congestion();
        }
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
        metrics.pacing_rate = control.pacing.map(|rate| rate.as_bits_per_sec());
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
