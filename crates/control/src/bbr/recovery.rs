//! Loss recovery episodes: saving and restoring the window, and undoing spurious ones
//! (draft-ietf-ccwg-bbr-06 sections 5.5.11 and 5.6.4.4).
//!
//! An episode begins with a loss and ends when a packet is acknowledged that left after it began
//! (RFC 9002 section 7.3.2). It is spurious when every packet that it declared lost arrives.
//!
//! The draft refers to TCP's retransmission timeout. QUIC has probe timeouts, which do not indicate loss
//! (RFC 9002 section 6.2): the first corresponds to a tail loss probe, to which BBR does not respond, so
//! the draft's response applies to the second in a row, and to persistent congestion
//! (RFC 9002 section 7.6).
//!
//! The draft's prose saves state when an episode begins, its pseudocode (NoteLoss) at the first loss of
//! each round. This follows the prose: a reset of the round in the middle of a batch of losses would
//! otherwise overwrite what the undo needs.

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::{Bounds, RecoveryEpisode};
use crate::event::{Lost, SpuriousLoss, Timeout};

/// The running or last episode, and whether it was spurious.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// The episode, and the window before it.
    pub(super) episode: RecoveryEpisode,
    /// Oldest packet that it declared lost, number of such packets, and number of them that arrived.
    first_lost: u64,
    lost: u64,
    returned: u64,
    undo: Option<Undo>,
}

/// State before the episode.
#[derive(Clone, Debug)]
struct Undo {
    /// BBR.undo_state: the state that the episode made BBR leave.
    state: Option<State>,
    bounds: Bounds,
}

impl Recovery {
    /// Sets BBR.undo_state.
    pub(super) fn left(&mut self, state: State) {
        if let Some(undo) = &mut self.undo {
            undo.state = Some(state);
        }
    }
}

impl Bbr {
    /// SaveCwnd().
    pub(super) fn save_cwnd(&mut self) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        self.recovery.episode.save_cwnd(self.cwnd, in_probe_rtt);
    }

    /// RestoreCwnd().
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.recovery.episode.restored(self.cwnd);
    }

    fn begin_recovery(&mut self, first_lost: u64, cx: &Context<'_>) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        let episode = &mut self.recovery.episode;
        episode.begin(self.cwnd, in_probe_rtt, cx.path.next_packet);
        self.recovery.first_lost = first_lost;
        (self.recovery.lost, self.recovery.returned) = (0, 0);
        self.recovery.undo = Some(Undo {
            state: None,
            bounds: self.bounds,
        });
    }

    /// OnEnterFastRecovery(), unless the packet belongs to the episode that is running.
    pub(super) fn note_loss_for_recovery(&mut self, event: &Lost, cx: &Context<'_>) {
        let episode = &self.recovery.episode;
        if !episode.active || event.packet >= episode.first_after {
            self.begin_recovery(event.packet, cx);
        }
        self.recovery.lost += 1;
        self.recovery.first_lost = self.recovery.first_lost.min(event.packet);
        if event.persistent_congestion {
            self.enter_timeout(cx);
        }
    }

    /// A probe timeout fired.
    pub(super) fn handle_timeout(&mut self, event: &Timeout, cx: &Context<'_>) {
        if event.count < 2 {
            return;
        }
        if !self.recovery.episode.active {
            self.begin_recovery(event.packet, cx);
        }
        self.enter_timeout(cx);
    }

    /// OnEnterRTO().
    fn enter_timeout(&mut self, cx: &Context<'_>) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        self.recovery.episode.note_timeout(self.cwnd, in_probe_rtt);
        self.cwnd = cx.path.bytes_in_flight + cx.path.mtu;
    }

    /// A packet declared lost arrived; if it was the last of the episode, the episode was spurious.
    pub(super) fn note_returned_packet(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        let recovery = &mut self.recovery;
        if event.packet < recovery.first_lost || event.packet >= recovery.episode.first_after {
            return; // it belongs to an earlier episode
        }
        recovery.returned += u64::from(!event.timeout_only);
        if recovery.returned >= recovery.lost
            && let Some(undo) = recovery.undo.take()
        {
            self.handle_spurious_recovery(&undo, cx);
        }
    }

    /// HandleSpuriousLossDetection().
    fn handle_spurious_recovery(&mut self, undo: &Undo, cx: &mut Context<'_>) {
        self.recovery.episode.active = false;
        self.restore_cwnd();
        self.loss_round.is_loss_in_round = false;
        self.full_pipe.restart(Default::default());
        self.bounds = self.bounds.weaker(&undo.bounds);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::ProbeBwUp)
                if self.state != State::ProbeBwUp && self.state != State::ProbeRtt =>
            {
                self.start_probe_bw_refill(cx);
            }
            _ => {}
        }
    }
}
