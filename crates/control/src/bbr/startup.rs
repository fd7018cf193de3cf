//! Startup: doubles the rate each round until the pipe is full (draft-ietf-ccwg-bbr-06 section 5.3.1).

use super::loss::is_inflight_too_high;
use super::{Bbr, State};
use crate::bbr_model::Sample;
use crate::bbr_model::parameters::STARTUP_FULL_LOSS_COUNT;

impl Bbr {
    /// EnterStartup().
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// CheckFullBWReached(). An ACK without a sample, because its interval was too short, does not count
    /// as a round without growth.
    pub(super) fn check_full_bw_reached(&mut self, sample: &Sample) {
        if self.round.start
            && !sample.is_app_limited
            && let Some(rate) = sample.delivery_rate
        {
            self.full_pipe.check(rate);
        }
    }

    /// CheckStartupDone().
    pub(super) fn check_startup_done(&mut self) {
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
    }

    /// CheckStartupHighLoss() (section 5.3.1.3): loss continued for a full round trip, was above
    /// LossThresh over it, and came in several separate runs. It judges before the loss round is reset.
    pub(super) fn check_startup_high_loss(&mut self, sample: &Sample) {
        if self.state == State::Startup
            && self.loss_round.start
            && self.loss_round.is_loss_in_round
            && self.loss_round.ranges >= STARTUP_FULL_LOSS_COUNT
            && is_inflight_too_high(sample.lost, sample.tx_in_flight, self.tuning.loss_thresh)
        {
            self.leave_startup_for_congestion();
        }
    }

    /// The pipe is full by a signal of the path, not by a plateau of the rate.
    pub(super) fn leave_startup_for_congestion(&mut self) {
        self.recovery.left(State::Startup);
        self.full_pipe.declare();
        self.bounds.inflight_longterm = self.bdp().max(self.loss_round.latest.inflight);
    }
}
