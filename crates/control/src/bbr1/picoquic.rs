//! BBRv1 as picoquic had it in August 2026 (`bbr1:variant=picoquic`), for comparison with its results
//! only.
//!
//! Differences from the draft: paths of more than 50 ms start by window and HyStart; the rate is at
//! least half of the peak while starting; RTprop is refreshed by any sample within 5 % of it, so
//! ProbeRTT is rare; the gain cycle probes the more often the more it finds; sustained loss of more than
//! 20 % or an ECN mark halves the window; a probe timeout suspends the flow until it proves spurious.
//!
//! # Limits
//! Detection of policers is left out, and so is the pause in sending that the start makes beyond
//! 100 ms. Rounds are counted as in the draft.

use super::output::{initial_pacing_rate, send_quantum};
use crate::bbr::bubble::Bubble;
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::parameters::{Gain, min_pipe_cwnd};
use crate::bbr::round::Round;
use crate::bbr::sample::Sample;
use crate::bbr::windowed_max::WindowedMax;
use crate::delay_hystart::DelayHystart;
use crate::event::{Ack, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use crate::loss_filter::LossFilter;
use crate::{Context, Control, Controller, Init, Observer};
use thalweg_units::{Bytes, Duration, Instant, Rate};

const HIGH_GAIN: Gain = Gain::permille(2885);
const DRAIN_GAIN: Gain = Gain::permille(347);
const CWND_GAIN: Gain = Gain::percent(200);
/// Six phases of cruising come first here.
const GAINS: [Gain; 8] = [
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::percent(125),
    Gain::percent(75),
];
/// Index of the cycle at which a short path begins.
const FIRST_PHASE: u64 = 2;
/// The last phase of cruising.
const LAST_CRUISE: u64 = 5;
/// A path that is longer starts by window.
const LONG_RTT: Duration = Duration::from_millis(50);
/// One phase of cruising less for each of these in RTprop.
const PHASE_RTT: Duration = Duration::from_millis(100);
const RTPROP_FILTER: Duration = Duration::from_secs(10);
const RTPROP_ROUNDS: u64 = 20;
/// A sample up to this refreshes RTprop.
const REFRESH: Gain = Gain::percent(105);
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
const MIN_WINDOW: Bytes = Bytes::new(3_072);
/// Smoothed loss that counts.
const LOSS_THRESHOLD: f64 = 0.20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    StartupLongRtt,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// One flow.
#[derive(Debug)]
pub(super) struct Bbr1 {
    mtu: Bytes,
    initial_window: Bytes,
    state: State,
    round: Round,
    btl_bw_filter: WindowedMax,
    rtprop: Duration,
    rtprop_stamp: Instant,
    rtprop_expired: bool,
    full_pipe: FullPipe,
    hystart: DelayHystart,
    cycle_index: u64,
    cycle_first: u64,
    cycle_stamp: Instant,
    /// Bandwidth when the cycle last began anew.
    cycle_bw: Rate,
    done_stamp: Option<Instant>,
    round_done: bool,
    bubble: Bubble,
    prior_cwnd: Bytes,
    losses: LossFilter,
    last_reaction: Option<Instant>,
    /// Window before a probe timeout, and whether the timeout proved spurious.
    suspended: Option<Bytes>,
    restore: bool,
    has_seen_rtt: bool,
    pacing_rate: Rate,
    quantum: Bytes,
    cwnd: Bytes,
}

impl Bbr1 {
    pub(super) fn new(init: &Init) -> Self {
        let pacing_rate = initial_pacing_rate(init.initial_window, Duration::from_millis(250));
        Bbr1 {
            mtu: init.mtu,
            initial_window: init.initial_window,
            state: State::Startup,
            round: Round::default(),
            btl_bw_filter: WindowedMax::default(),
            rtprop: Duration::ZERO,
            rtprop_stamp: init.now,
            rtprop_expired: false,
            full_pipe: FullPipe::default(),
            hystart: DelayHystart::new(),
            cycle_index: 0,
            cycle_first: FIRST_PHASE,
            cycle_stamp: init.now,
            cycle_bw: Rate::ZERO,
            done_stamp: None,
            round_done: false,
            bubble: Bubble::default(),
            prior_cwnd: Bytes::ZERO,
            losses: LossFilter::default(),
            last_reaction: None,
            suspended: None,
            restore: false,
            has_seen_rtt: false,
            pacing_rate,
            quantum: send_quantum(pacing_rate, init.mtu),
            cwnd: init.initial_window,
        }
    }

    fn btl_bw(&self) -> Rate {
        Rate::from_bits_per_sec(self.btl_bw_filter.get())
    }

    fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::StartupLongRtt => HIGH_GAIN,
            State::Drain => DRAIN_GAIN,
            State::ProbeBw => GAINS[self.cycle_index as usize % GAINS.len()],
            State::ProbeRtt => Gain::UNITY,
        }
    }

    fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::StartupLongRtt | State::Drain => HIGH_GAIN,
            State::ProbeBw => CWND_GAIN,
            State::ProbeRtt => Gain::UNITY,
        }
    }

    fn inflight(&self, gain: Gain) -> Bytes {
        if self.rtprop.is_zero() {
            return self.initial_window;
        }
        gain.of_bytes(self.btl_bw().bytes_in(self.rtprop)) + self.quantum * 3
    }

    fn note_rtt(&mut self, cx: &Context<'_>) {
        self.mtu = cx.path.mtu;
        if self.has_seen_rtt || !cx.path.has_rtt() {
            return;
        }
        self.has_seen_rtt = true;
        let rate = initial_pacing_rate(self.initial_window, cx.path.smoothed_rtt);
        if self.btl_bw().is_zero() && !rate.is_zero() {
            self.pacing_rate = rate;
            self.quantum = send_quantum(rate, self.mtu);
        }
    }

    fn update_btl_bw(&mut self, sample: &Sample, cx: &Context<'_>) {
        self.round
            .update(sample.prior_delivered, sample.total_delivered);
        let mut rate = cx.path.delivery_rate;
        if matches!(self.state, State::Startup | State::StartupLongRtt) {
            rate = rate.max(cx.path.peak_rate.mul_div(1, 2));
        }
        rate = rate.max(Rate::over(MIN_WINDOW, self.rtprop));
        if rate >= self.btl_bw() || !sample.is_app_limited {
            self.btl_bw_filter
                .update(rate.as_bits_per_sec(), self.round.count, 10);
        }
    }

    fn update_rtprop(&mut self, rtt: Duration, now: Instant) {
        let window = RTPROP_FILTER.max(self.rtprop * RTPROP_ROUNDS);
        self.rtprop_expired = now > self.rtprop_stamp + window;
        if self.rtprop.is_zero() || rtt < self.rtprop || self.rtprop_expired {
            (self.rtprop, self.rtprop_stamp) = (rtt, now);
        } else if rtt < REFRESH.of_duration(self.rtprop) {
            self.rtprop_stamp = now;
        }
    }

    fn enter_drain(&mut self) {
        self.full_pipe.declare();
        self.state = State::Drain;
    }

    fn enter_probe_bw(&mut self, cx: &Context<'_>) {
        self.state = State::ProbeBw;
        if self.rtprop > PHASE_RTT {
            let phases = self.rtprop.as_nanos() / PHASE_RTT.as_nanos();
            self.cycle_first = phases.min(LAST_CRUISE);
        }
        self.cycle_index = self.cycle_first;
        (self.cycle_stamp, self.cycle_bw) = (cx.now, self.btl_bw());
    }

    /// Phases last one RTprop, as in the draft; where the cycle begins anew depends on what it found.
    fn check_cycle_phase(&mut self, event: &Ack, cx: &Context<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let is_full_length = cx.now - self.cycle_stamp > self.rtprop;
        let gain = self.pacing_gain();
        let is_over = if gain == Gain::UNITY {
            is_full_length
        } else if gain > Gain::UNITY {
            let has_filled = event.prior_in_flight >= self.inflight(gain);
            is_full_length && (has_filled || !event.newly_lost.is_zero())
        } else {
            is_full_length || event.prior_in_flight <= self.inflight(Gain::UNITY)
        };
        if !is_over {
            return;
        }
        self.cycle_stamp = cx.now;
        self.cycle_index += 1;
        if self.cycle_index >= GAINS.len() as u64 {
            self.cycle_first = match self.btl_bw() > self.cycle_bw {
                true => (self.cycle_first + 1).min(LAST_CRUISE),
                false => self.cycle_first.saturating_sub(1),
            };
            (self.cycle_index, self.cycle_bw) = (self.cycle_first, self.btl_bw());
        }
    }

    fn check_probe_rtt(&mut self, sample: &Sample, cx: &Context<'_>) {
        let can_probe = !matches!(self.state, State::ProbeRtt | State::StartupLongRtt);
        if can_probe && self.rtprop_expired {
            self.prior_cwnd = self.cwnd;
            self.state = State::ProbeRtt;
            (self.done_stamp, self.round_done) = (None, false);
            self.bubble = Bubble::opened(cx.now);
        }
        if self.state != State::ProbeRtt {
            return;
        }
        self.bubble
            .extend(sample.total_delivered + sample.in_flight);
        let Some(done_stamp) = self.done_stamp else {
            if sample.in_flight <= min_pipe_cwnd(self.mtu) {
                self.done_stamp = Some(cx.now + PROBE_RTT_DURATION);
                self.round.begin(sample.total_delivered);
            }
            return;
        };
        self.round_done |= self.round.start;
        if self.round_done && cx.now > done_stamp {
            self.rtprop_stamp = cx.now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            if self.full_pipe.reached {
                self.enter_probe_bw(cx);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// Halves the window, at most once in a round trip; a start ends.
    fn reduce(&mut self, cx: &Context<'_>) {
        let is_fresh = |last| cx.now - last <= cx.path.smoothed_rtt;
        if self.last_reaction.is_some_and(is_fresh) {
            return;
        }
        self.last_reaction = Some(cx.now);
        self.cwnd = (self.cwnd / 2).max(MIN_WINDOW);
        if matches!(self.state, State::Startup | State::StartupLongRtt) {
            self.enter_drain();
        }
    }

    fn update_control(&mut self, sample: &Sample, cx: &Context<'_>) {
        let rate = self.pacing_gain().of_rate(self.btl_bw());
        if !rate.is_zero() && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
        self.quantum = send_quantum(self.pacing_rate, self.mtu);
        if self.state == State::StartupLongRtt {
            if cx.path.window_limited {
                self.cwnd += sample.newly_acked;
            }
            self.cwnd = self.cwnd.max(cx.path.peak_rate.bytes_in(self.rtprop) / 2);
            return;
        }
        let target = self.inflight(self.cwnd_gain());
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + sample.newly_acked).min(target);
        } else if self.cwnd < target || sample.total_delivered < self.initial_window {
            self.cwnd += sample.newly_acked;
        }
        self.cwnd = self.cwnd.max(min_pipe_cwnd(self.mtu));
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(min_pipe_cwnd(self.mtu));
        }
    }
}

