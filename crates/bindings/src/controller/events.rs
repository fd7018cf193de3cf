//! Events as Python sees them: one class for each struct of `thalweg_control::event`, under the same names, in seconds,
//! bytes and bits per second. They hold the event and convert what is asked for.

use super::attributes::{InPython, attributes, in_python};
use pyo3::prelude::*;
use thalweg_control::{event, fields};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One ACK frame newly acknowledged one or more packets.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Ack(pub(super) event::Ack);

/// What the transport remembered of a packet when it left, and how it compares now.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Snapshot(pub(super) event::Snapshot);

/// A delivery-rate sample of one ACK.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct RateSample(pub(super) event::RateSample);

/// One packet was declared lost.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Lost(pub(super) event::Lost);

/// A packet left.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Sent(pub(super) event::Sent);

/// A probe timeout fired.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Timeout(pub(super) event::Timeout);

/// A packet that was declared lost, or for which a probe timeout fired, arrived after all.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct SpuriousLoss(pub(super) event::SpuriousLoss);

/// ECN counters of the peer, cumulative.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct EcnCounts(pub(super) event::EcnCounts);

/// A new round-trip time sample.
#[pyclass(module = "thalweg._native")]
pub(crate) struct RttSample(pub(super) event::RttSample);

in_python! {
    event::Snapshot => Snapshot: Snapshot;
    event::RateSample => RateSample: RateSample;
    event::EcnCounts => EcnCounts: EcnCounts;
}

fields!(Ack => attributes!(Ack (self: event::Ack = &self.0) {
    fn window_was_underused(&self, path: &super::path::Path) -> bool {
        self.0.window_was_underused(&path.path)
    }
}));
fields!(Snapshot => attributes!(Snapshot (self: event::Snapshot = &self.0) {}));
fields!(RateSample => attributes!(RateSample (self: event::RateSample = &self.0) {}));
fields!(Lost => attributes!(Lost (self: event::Lost = &self.0) {}));
fields!(Sent => attributes!(Sent (self: event::Sent = &self.0) {}));
fields!(Timeout => attributes!(Timeout (self: event::Timeout = &self.0) {}));
fields!(SpuriousLoss => attributes!(SpuriousLoss (self: event::SpuriousLoss = &self.0) {}));
fields!(EcnCounts => attributes!(EcnCounts (self: event::EcnCounts = &self.0) {}));
fields!(RttSample => attributes!(RttSample (self: event::RttSample = &self.0) {}));
