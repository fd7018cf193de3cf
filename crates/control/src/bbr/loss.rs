//! Effect of losses on the model (draft-ietf-ccwg-bbr-06 section 5.5.10).
//!
//! While bandwidth is probed, loss above LossThresh sets the long-term bound, once for each probe. In
//! all other phases the round with the loss lowers the short-term bounds when it ends ([`crate::bbr_model::Bounds`]).

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::Gain;
use crate::event::Lost;
use thalweg_units::Bytes;

/// IsInflightTooHigh(): more than LossThresh of what was in flight is lost.
pub(super) fn is_inflight_too_high(lost: Bytes, tx_in_flight: Bytes, loss_thresh: Gain) -> bool {
    lost > loss_thresh.of_bytes(tx_in_flight)
}

/// InflightAtLoss(): at which volume in flight the loss crossed LossThresh, somewhere inside the lost
/// packet. With no solution inside, it is the volume before the packet.
fn inflight_at_loss(size: Bytes, tx_in_flight: Bytes, lost: Bytes, loss_thresh: Gain) -> Bytes {
    let (inflight_prev, lost_prev) = (tx_in_flight - size, lost - size);
    let tolerated = loss_thresh.of_bytes(inflight_prev) - lost_prev;
    inflight_prev + loss_thresh.of_rest(tolerated)
}

impl Bbr {
    /// HandleLostPacket().
    pub(super) fn handle_lost_packet(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.loss_round.note_loss(cx.path.delivered);
        if !self.probe.is_bw_probe_sample {
            return;
        }
        let snapshot = &event.snapshot;
        let (lost, in_flight) = (snapshot.lost_since_sent, snapshot.in_flight_at_send);
        let loss_thresh = self.tuning.loss_thresh;
        if is_inflight_too_high(lost, in_flight, loss_thresh) {
            let limit = inflight_at_loss(event.size, in_flight, lost, loss_thresh);
            self.handle_inflight_too_high(limit, snapshot.app_limited, cx);
        }
    }

    /// HandleInflightTooHigh(): `limit` is the excessive volume.
    pub(super) fn handle_inflight_too_high(
        &mut self,
        limit: Bytes,
        is_app_limited: bool,
        cx: &mut Context<'_>,
    ) {
        self.probe.prev_probe_too_high = true;
        self.probe.is_bw_probe_sample = false;
        if !is_app_limited {
            self.bounds.inflight_longterm =
                limit.max(self.tuning.beta.of_bytes(self.target_inflight()));
        }
        if self.state == State::ProbeBwUp {
            self.recovery.left(State::ProbeBwUp);
            self.start_probe_bw_down(cx);
        }
    }

    /// AdaptLowerBoundsFromCongestion() at the end of a loss round.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if !self.loss_round.start {
            return;
        }
        if self.loss_round.is_loss_in_round && !self.state.is_probing_bw() {
            let (latest, beta) = (&self.loss_round.latest, self.tuning.beta);
            self.bounds
                .lower(latest, self.max_bw.get(), self.cwnd, beta);
        }
        self.loss_round.is_loss_in_round = false;
        self.loss_round.ranges = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr_model::parameters::LOSS_THRESH;

    #[test]
    fn two_percent_of_loss_is_tolerated_and_more_is_not() {
        assert!(!is_inflight_too_high(
            Bytes::new(2_000),
            Bytes::new(100_000),
            LOSS_THRESH
        ));
        assert!(is_inflight_too_high(
            Bytes::new(2_001),
            Bytes::new(100_000),
            LOSS_THRESH
        ));
    }

    #[test]
    fn the_threshold_is_found_inside_the_lost_packet() {
        // 100 kB in flight with the packet of 50 kB, nothing lost before:
        // prefix = 0.02 * 50 000 / 0.98 = 1020, and 1020 / 51 020 is 2 %.
        let limit = inflight_at_loss(
            Bytes::new(50_000),
            Bytes::new(100_000),
            Bytes::new(50_000),
            LOSS_THRESH,
        );
        assert_eq!(limit, Bytes::new(51_020));
    }

    #[test]
    fn loss_before_the_packet_beyond_the_threshold_puts_the_limit_before_it() {
        let limit = inflight_at_loss(
            Bytes::new(1_000),
            Bytes::new(101_000),
            Bytes::new(11_000),
            LOSS_THRESH,
        );
        assert_eq!(limit, Bytes::new(100_000));
    }
}
