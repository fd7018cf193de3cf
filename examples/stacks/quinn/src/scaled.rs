//! A controller whose window is another one's times a factor: a known difference, for tests of the gate.

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Makes such controllers.
pub(crate) struct Scaled {
    pub(crate) of: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) factor: f64,
}

impl ControllerFactory for Scaled {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.of).build(now, current_mtu);
        let factor = self.factor;
        Box::new(Window { inner, factor })
    }
}

struct Window {
    inner: Box<dyn Controller>,
    factor: f64,
}

impl Controller for Window {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }
    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent, lost_bytes);
    }
    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }
    fn window(&self) -> u64 {
        (self.inner.window() as f64 * self.factor) as u64
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        let (inner, factor) = (self.inner.clone_box(), self.factor);
        Box::new(Window { inner, factor })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
