//! The ProbeBW cycle with its shortcuts: early probes, exit on delay, restart above a ceiling.

use super::draws::Draws;
use super::{Bbr, ECN_EXCESS, LONG_RTT, SHORT_RTT, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::AckPhase;
use thalweg_control::bbr_model::{Gain, Sample};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Growth of bandwidth since the start of ProbeBW that triggers a restart.
const CEILING: Gain = Gain::percent(150);
/// Volume in flight over the BDP that ends UP.
const UP_VOLUME: Gain = Gain::percent(125);
/// Probes without growth after which early probing ends.
const QUICK_TRIES: u32 = 3;
/// Application-limited rounds after which the first other round probes immediately.
const APP_LIMITED_ROUNDS: u32 = 3;
/// Most round trips between probes.
const MAX_RENO_ROUNDS: u64 = 63;

#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    /// Bandwidth above which to restart.
    ceiling: Rate,
    cycle_stamp: Instant,
    wait: Duration,
    /// Intended to count rounds since the last probe; it is random and never grows.
    frozen_rounds: u64,
    draws: Draws,
    quick: bool,
    tries: u32,
    app_limited_rounds: u32,
    /// The current round has an application-limited sample.
    app_limited_in_round: bool,
    up_rounds: u32,
    up_acked: Bytes,
    up_acked_per_packet: Bytes,
}

impl Probe {
    /// Startup has restarted or ended: the next probes are early.
    pub(super) fn be_quick(&mut self) {
        (self.quick, self.tries) = (true, 0);
    }
}

impl Bbr {
    pub(super) fn enter_probe_bw(&mut self, cx: &mut Context<'_>) {
        self.probe.ceiling = CEILING.of_rate(self.bw);
        self.start_probe_bw_down(cx);
    }

    pub(super) fn start_probe_bw_down(&mut self, cx: &mut Context<'_>) {
        self.loss_round.reset();
        self.pick_probe_wait();
        self.probe.cycle_stamp = cx.now;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.round.begin(cx.path.next_packet);
        self.delay.clear_excess();
        self.probe.app_limited_rounds = 0;
        self.probe.app_limited_in_round = false;
        self.state = State::ProbeBwDown;
    }

    /// Two to three seconds; about a round trip when the last probe found more; in proportion to the
    /// round trip on long paths.
    fn pick_probe_wait(&mut self) {
        self.probe.frozen_rounds = self.probe.draws.below(2);
        let min_rtt = self.delay.min_rtt().unwrap_or_default();
        let is_long = min_rtt >= LONG_RTT;
        let (least, spread) = match (self.probe.quick, is_long) {
            (true, true) => (min_rtt, min_rtt),
            (true, false) => (min_rtt, LONG_RTT),
            (false, true) => (min_rtt * 8, min_rtt * 4),
            (false, false) => (Duration::from_secs(2), Duration::from_secs(1)),
        };
        let spread_us = spread.as_nanos() / 1_000;
        self.probe.wait = least + Duration::from_micros(self.probe.draws.below(spread_us + 1));
    }

    /// A probe succeeds by growth over the bandwidth at its start ([`start_probe_bw_refill`]): a fifteenth
    /// makes the next one early, three probes without it end that.
    ///
    /// [`start_probe_bw_refill`]: Bbr::start_probe_bw_refill
    fn judge_probe(&mut self) {
        let grown = self.max_bw.mul_div(15, 16) >= self.full_pipe.baseline;
        let marked = self.ecn_alpha > ECN_EXCESS;
        if grown && !marked {
            self.full_pipe.baseline = self.max_bw;
            self.probe.be_quick();
            return;
        }
        self.probe.tries += 1;
        if self.probe.tries > QUICK_TRIES || marked {
            (self.probe.quick, self.probe.tries) = (false, 0);
        }
    }

    fn start_probe_bw_refill(&mut self, cx: &mut Context<'_>) {
        self.bounds.reset_short_term();
        self.full_pipe.baseline = self.max_bw;
        (self.probe.up_rounds, self.probe.up_acked) = (0, Bytes::ZERO);
        self.probe.ack_phase = AckPhase::Refilling;
        self.round.begin(cx.path.next_packet);
        self.state = State::ProbeBwRefill;
    }

    fn start_probe_bw_up(&mut self, cx: &mut Context<'_>) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.round.begin(cx.path.next_packet);
        self.probe.cycle_stamp = cx.now;
        self.delay.clear_excess();
        self.state = State::ProbeBwUp;
        self.raise_slope();
    }

    fn raise_slope(&mut self) {
        let packets_this_round = 1_u64 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.up_acked_per_packet = (self.cwnd / packets_this_round).max(self.mtu);
    }

