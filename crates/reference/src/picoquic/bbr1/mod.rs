//! picoquic's BBRv1 of August 2026 (`bbr1:variant=picoquic`), only for comparison with its results.
//!
//! Differences from the draft: paths of more than 50 ms start by window and HyStart; the rate is at
//! least half of the peak while starting; RTprop is refreshed by any sample within 5 % of it, so
//! ProbeRTT is rare; the gain cycle probes the more often the more it finds, and the phase after a probe lasts until
//! RTprop has passed and the queue is drained; sustained loss of more than 20 % or an ECN mark halves the window, and
//! what was sent before then no longer counts; a probe timeout suspends the flow until it proves spurious. Either ends
//! a start, or shortens the phase of the gain cycle.
//!
//! | file | part |
//! |---|---|
//! | [`startup`] | the start by rate and the one by window, Drain |
//! | [`probe_bw`], [`probe_rtt`] | the gain cycle, ProbeRTT |
//! | [`model`] | bottleneck bandwidth and RTprop |
//! | [`recovery`] | loss, marks, timeouts |
//! | [`output`] | gains, pacing rate, quantum, window |
//!
//! # Limits
//! Detection of policers is omitted, and so are the pause in sending of a start above 100 ms and the larger gain of
//! a probe whose BDP is below four packets. Rounds are counted as in the draft. A mark is not known by its packet: one
//! of a packet that was sent before a reaction counts, once a smoothed RTT has passed.

mod model;
mod output;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;
#[cfg(test)]
mod tests;

use crate::picoquic::window_start::WindowStart;
use thalweg_control::bbr_model::{
    FullPipe, ProbeRtt, Round, Sample, WindowedMax, initial_pacing_rate, send_quantum,
};
use thalweg_control::event::{Ack, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use thalweg_control::loss_filter::LossFilter;
use thalweg_control::{Context, Control, Controller, Init, Observer};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// The peer's smallest window.
const MIN_WINDOW: Bytes = Bytes::new(3_072);
/// Threshold of the smoothed loss rate.
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
    cycle_index: u64,
    cycle_first: u64,
    cycle_stamp: Instant,
    /// After a reaction: the phase of the cycle need not last for RTprop. Until it ends there is no other reaction to loss.
    ends_phase: bool,
    /// The largest rate of the current round, and whether rates have grown since the cycle last restarted.
    round_rate: Rate,
    has_grown: bool,
    /// In flight after the acknowledgement before.
    prior_in_flight: Bytes,
    probe_rtt: ProbeRtt,
    prior_cwnd: Bytes,
    losses: LossFilter,
    last_reaction: Option<Instant>,
    /// The first packet that was sent after the last reaction.
    reaction_end: u64,
    /// Window before a probe timeout, and whether the timeout proved spurious.
    suspended: Option<Bytes>,
    restore: bool,
    has_seen_rtt: bool,
    /// The start by window on a long path.
    window_start: WindowStart,
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
            cycle_index: 0,
            cycle_first: 0,
            cycle_stamp: init.now,
            ends_phase: false,
            round_rate: Rate::ZERO,
            has_grown: false,
            prior_in_flight: Bytes::ZERO,
            probe_rtt: ProbeRtt::default(),
            prior_cwnd: Bytes::ZERO,
            losses: LossFilter::default(),
            last_reaction: None,
            reaction_end: 0,
            suspended: None,
            restore: false,
            has_seen_rtt: false,
            window_start: WindowStart::new(),
            pacing_rate,
            quantum: send_quantum(pacing_rate, init.mtu),
            cwnd: init.initial_window,
        }
    }
}

impl Controller for Bbr1 {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.window_start
            .pace_first_flight(self.initial_window, cx.path);
    }

    fn on_sent(&mut self, _event: &Sent, cx: &mut Context<'_>) {
        self.note_rtt(cx);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        self.restore_window();
        let sample = Sample::of(event, cx, self.probe_rtt.has_limited(&event.snapshot));
        self.update_btl_bw(&sample, cx);
        self.check_cycle_phase(cx);
        self.check_startup(&sample);
        self.check_drain_done(&sample, cx);
        if let Some(rtt) = event.rtt {
            self.update_rtprop(rtt, cx.now);
        }
        self.check_probe_rtt(&sample, cx);
        self.update_control(&sample, cx);
        self.prior_in_flight = sample.in_flight;
        let starts_by_window = self.state == State::StartupLongRtt;
        self.window_start.pace(starts_by_window, self.cwnd, cx.path);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        let is_new = event.packet >= self.reaction_end;
        if is_new && self.losses.record_exceeds(event.packet, LOSS_THRESHOLD) {
            self.reduce(cx);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        if event.packet >= self.reaction_end && self.losses.record(event.packet) {
            self.suspend(cx);
        }
    }

    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _cx: &mut Context<'_>) {
        self.restore = self.suspended.is_some();
    }

    fn on_ecn(&mut self, _event: &EcnCounts, cx: &mut Context<'_>) {
        self.reduce(cx);
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        self.check_long_rtt(event.rtt, cx);
    }

    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        if self.state == State::ProbeBw && !self.btl_bw().is_zero() {
            self.pacing_rate = self.btl_bw();
        }
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.take_seed(window, cx);
    }

    fn control(&self) -> Control {
        self.window_start.control(Control {
            window: self.cwnd,
            pacing: Some(self.pacing_rate),
            quantum: self.quantum,
            startup_done: self.full_pipe.reached,
        })
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
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
