//! Loss recovery: a round trip of packet conservation, then the window is restored
//! (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.4).
//!
//! An episode ends when all losses are repaired: when a packet is acknowledged that left after the last
//! of them was declared. Packet conservation ends a round trip after the first, so a flow with steady
//! random loss spends no more than that round in it.

use super::{Bbr1, State};
use crate::Context;
use crate::bbr_model::{RecoveryEpisode, Sample};
use crate::event::{Ack, Lost};
use thalweg_units::Bytes;

#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// The episode, and the window before it.
    episode: RecoveryEpisode,
    /// The episode began with this ACK: the window is cut when the ACK is processed.
    began: bool,
    /// First packet that left after the first loss, while packets are conserved.
    conserving_until: Option<u64>,
}

impl Bbr1 {
    /// BBRSaveCwnd().
    pub(super) fn save_cwnd(&mut self) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        self.recovery.episode.save_cwnd(self.cwnd, in_probe_rtt);
    }

    /// BBRRestoreCwnd().
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.recovery.episode.restored(self.cwnd);
    }

    pub(super) fn note_loss(&mut self, event: &Lost, cx: &Context<'_>) {
        let next_packet = cx.path.next_packet;
        let episode = &mut self.recovery.episode;
        if !episode.active {
            episode.begin(self.cwnd, self.state == State::ProbeRtt, next_packet);
            self.recovery.began = true;
            self.recovery.conserving_until = Some(next_packet);
        }
        self.recovery.episode.first_after = next_packet;
        if event.persistent_congestion {
            self.enter_timeout(cx);
        }
    }

    /// On a retransmission timeout one packet may leave.
    pub(super) fn enter_timeout(&mut self, cx: &Context<'_>) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        let episode = &mut self.recovery.episode;
        if episode.note_timeout(self.cwnd, in_probe_rtt) {
            episode.active = true;
            episode.first_after = cx.path.next_packet;
        }
        self.recovery.began = false;
        self.recovery.conserving_until = None;
        self.cwnd = cx.path.mtu;
    }

    /// Entry: what is in flight and what this ACK delivered. Exit: the window before.
    pub(super) fn update_recovery(&mut self, sample: &Sample, event: &Ack) {
        if std::mem::take(&mut self.recovery.began) {
            self.cwnd = sample.in_flight + sample.newly_acked.max(self.mtu);
            return;
        }
        if self.conserving_is_over(event.largest) {
            self.recovery.conserving_until = None;
        }
        if self.recovery.episode.ends_with(event.largest) {
            self.restore_cwnd();
        }
    }

    fn conserving_is_over(&self, largest: u64) -> bool {
        self.recovery
            .conserving_until
            .is_some_and(|first_after| largest >= first_after)
    }

    /// BBR.packet_conservation.
    pub(super) fn conserves_packets(&self) -> bool {
        self.recovery.conserving_until.is_some()
    }

    /// BBRModulateCwndForRecovery().
    pub(super) fn modulate_cwnd_for_recovery(&mut self, sample: &Sample, newly_lost: Bytes) {
        if !newly_lost.is_zero() {
            self.cwnd = (self.cwnd - newly_lost).max(self.mtu);
        }
        if self.conserves_packets() {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.newly_acked);
        }
    }
}