    pub(super) fn update_probe_bw_cycle(
        &mut self,
        sample: &Sample,
        rate: Rate,
        cx: &mut Context<'_>,
    ) {
        if !self.full_pipe.reached {
            return;
        }
        self.adapt_upper_bounds(sample, cx);
        match self.state {
            State::ProbeBwDown => {
                if self.is_time_to_probe_bw(sample, cx) {
                    return self.start_probe_bw_refill(cx);
                }
                if self.is_saturated(rate, cx) {
                    return self.believe(sample, rate, cx);
                }
                if self.is_time_to_cruise(sample) {
                    self.judge_probe();
                    self.state = State::ProbeBwCruise;
                }
            }
            State::ProbeBwCruise => {
                if self.is_saturated(rate, cx) {
                    return self.believe(sample, rate, cx);
                }
                if self.is_time_to_probe_bw(sample, cx) {
                    return self.start_probe_bw_refill(cx);
                }
            }
            State::ProbeBwRefill if self.round.start => {
                self.probe.is_bw_probe_sample = true;
                self.start_probe_bw_up(cx);
            }
            State::ProbeBwUp if self.is_time_to_go_down(sample, cx) => self.start_probe_bw_down(cx),
            State::ProbeBwRefill | State::ProbeBwUp => {}
            _ => return,
        }
        if self.bw > self.probe.ceiling {
            self.start_again();
        }
    }

    /// The path is much slower than the model: the sample is the model.
    fn believe(&mut self, sample: &Sample, rate: Rate, cx: &Context<'_>) {
        self.recovery.prior_cwnd = sample.delivered;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.bw_filter = Default::default();
        self.bw_filter.update(rate, false);
        self.max_bw = rate;
        self.full_pipe.baseline = rate;
        self.enter_drain();
        self.round.begin(cx.path.next_packet);
    }

    fn is_time_to_cruise(&self, sample: &Sample) -> bool {
        sample.in_flight <= self.inflight_with_headroom()
            && sample.in_flight <= self.inflight(self.max_bw, Gain::UNITY)
    }

    fn adapt_upper_bounds(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.round.start && self.probe.ack_phase == AckPhase::ProbeStarting {
            self.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        // The cycle ends with the first round after the probe that is not application-limited, however late; the
        // next phase is the phase of a starting probe.
        let ends_cycle = self.round.start
            && self.probe.ack_phase == AckPhase::ProbeStopping
            && self.state.is_probe_bw()
            && !sample.is_app_limited;
        if ends_cycle {
            self.bw_filter.advance();
            self.probe.ack_phase = AckPhase::ProbeStarting;
        }
        if self.is_inflight_too_high(sample) {
            if self.probe.is_bw_probe_sample {
                self.handle_inflight_too_high(sample.tx_in_flight, sample.is_app_limited, cx);
            }
            return;
        }
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
        if self.state == State::ProbeBwUp
            && sample.is_window_limited
            && self.cwnd >= self.bounds.inflight_longterm
        {
            self.probe.up_acked += sample.newly_acked;
            let price = self.probe.up_acked_per_packet.as_u64().max(1);
            let packets = self.probe.up_acked.as_u64() / price;
            self.probe.up_acked = Bytes::new(self.probe.up_acked.as_u64() % price);
            self.bounds.inflight_longterm += self.mtu * packets;
            if self.round.start {
                self.raise_slope();
            }
        }
    }

    /// Whether a long application-limited phase has ended with the round before this ACK.
    fn has_app_limit_ended(&mut self, sample: &Sample) -> bool {
        if !self.round.start {
            self.probe.app_limited_in_round |= sample.is_app_limited;
            return false;
        }
        if std::mem::take(&mut self.probe.app_limited_in_round) {
            self.probe.app_limited_rounds += 1;
            return false;
        }
        std::mem::take(&mut self.probe.app_limited_rounds) > APP_LIMITED_ROUNDS
    }

    fn is_time_to_probe_bw(&mut self, sample: &Sample, cx: &Context<'_>) -> bool {
        let packets = self.target_inflight().as_u64() / self.mtu.as_u64().max(1);
        cx.now > self.probe.cycle_stamp + self.probe.wait
            || self.probe.frozen_rounds >= packets.min(MAX_RENO_ROUNDS)
            || self.has_app_limit_ended(sample)
    }

    /// Twice the minimum RTT while sending three times the delivered rate.
    fn is_saturated(&self, rate: Rate, cx: &Context<'_>) -> bool {
        self.delay
            .min_rtt()
            .is_some_and(|min_rtt| cx.path.latest_rtt > min_rtt * 2)
            && self.probe.frozen_rounds >= 1
            && self.pacing_rate > Rate::from_bits_per_sec(rate.as_bits_per_sec().saturating_mul(3))
    }

    /// After one round trip, on any excess of delay or of volume. There is no exit on a plateau.
    fn is_time_to_go_down(&self, sample: &Sample, cx: &Context<'_>) -> bool {
        let min_rtt = self.delay.min_rtt().unwrap_or_default();
        min_rtt > SHORT_RTT
            && cx.now > self.probe.cycle_stamp + min_rtt
            && (self.delay.excess() > 0 || sample.in_flight > self.inflight(self.max_bw, UP_VOLUME))
    }
}
