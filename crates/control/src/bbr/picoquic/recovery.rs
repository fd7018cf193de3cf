//! Loss recovery with packet conservation, and the restart after a probe timeout.

use super::{Bbr, State};
use crate::Context;
use crate::bbr::parameters::Gain;
use crate::bbr::sample::Sample;
use crate::event::{Ack, Timeout};
use thalweg_units::Bytes;

#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    active: bool,
    /// First packet that left after it began.
    first_after: u64,
    /// Total delivered when it began.
    pub(super) delivered: Bytes,
    prior_cwnd: Bytes,
    /// Packet whose timeout cut the window.
    timed_out: Option<u64>,
}

impl Recovery {
    /// Remembers the window, or the larger one of those seen while it was being modulated.
    pub(super) fn save_cwnd(&mut self, cwnd: Bytes, probe_rtt: bool) {
        let modulated = self.active || self.timed_out.is_some() || probe_rtt;
        self.prior_cwnd = if modulated {
            self.prior_cwnd.max(cwnd)
        } else {
            cwnd
        };
    }

    pub(super) fn restored(&self, cwnd: Bytes) -> Bytes {
        cwnd.max(self.prior_cwnd)
    }
}

impl Bbr {
    /// Enters recovery when too much was in flight, leaves it with the first packet sent after.
    pub(super) fn update_recovery(&mut self, sample: &Sample, event: &Ack, cx: &mut Context<'_>) {
        self.check_timeout_done(event.largest);
        if self.recovery.active {
            if event.largest >= self.recovery.first_after {
                self.recovery.active = false;
                self.cwnd = self.recovery.restored(self.cwnd);
                if self.state == State::ProbeBwUp {
                    self.start_probe_bw_down(cx);
                }
            }
        } else if self.is_inflight_too_high(sample) {
            self.recovery
                .save_cwnd(self.cwnd, self.state == State::ProbeRtt);
            self.recovery.active = true;
            self.recovery.first_after = cx.path.next_packet;
            self.recovery.delivered = cx.path.delivered;
            self.cwnd = sample.in_flight + sample.newly_acked.max(self.mtu);
        }
    }

    /// In recovery, the window shrinks by what is lost but lets as much leave as arrives.
    pub(super) fn modulate_for_recovery(&mut self, sample: &Sample, newly_lost: Bytes) {
        if self.recovery.active {
            self.cwnd = (self.cwnd - newly_lost).max(sample.in_flight + sample.newly_acked);
        }
    }

    pub(super) fn is_in_recovery(&self) -> bool {
        self.recovery.active
    }

    /// The window falls to what is in flight and one packet; what it was is remembered.
    pub(super) fn handle_timeout(&mut self, event: &Timeout, cx: &Context<'_>) {
        if self.recovery.timed_out.is_none() {
            self.recovery
                .save_cwnd(self.cwnd, self.state == State::ProbeRtt);
            self.recovery.timed_out = Some(event.packet);
            if !self.bw.is_zero() {
                self.seed = Some(self.inflight(self.bw, Gain::UNITY));
            }
        }
        self.cwnd = cx.path.bytes_in_flight + self.mtu;
    }

    /// The path is alive again: start from the remembered volume.
    pub(super) fn check_timeout_done(&mut self, largest: u64) {
        if self
            .recovery
            .timed_out
            .is_some_and(|packet| largest >= packet)
        {
            self.recovery.timed_out = None;
            self.cwnd = self.recovery.restored(self.cwnd);
            self.enter_startup();
        }
    }
}
