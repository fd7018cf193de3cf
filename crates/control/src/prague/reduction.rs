//! Reduction of the window: on marks by half of alpha, on loss like a Classic controller, and once per
//! round trip by the larger of the two.
//!
//! - A mark takes `alpha / 2` of the window, then no further mark does for one (virtual) round trip
//!   (Prague draft section 2.4.2; RFC 8257 section 3.3).
//! - A loss takes the share of Reno or of CUBIC (Prague draft section 2.4.1; RFC 9331 section 4.3).
//! - A loss in a round trip that already reduced for a mark signals the same congestion, so
//!   it takes its share of the window *before* the mark; the reduction for the mark counts towards it.
//!   Growth since then stays. (The Linux implementation halves the window after the mark.) A mark in a round
//!   trip that already reduced for a loss takes nothing.

use crate::recovery_period::RecoveryPeriod;
use thalweg_units::{Duration, Instant};

/// The smallest window of additive increase and marks, in packets; pacing spreads less than two packets
/// over more than a round trip. The draft has no floor. Here it is the inverse of the averaging period of
/// alpha (16 round trips): a slower flow would have nothing to average.
const FLOOR: f64 = 1.0 / 16.0;
/// kMinimumWindow of RFC 9002 section 7.2, in packets, the floor of losses.
const LOSS_FLOOR: f64 = 2.0;

/// The last reductions of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reductions {
    /// Share of the window that a loss leaves.
    loss_factor: f64,
    loss: RecoveryPeriod,
    /// The state CWR of RFC 3168: after a reduction on a mark.
    reduced: RecoveryPeriod,
    marked_at: Option<Instant>,
    /// Bytes that the last reduction on a mark took.
    taken: f64,
}

/// Input of a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The window in bytes.
    pub(super) window: f64,
    /// Size of a full packet in bytes.
    pub(super) mtu: f64,
    /// Number of the next packet.
    pub(super) next_packet: u64,
}

impl Reductions {
    pub(super) fn new(loss_factor: f64) -> Self {
        Reductions {
            loss_factor,
            loss: RecoveryPeriod::default(),
            reduced: RecoveryPeriod::default(),
            marked_at: None,
            taken: 0.0,
        }
    }

    /// Whether a loss holds the window.
    pub(super) fn in_recovery(&self) -> bool {
        self.loss.is_open()
    }

    /// Whether an earlier loss event covers the loss of this packet.
    pub(super) fn answered(&self, packet: u64) -> bool {
        self.loss.covers(packet)
    }

    /// Whether a mark has reduced the window in this round trip. It grows nevertheless.
    pub(super) fn is_reduced(&self) -> bool {
        self.reduced.is_open()
    }

    /// Ends the periods once a packet that left during them is acknowledged.
    pub(super) fn on_ack(&mut self, largest: u64) {
        self.loss.on_ack(largest);
        self.reduced.on_ack(largest);
    }

    /// Persistent congestion restarts from slow start (RFC 9002 section 7.6.2).
    pub(super) fn restart(&mut self) {
        self.loss.close();
        self.reduced.close();
    }

    /// An ACK up to `packet` reports a mark. Returns the reduced window, unless there was a reduction in
    /// this round trip or less than `shortest` ago.
    pub(super) fn on_mark(
        &mut self,
        packet: u64,
        alpha: f64,
        flow: Flow,
        now: Instant,
        shortest: Duration,
    ) -> Option<f64> {
        let too_soon = self.marked_at.is_some_and(|last| now - last < shortest);
        if too_soon || self.loss.covers(packet) || self.reduced.covers(packet) {
            return None;
        }
        let reduced = flow.window * (1.0 - alpha / 2.0);
        let window = reduced.max(FLOOR * flow.mtu).min(flow.window);
        self.taken = flow.window - window;
        self.marked_at = Some(now);
        self.reduced.begin(flow.next_packet);
        Some(window)
    }

