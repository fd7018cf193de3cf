//! Sending in the bundles of the host: how large they are, and when one waits.

use super::Endpoint;
use crate::host::bundle::Room;
use thalweg_units::{Duration, Instant};

impl Endpoint {
    /// Sizes bundles by the present decision of the controller.
    #[inline(never)] // few hosts send in bundles
    pub(super) fn size_bundles(&mut self) {
        let packets = (self.config.host.bundle).of(&self.sender.control, &self.sender.path);
        self.pacer.set_bundle(packets);
    }

    /// Whether a bundle would begin now, and has to wait for room in the window.
    #[inline(never)] // few hosts send in bundles
    pub(super) fn waits_for_bundle(&self, now: Instant) -> bool {
        if !self.pacer.begins_bundle(now) || self.probes > 0 || self.datagrams.front().is_some() {
            return false;
        }
        let path = &self.sender.path;
        let oldest = self.sent.get(path.lowest_unacked);
        let (window, in_flight) = (self.sender.control.window, path.bytes_in_flight);
        let room = Room {
            bundle: path.mtu.as_u64() * u64::from(self.pacer.bundle()),
            window: window.as_u64(),
            space: window.as_u64().saturating_sub(in_flight.as_u64()),
            data: self.sendable(),
            since_last: now - self.last_eliciting,
            since_oldest: oldest.map_or(Duration::MAX, |packet| now - packet.state.sent),
            smoothed_rtt: path.smoothed_rtt,
        };
        !in_flight.is_zero() && room.is_too_small()
    }
}