impl Controller for Bbr1 {
    fn on_sent(&mut self, _event: &Sent, cx: &mut Context<'_>) {
        self.note_rtt(cx);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        if std::mem::take(&mut self.restore)
            && let Some(cwnd) = self.suspended.take()
        {
            self.cwnd = self.cwnd.max(cwnd);
        }
        let sample = Sample::of(event, cx, self.bubble.has_limited(&event.snapshot));
        if let Some(rtt) = event.rtt {
            self.update_rtprop(rtt, cx.now);
        }
        self.update_btl_bw(&sample, cx);
        self.check_cycle_phase(event, cx);
        if self.round.start && !sample.is_app_limited && !self.full_pipe.reached {
            self.full_pipe.check(self.btl_bw());
        }
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
        if self.state == State::Drain && sample.in_flight <= self.inflight(Gain::UNITY) {
            self.enter_probe_bw(cx);
        }
        self.check_probe_rtt(&sample, cx);
        self.update_control(&sample, cx);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        if self.losses.record_exceeds(event.packet, LOSS_THRESHOLD) {
            self.reduce(cx);
        }
    }

    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {
        self.suspended.get_or_insert(self.cwnd);
        self.cwnd = MIN_WINDOW.max(self.mtu);
    }

    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _cx: &mut Context<'_>) {
        self.restore = self.suspended.is_some();
    }

    fn on_ecn(&mut self, _event: &EcnCounts, cx: &mut Context<'_>) {
        self.reduce(cx);
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        if self.state == State::Startup && !self.full_pipe.reached && cx.path.min_rtt > LONG_RTT {
            self.state = State::StartupLongRtt;
        }
        if self.state == State::StartupLongRtt {
            let window = self.cwnd.as_u64().max(1);
            let packet_time = cx.path.smoothed_rtt.mul_div(self.mtu.as_u64() * 4, window) / 5;
            if self.hystart.on_rtt(event.rtt, packet_time, cx.now) {
                self.enter_drain();
            }
        }
    }

    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        if self.state == State::ProbeBw && !self.btl_bw().is_zero() {
            self.pacing_rate = self.btl_bw();
        }
    }

    /// A remembered window ends the start by window: it is the pipe.
    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        let rate = Rate::over(window, cx.path.min_rtt);
        if self.state == State::StartupLongRtt && window > self.cwnd && !rate.is_zero() {
            self.btl_bw_filter
                .update(rate.as_bits_per_sec(), self.round.count, 10);
            self.cwnd = window;
            self.enter_drain();
        }
    }

    fn control(&self) -> Control {
        Control {
            window: self.cwnd,
            pacing: (self.state != State::StartupLongRtt).then_some(self.pacing_rate),
            quantum: self.quantum,
            startup_done: self.full_pipe.reached,
        }
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.state {
            State::Startup => "Startup",
            State::StartupLongRtt => "Startup_LONG_RTT",
            State::Drain => "Drain",
            State::ProbeBw => "ProbeBW",
            State::ProbeRtt => "ProbeRTT",
        });
        out.variable("btl_bw", self.btl_bw().as_bits_per_sec() as f64);
        out.variable("rtprop", self.rtprop.as_secs_f64());
        out.variable("loss_average", self.losses.rate());
        out.variable("pacing_gain", self.pacing_gain().as_f64());
        out.variable("cwnd_gain", self.cwnd_gain().as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr::test_path::TestPath;

    fn path(delay_ms: u64) -> TestPath {
        TestPath::new("bbr1:variant=picoquic", 20, delay_ms, Bytes::new(1_000_000))
    }

    #[test]
    fn a_path_of_more_than_50_ms_starts_by_window_and_a_shorter_one_by_rate() {
        let mut long = path(80);
        long.run_to("Startup_LONG_RTT");
        assert_eq!(long.controller.control().pacing, None);
        let mut short = path(40);
        short.run_to("Drain");
        assert!(
            short
                .states
                .iter()
                .all(|(_, name)| *name != "Startup_LONG_RTT")
        );
    }

    #[test]
    fn the_link_is_full_in_steady_state() {
        let mut path = path(80);
        path.run_for(Duration::from_secs(4));
        let before = path.path.delivered;
        path.run_for(Duration::from_secs(20));
        let utilisation = (path.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
        // A packet more may arrive at the edges: 1440 bytes of 50 MB.
        assert!((0.95..=1.0001).contains(&utilisation), "{utilisation}");
    }

    #[test]
    fn probe_rtt_does_not_come_while_samples_stay_within_five_percent() {
        // The phase of gain 0.75 drains the queue in every cycle, which refreshes RTprop.
        let mut path = path(80);
        path.run_for(Duration::from_secs(40));
        assert!(path.states.iter().all(|(_, name)| *name != "ProbeRTT"));
    }

    #[test]
    fn sustained_loss_halves_the_window_and_a_single_loss_does_not() {
        let mut path = path(80);
        path.run_for(Duration::from_secs(4));
        let window = path.controller.control().window;
        path.declare_lost(3); // 1 - (15/16)^3 of the average is 17 %
        assert_eq!(path.controller.control().window, window);
        path.declare_lost(12);
        assert_eq!(path.controller.control().window, window / 2);
    }
}
