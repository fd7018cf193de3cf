//! ProbeBW_DOWN: sends below the bandwidth to drain the queue and leave headroom
//! (draft-ietf-ccwg-bbr-06 sections 5.3.3.1 and 5.3.3.8).

use super::super::{Bbr, State};
use crate::Context;
use crate::bbr_model::AckPhase;
use crate::bbr_model::{Gain, Sample};
use rand_core::Rng as _;
use thalweg_units::Duration;

/// Shortest time between two probes (section 5.3.3.8.2, T_bbr).
const MIN_WAIT: Duration = Duration::from_secs(2);
/// Random part of it, in nanoseconds.
const RANDOM_WAIT_NANOS: u64 = 1_000_000_000;

impl Bbr {
    /// StartProbeBW_DOWN().
    pub(in super::super) fn start_probe_bw_down(&mut self, cx: &mut Context<'_>) {
        self.loss_round.reset();
        self.probe.growth.stop();
        self.pick_probe_wait(cx);
        self.probe.cycle_stamp = cx.now;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.round.begin(cx.path.delivered);
        self.state = State::ProbeBwDown;
    }

    /// PickProbeWait(). A count that begins at one is a count from one round earlier.
    fn pick_probe_wait(&mut self, cx: &mut Context<'_>) {
        let random = cx.rng.next_u64();
        self.probe.since_round = self.round.count.saturating_sub(random & 1);
        self.probe.wait = MIN_WAIT + Duration::from_nanos((random >> 1) % RANDOM_WAIT_NANOS);
    }

    pub(super) fn update_down(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.is_time_to_probe_bw(cx) {
            self.start_probe_bw_refill(cx);
        } else if self.is_time_to_cruise(sample) {
            self.state = State::ProbeBwCruise;
        }
    }

    /// IsTimeToCruise(): there is headroom, and the queue is gone.
    fn is_time_to_cruise(&self, sample: &Sample) -> bool {
        sample.in_flight
            <= self
                .bounds
                .inflight_with_headroom(self.mtu, self.tuning.headroom)
            && sample.in_flight <= self.inflight(self.max_bw.get(), Gain::UNITY)
    }
}
