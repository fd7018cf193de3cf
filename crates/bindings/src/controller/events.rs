//! Events as Python sees them: one class for each struct of `thalweg_control::event`, under the same names, in seconds,
//! bytes and bits per second. They hold the event and convert what is asked for.

use pyo3::prelude::*;
use thalweg_control::event;

/// One ACK frame newly acknowledged one or more packets.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Ack(pub(super) event::Ack);

#[pymethods]
impl Ack {
    #[getter]
    fn largest(&self) -> u64 {
        self.0.largest
    }
    #[getter]
    fn newly_acked(&self) -> u64 {
        self.0.newly_acked.as_u64()
    }
    #[getter]
    fn newly_acked_packets(&self) -> u64 {
        self.0.newly_acked_packets
    }
    #[getter]
    fn newly_lost(&self) -> u64 {
        self.0.newly_lost.as_u64()
    }
    #[getter]
    fn lost_ranges(&self) -> u32 {
        self.0.lost_ranges
    }
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(|rtt| rtt.as_secs_f64())
    }
    #[getter]
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.snapshot.clone())
    }
    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.0.rate.clone().map(RateSample)
    }
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight.as_u64()
    }
    fn window_was_underused(&self, path: &super::path::Path) -> bool {
        self.0.window_was_underused(&path.state)
    }
}

/// What the transport remembered of a packet when it left, and how it compares now.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Snapshot(event::Snapshot);

#[pymethods]
impl Snapshot {
    #[getter]
    fn sent(&self) -> f64 {
        self.0.sent.as_secs_f64()
    }
    #[getter]
    fn in_flight_at_send(&self) -> u64 {
        self.0.in_flight_at_send.as_u64()
    }
    #[getter]
    fn delivered_at_send(&self) -> u64 {
        self.0.delivered_at_send.as_u64()
    }
    #[getter]
    fn lost_at_send(&self) -> u64 {
        self.0.lost_at_send.as_u64()
    }
    #[getter]
    fn delivered_since_sent(&self) -> u64 {
        self.0.delivered_since_sent.as_u64()
    }
    #[getter]
    fn lost_since_sent(&self) -> u64 {
        self.0.lost_since_sent.as_u64()
    }
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
    #[getter]
    fn window_limited(&self) -> bool {
        self.0.window_limited
    }
}

/// A delivery-rate sample of one ACK.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct RateSample(event::RateSample);

#[pymethods]
impl RateSample {
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.as_u64()
    }
    #[getter]
    fn interval(&self) -> f64 {
        self.0.interval.as_secs_f64()
    }
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate.as_bits_per_sec() as f64
    }
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}

/// One packet was declared lost.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Lost(pub(super) event::Lost);

#[pymethods]
impl Lost {
    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet
    }
    #[getter]
    fn size(&self) -> u64 {
        self.0.size.as_u64()
    }
    #[getter]
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.snapshot.clone())
    }
    #[getter]
    fn persistent_congestion(&self) -> bool {
        self.0.persistent_congestion
    }
}

/// A packet left.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Sent(pub(super) event::Sent);

#[pymethods]
impl Sent {
    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet
    }
    #[getter]
    fn size(&self) -> u64 {
        self.0.size.as_u64()
    }
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight.as_u64()
    }
    #[getter]
    fn was_idle(&self) -> bool {
        self.0.was_idle
    }
}

/// A probe timeout fired.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Timeout(pub(super) event::Timeout);

#[pymethods]
impl Timeout {
    #[getter]
    fn count(&self) -> u32 {
        self.0.count
    }
    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet
    }
    #[getter]
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.snapshot.clone())
    }
}

/// A packet that was declared lost, or for which a probe timeout fired, arrived after all.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct SpuriousLoss(pub(super) event::SpuriousLoss);

#[pymethods]
impl SpuriousLoss {
    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet
    }
    #[getter]
    fn size(&self) -> u64 {
        self.0.size.as_u64()
    }
    #[getter]
    fn sent(&self) -> f64 {
        self.0.sent.as_secs_f64()
    }
    #[getter]
    fn timeout_only(&self) -> bool {
        self.0.timeout_only
    }
}

/// ECN counters of the peer, cumulative.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct EcnCounts(pub(super) event::EcnCounts);

#[pymethods]
impl EcnCounts {
    #[getter]
    fn ect0(&self) -> u64 {
        self.0.ect0
    }
    #[getter]
    fn ect1(&self) -> u64 {
        self.0.ect1
    }
    #[getter]
    fn ce(&self) -> u64 {
        self.0.ce
    }
    #[getter]
    fn largest_acked(&self) -> u64 {
        self.0.largest_acked
    }
    #[getter]
    fn total(&self) -> u64 {
        self.0.total()
    }
}

/// A new round-trip time sample.
#[pyclass(module = "thalweg._native")]
pub(crate) struct RttSample(pub(super) event::RttSample);

#[pymethods]
impl RttSample {
    #[getter]
    fn rtt(&self) -> f64 {
        self.0.rtt.as_secs_f64()
    }
    #[getter]
    fn raw(&self) -> f64 {
        self.0.raw.as_secs_f64()
    }
}
