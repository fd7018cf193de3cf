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
use crate::bbr_model::Bounds;
use crate::event::{Lost, SpuriousLoss, Timeout};
use thalweg_units::Bytes;

/// The running or last episode.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// Whether an episode is running.
    pub(super) active: bool,
    /// Whether it was entered by a timeout.
    timeout: bool,
    /// First packet that left after it began.
    first_after: u64,
    /// Oldest packet that it declared lost, number of such packets, and number of them that arrived.
    first_lost: u64,
    lost: u64,
    returned: u64,
    /// BBR.prior_cwnd.
    prior_cwnd: Bytes,
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
        let modulated = self.recovery.active || self.state == State::ProbeRtt;
        let prior = if modulated {
            self.recovery.prior_cwnd
        } else {
            Bytes::ZERO
        };
        self.recovery.prior_cwnd = prior.max(self.cwnd);
    }

    /// RestoreCwnd().
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.recovery.prior_cwnd);
    }

    fn begin_recovery(&mut self, timeout: bool, first_lost: u64, cx: &Context<'_>) {
        self.save_cwnd();
        self.recovery = Recovery {
            active: true,
            timeout,
            first_after: cx.path.next_packet,
            first_lost,
            lost: 0,
            returned: 0,
            prior_cwnd: self.recovery.prior_cwnd,
            undo: Some(Undo {
                state: None,
                bounds: self.bounds,
            }),
        };
    }

    /// OnEnterFastRecovery(), unless the packet belongs to the episode that is running.
    pub(super) fn note_loss_for_recovery(&mut self, event: &Lost, cx: &Context<'_>) {
        if !self.recovery.active || event.packet >= self.recovery.first_after {
            self.begin_recovery(false, event.packet, cx);
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
        if !self.recovery.active {
            self.begin_recovery(true, event.packet, cx);
        }
        self.enter_timeout(cx);
    }

    /// OnEnterRTO().
    fn enter_timeout(&mut self, cx: &Context<'_>) {
        if !self.recovery.timeout {
            self.save_cwnd();
            self.recovery.timeout = true;
        }
        self.cwnd = cx.path.bytes_in_flight + self.mtu;
    }

    /// Ends the episode if `largest` left after it began.
    pub(super) fn check_recovery_done(&mut self, largest: u64) {
        if self.recovery.active && largest >= self.recovery.first_after {
            self.recovery.active = false;
            self.restore_cwnd();
        }
    }

    /// A packet declared lost arrived; if it was the last of the episode, the episode was spurious.
    pub(super) fn note_returned_packet(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        let recovery = &mut self.recovery;
        if event.packet < recovery.first_lost || event.packet >= recovery.first_after {
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
        self.recovery.active = false;
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