    /// A packet was lost. Returns the reduced window, unless a loss has reduced it in this round trip.
    pub(super) fn on_loss(&mut self, packet: u64, flow: Flow) -> Option<f64> {
        if self.loss.covers(packet) {
            return None;
        }
        let before = match self.reduced.covers(packet) {
            true => flow.window + self.taken,
            false => flow.window,
        };
        self.taken = 0.0;
        self.loss.begin(flow.next_packet);
        let reduced = before * self.loss_factor;
        Some(reduced.max(LOSS_FLOOR * flow.mtu).min(flow.window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::START;
    const NO_WAIT: Duration = Duration::ZERO;

    fn flow(packets: f64, next_packet: u64) -> Flow {
        Flow {
            window: packets * 1_000.0,
            mtu: 1_000.0,
            next_packet,
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha_once_in_a_round_trip() {
        let mut reductions = Reductions::new(0.5);
        // 100 * (1 - 0.2 / 2) = 90
        let first = reductions.on_mark(5, 0.2, flow(100.0, 100), NOW, NO_WAIT);
        assert_eq!(first, Some(90_000.0));
        let again =
            |r: &mut Reductions, packet| r.on_mark(packet, 0.2, flow(90.0, 190), NOW, NO_WAIT);
        assert_eq!(again(&mut reductions, 99), None);
        // 90 * 0.9 = 81
        assert_eq!(again(&mut reductions, 100), Some(81_000.0));
    }

    #[test]
    fn a_virtual_round_trip_holds_marks_back_longer_than_a_real_one() {
        let mut reductions = Reductions::new(0.5);
        let wait = Duration::from_millis(25);
        assert!(
            reductions
                .on_mark(5, 0.2, flow(100.0, 10), NOW, wait)
                .is_some()
        );
        let mut at = |millis, packet| {
            let now = NOW + Duration::from_millis(millis);
            reductions.on_mark(packet, 0.2, flow(90.0, packet + 1), now, wait)
        };
        assert_eq!(at(24, 50), None);
        assert_eq!(at(25, 60), Some(81_000.0));
    }

    #[test]
    fn a_loss_takes_the_classic_share() {
        assert_eq!(
            Reductions::new(0.5).on_loss(5, flow(100.0, 10)),
            Some(50_000.0)
        );
        let cubic = Reductions::new(0.7).on_loss(5, flow(100.0, 10)).unwrap();
        assert!((cubic - 70_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_loss_after_a_mark_of_the_same_round_trip_counts_what_the_mark_took() {
        let mut reductions = Reductions::new(0.5);
        reductions.on_mark(5, 0.2, flow(100.0, 100), NOW, NO_WAIT);
        // 90 packets and the 10 that the mark took: half of 100, not 90 / 2 = 45
        assert_eq!(reductions.on_loss(50, flow(90.0, 130)), Some(50_000.0));
        // The next round trip is on its own.
        assert_eq!(reductions.on_loss(130, flow(50.0, 180)), Some(25_000.0));
    }

    #[test]
    fn a_loss_in_the_round_trip_after_a_mark_takes_its_full_share() {
        let mut reductions = Reductions::new(0.5);
        reductions.on_mark(5, 0.2, flow(100.0, 100), NOW, NO_WAIT);
        assert_eq!(reductions.on_loss(100, flow(90.0, 190)), Some(45_000.0));
    }

    #[test]
    fn with_alpha_of_one_a_loss_after_the_mark_takes_nothing_more_and_adds_nothing() {
        let mut reductions = Reductions::new(0.7);
        let marked = reductions.on_mark(5, 1.0, flow(100.0, 100), NOW, NO_WAIT);
        assert_eq!(marked, Some(50_000.0));
        // 0.7 * (50 + 50) = 70 is more than there is.
        assert_eq!(reductions.on_loss(50, flow(50.0, 130)), Some(50_000.0));
    }

    #[test]
    fn a_mark_after_a_loss_of_the_same_round_trip_takes_nothing() {
        let mut reductions = Reductions::new(0.5);
        reductions.on_loss(5, flow(100.0, 100));
        assert_eq!(
            reductions.on_mark(99, 1.0, flow(50.0, 130), NOW, NO_WAIT),
            None
        );
        assert!(
            reductions
                .on_mark(100, 1.0, flow(50.0, 150), NOW, NO_WAIT)
                .is_some()
        );
    }

    #[test]
    fn marks_lower_the_window_below_two_packets_and_losses_do_not() {
        let mut reductions = Reductions::new(0.5);
        assert_eq!(reductions.on_loss(5, flow(3.0, 10)), Some(2_000.0));
        assert_eq!(reductions.on_loss(10, flow(2.0, 20)), Some(2_000.0));
        assert_eq!(
            reductions.on_mark(20, 1.0, flow(2.0, 30), NOW, NO_WAIT),
            Some(1_000.0)
        );
        assert_eq!(reductions.on_loss(30, flow(1.0, 40)), Some(1_000.0));
        // 0.1 / 2 = 0.05 is below the floor of a sixteenth, 62.5 bytes.
        assert_eq!(
            reductions.on_mark(40, 1.0, flow(0.1, 50), NOW, NO_WAIT),
            Some(62.5)
        );
    }
}
