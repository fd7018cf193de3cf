//! Events made up by a test: they change only the path state that the test sets.

use super::Flow;
use crate::Controller;
use crate::event::{Ack, EcnCounts, Lost, RttSample, Snapshot, SpuriousLoss, Timeout};
use thalweg_units::Bytes;

impl<C: Controller + ?Sized> Flow<C> {
    /// A packet sent now and alone, and `acked` delivered since.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            sent: self.now,
            in_flight_at_send: Bytes::ZERO,
            delivered_at_send: Bytes::ZERO,
            lost_at_send: Bytes::ZERO,
            delivered_since_sent: self.acked,
            lost_since_sent: Bytes::ZERO,
            app_limited: false,
            window_limited: false,
        }
    }

    /// The latest RTT of the path is reported.
    pub fn report_rtt(&mut self) {
        let rtt = self.path.latest_rtt;
        self.call(|controller, cx| controller.on_rtt(&RttSample { rtt, raw: rtt }, cx));
    }

    /// An ACK of `acked` bytes, with the latest RTT of the path.
    pub fn report_ack(&mut self) {
        let ack = Ack {
            largest: self.path.largest_acked.unwrap_or(0),
            newly_acked: self.acked,
            newly_acked_packets: self.acked.as_u64() / self.size.as_u64(),
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(self.path.latest_rtt),
            snapshot: self.snapshot(),
            rate: None,
            prior_in_flight: Bytes::ZERO,
        };
        self.call(|controller, cx| controller.on_ack(&ack, cx));
    }

    /// The loss of a packet.
    pub fn report_loss(&mut self, packet: u64) {
        let lost = Lost {
            packet,
            size: self.size,
            snapshot: self.snapshot(),
            persistent_congestion: false,
        };
        self.call(|controller, cx| controller.on_lost(&lost, cx));
    }

    /// The cumulative counts of ECN marks.
    pub fn report_ecn(&mut self, counts: EcnCounts) {
        self.path.ecn = counts;
        self.call(|controller, cx| controller.on_ecn(&counts, cx));
    }

    /// A remembered window.
    pub fn report_seed(&mut self, window: Bytes) {
        self.call(|controller, cx| controller.on_seed(window, cx));
    }

    /// A timeout, the return of a packet that was lost, and an idle period.
    pub fn report_timeout_spurious_loss_and_idle_restart(&mut self) {
        let timeout = Timeout {
            count: 3,
            packet: 1,
            snapshot: self.snapshot(),
        };
        let spurious = SpuriousLoss {
            packet: 100,
            size: self.size,
            sent: self.now,
            timeout_only: false,
        };
        self.call(|controller, cx| {
            controller.on_timeout(&timeout, cx);
            controller.on_spurious_loss(&spurious, cx);
            controller.on_app_limited(cx);
            controller.on_idle_restart(cx);
        });
    }
}
