//! ProbeBW_UP: sends above the bandwidth to find more of it
//! (draft-ietf-ccwg-bbr-06 sections 5.3.3.5 to 5.3.3.7).

use super::super::{Bbr, State};
use super::NO_GROWTH;
use crate::Context;
use crate::bbr_model::AckPhase;
use crate::bbr_model::Sample;
use thalweg_units::Bytes;

/// The rounds of exponential growth that are counted (RaiseInflightLongtermSlope()).
const MAX_GROWTH_ROUNDS: u32 = 30;

/// How `inflight_longterm` grows: by 1, 2, 4, ... packets in successive round trips, evenly over each.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// BBR.bw_probe_up_rounds.
    rounds: u32,
    /// BBR.bw_probe_up_acked.
    acked: Bytes,
    /// BBR.probe_up_acked_per_inc.
    acked_per_packet: Bytes,
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            rounds: 0,
            acked: Bytes::ZERO,
            acked_per_packet: NO_GROWTH,
        }
    }
}

impl Growth {
    /// No growth outside UP.
    pub(super) fn stop(&mut self) {
        self.acked_per_packet = NO_GROWTH;
    }

    /// The next growth starts slowly again.
    pub(super) fn restart(&mut self) {
        (self.rounds, self.acked) = (0, Bytes::ZERO);
    }

    /// RaiseInflightLongtermSlope().
    fn steepen(&mut self, cwnd: Bytes, mtu: Bytes) {
        let packets_this_round = 1_u64 << self.rounds;
        self.rounds = (self.rounds + 1).min(MAX_GROWTH_ROUNDS);
        self.acked_per_packet = (cwnd / packets_this_round).max(mtu);
    }

    /// The whole packets that `newly_acked` pays for.
    fn packets_for(&mut self, newly_acked: Bytes) -> u64 {
        self.acked += newly_acked;
        let price = self.acked_per_packet.as_u64().max(1);
        let packets = self.acked.as_u64() / price;
        self.acked = Bytes::new(self.acked.as_u64() % price);
        packets
    }
}

impl Bbr {
    /// StartProbeBW_UP().
    pub(super) fn start_probe_bw_up(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.round.begin(cx.path.delivered);
        self.full_pipe
            .restart(sample.delivery_rate.unwrap_or_default());
        self.state = State::ProbeBwUp;
        self.probe.growth.steepen(self.cwnd, self.mtu);
    }

    pub(super) fn update_up(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.is_time_to_go_down(sample) {
            self.probe.prev_probe_too_high = false;
            self.start_probe_bw_down(cx);
        }
    }

    /// IsTimeToGoDown(): at the volume that was excessive the last time (precautionary deceleration), or
    /// when the rate has stopped growing although the long-term bound did not limit it.
    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        if self.probe.prev_probe_too_high && sample.in_flight >= self.bounds.inflight_longterm {
            self.probe.prev_probe_precautionary = true;
            return true;
        }
        if self.is_limited_by_longterm() {
            self.full_pipe
                .restart(sample.delivery_rate.unwrap_or_default());
            return false;
        }
        self.full_pipe.now
    }

    /// ProbeInflightLongtermUpward(): raises the bound only if it limits the flow.
    pub(super) fn probe_inflight_longterm_upward(&mut self, sample: &Sample) {
        if !self.is_limited_by_longterm() {
            return;
        }
        let packets = self.probe.growth.packets_for(sample.newly_acked);
        self.bounds.inflight_longterm += self.mtu * packets;
        if self.round.start {
            self.probe.growth.steepen(self.cwnd, self.mtu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_grows_by_one_two_four_packets_in_successive_rounds() {
        let (cwnd, mtu) = (Bytes::new(100_000), Bytes::new(1_000));
        let mut growth = Growth::default();
        growth.restart();
        for expected in [1, 2, 4, 8] {
            growth.steepen(cwnd, mtu);
            let grown: u64 = (0..100).map(|_| growth.packets_for(mtu)).sum();
            assert_eq!(grown, expected);
        }
    }

    #[test]
    fn growth_is_bounded_by_one_packet_for_each_packet_acknowledged() {
        let (cwnd, mtu) = (Bytes::new(10_000), Bytes::new(1_000));
        let mut growth = Growth::default();
        for _ in 0..100 {
            growth.steepen(cwnd, mtu);
        }
        assert_eq!(growth.packets_for(Bytes::new(10_000)), 10);
    }
}
