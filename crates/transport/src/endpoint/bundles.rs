//! Sending in the bundles of the host: how large they are, and when one waits.

use super::Endpoint;
use crate::host::bundle::{Room, sizing_rate};
use thalweg_units::{Duration, Instant};

impl Endpoint {
    /// Sizes bundles by the present decision of the controller.
    #[inline(never)] // few hosts send in bundles
    pub(super) fn size_bundles(&mut self) {
        let path = &self.sender.path;
        let rate = sizing_rate(&self.sender.control, path.smoothed_rtt);
        // Nothing is known of a path without a sample.
        let min_rtt = if path.has_rtt() {
            path.min_rtt
        } else {
            Duration::ZERO
        };
        let packets = self.config.host.bundle.packets(path.mtu, rate, min_rtt);
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
        let credit = self.credit.left();
        let data = self.send_streams.iter().map(|stream| stream.pending());
        let room = Room {
            bundle: path.mtu.as_u64() * u64::from(self.pacer.bundle()),
            window: window.as_u64(),
            space: window.as_u64().saturating_sub(in_flight.as_u64()),
            data: data.sum::<u64>().min(credit),
            since_last: now - self.last_eliciting,
            since_oldest: oldest.map_or(Duration::MAX, |packet| now - packet.state.sent),
            smoothed_rtt: path.smoothed_rtt,
        };
        !in_flight.is_zero() && room.is_too_small()
    }
}
