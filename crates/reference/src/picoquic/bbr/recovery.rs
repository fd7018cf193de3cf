//! Loss recovery with packet conservation, and the restart after a probe timeout.

use super::{Bbr, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::parameters::LOSS_THRESH;
use thalweg_control::bbr_model::{Gain, Sample};
use thalweg_control::event::{Ack, Timeout};
use thalweg_units::Bytes;

#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// Set in recovery, which ends when this packet or a later one is acknowledged: the first sent after a
    /// loss, or the one for which a timeout fired.
    until: Option<u64>,
    /// Whether packets are conserved.
    conserves: bool,
    /// Whether a timeout started recovery or fired during it.
    by_timeout: bool,
    /// Total delivered when it last began or ended.
    pub(super) delivered: Bytes,
    pub(super) prior_cwnd: Bytes,
}

impl Recovery {
    /// Saves the window, or the largest one while it was modulated.
    pub(super) fn save_cwnd(&mut self, cwnd: Bytes, probe_rtt: bool) {
        self.prior_cwnd = if self.until.is_some() || probe_rtt {
            self.prior_cwnd.max(cwnd)
        } else {
            cwnd
        };
    }

    pub(super) fn restored(&self, cwnd: Bytes) -> Bytes {
        cwnd.max(self.prior_cwnd)
    }

    pub(super) fn conserves_packets(&self) -> bool {
        self.conserves
    }
}

/// The volume in flight at which the loss crossed LossThresh: what was in flight before the packet, plus the
/// share that may be lost of that volume minus earlier losses.
pub(super) fn inflight_at_loss(size: Bytes, tx_in_flight: Bytes, lost: Bytes) -> Bytes {
    let (in_flight_before, lost_before) = (tx_in_flight - size, lost - size);
    if in_flight_before <= lost_before {
        return tx_in_flight;
    }
    in_flight_before + LOSS_THRESH.odds_of(in_flight_before - lost_before)
}

impl Bbr {
    /// Enters recovery when too much was in flight, and leaves it.
    pub(super) fn update_recovery(&mut self, sample: &Sample, event: &Ack, cx: &mut Context<'_>) {
        if let Some(until) = self.recovery.until {
            if cx.path.largest_acked.unwrap_or(event.largest) >= until {
                self.exit_recovery(cx);
            }
        } else if self.is_inflight_too_high(sample) {
            self.recovery
                .save_cwnd(self.cwnd, self.state == State::ProbeRtt);
            self.recovery.until = Some(cx.path.next_packet);
            self.recovery.conserves = true;
            self.recovery.delivered = cx.path.delivered;
            self.cwnd = sample.in_flight + sample.newly_acked.max(self.mtu);
        }
    }

    /// Losses reduce the window, in recovery or not; in recovery packets are conserved.
    pub(super) fn modulate_for_recovery(&mut self, sample: &Sample, newly_lost: Bytes) {
        self.cwnd = (self.cwnd - newly_lost).max(self.mtu);
        if self.recovery.conserves {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.newly_acked);
        }
    }

    /// The window falls to bytes in flight plus one packet; its value is saved.
    pub(super) fn handle_timeout(&mut self, event: &Timeout, cx: &Context<'_>) {
        if self.recovery.by_timeout {
            return;
        }
        if self.recovery.until.is_none() {
            self.recovery
                .save_cwnd(self.cwnd, self.state == State::ProbeRtt);
        }
        let bw = if self.bw.is_zero() {
            self.max_bw
        } else {
            self.bw
        };
        if !bw.is_zero() {
            self.seed = self.seed.max(Some(self.inflight(bw, Gain::UNITY)));
        }
        self.recovery.until = Some(event.packet);
        self.recovery.by_timeout = true;
        self.recovery.delivered = cx.path.delivered;
        self.cwnd = cx.path.bytes_in_flight + self.mtu;
    }

    /// A packet declared lost has arrived: after a spurious timeout recovery ends immediately.
    pub(super) fn handle_spurious_loss(&mut self, packet: u64, cx: &mut Context<'_>) {
        if self.recovery.by_timeout && self.recovery.until.is_some_and(|until| packet >= until) {
            self.exit_recovery(cx);
        }
    }

    /// After a timeout the path works again: start from the saved volume. Earlier losses no longer
    /// count, and ProbeRTT is postponed.
    fn exit_recovery(&mut self, cx: &mut Context<'_>) {
        self.cwnd = self.recovery.restored(self.cwnd);
        (self.recovery.until, self.recovery.conserves) = (None, false);
        if std::mem::take(&mut self.recovery.by_timeout) {
            self.start_again();
        } else if self.state == State::ProbeBwUp {
            self.start_probe_bw_down(cx);
        }
        self.recovery.delivered = cx.path.delivered;
        self.delay.postpone_probe_rtt(cx.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_at_which_loss_was_too_much_lies_above_what_was_in_flight_before_the_packet() {
        // (100 kB - 2 kB lost before) * 0.02 / 0.98 = 2 kB
        let limit = inflight_at_loss(Bytes::new(1_000), Bytes::new(101_000), Bytes::new(3_000));
        assert_eq!(limit, Bytes::new(102_000));
        // Earlier losses as large as the volume in flight: the volume with the packet.
        let limit = inflight_at_loss(Bytes::new(1_000), Bytes::new(3_000), Bytes::new(3_000));
        assert_eq!(limit, Bytes::new(3_000));
    }
}
