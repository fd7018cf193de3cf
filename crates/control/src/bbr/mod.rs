//! BBRv3 (draft-ietf-ccwg-bbr-06), with the delivery-rate samples of section 4.1.
//!
//! BBR models the path by two numbers, the largest delivery rate of the last two probing cycles
//! (`max_bw`) and the smallest RTT of the last ten seconds (`min_rtt`), and sends at that rate with one to
//! two times their product in flight. Startup finds the rate, Drain empties the queue that this built,
//! ProbeBW looks for more bandwidth every two to three seconds, ProbeRTT halves the volume in flight
//! every five seconds. Loss beyond 2 % bounds the volume in flight; less is tolerated.
//!
//! One file for each state ([`startup`], [`drain`], [`probe_bw`], [`probe_rtt`]), for each part of the
//! model ([`max_bw`], [`min_rtt`], [`ack_aggregation`], [`bounds`]), for the responses ([`loss`],
//! [`recovery`], [`ecn`], [`idle`]) and for the output ([`output`]). What BBRv1 measures in the same way is in
//! [`crate::bbr_model`]. Functions are named as in the draft.
//!
//! # Limits
//! Rates come from the transport. If it leaves the AEAD tags out of what it counts as delivered, the
//! model sees about 1 % less than the packets on the wire. The draft leaves ECN open; see [`ecn`].

mod ack_aggregation;
mod drain;
mod ecn;
mod idle;
mod loss;
mod min_rtt;
mod options;
mod output;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;

#[cfg(test)]
mod tests;

use crate::bbr_model::{Bounds, FullPipe, LossRound, MaxBw, ProbeRtt, Round, Sample};
use crate::event::{Ack, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use crate::{Context, Control, Controller, Entry, Init, Observer, Purpose};
use ack_aggregation::AckAggregation;
use min_rtt::MinRtt;
use options::Tuning;
use probe_bw::Probe;
use recovery::Recovery;
use thalweg_units::{Bytes, Duration, Ecn, Rate};

/// BBRv3 in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "bbr",
    purpose: Purpose::Internet,
    title: "BBRv3",
    source: "draft-ietf-ccwg-bbr-06",
    options: options::OPTIONS,
    build: |options, init| {
        Box::new(Bbr::new(
            init,
            options.flag("ecn"),
            Tuning::from_options(options),
        ))
    },
};

/// States of the algorithm (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState().
    fn is_probe_bw(self) -> bool {
        use State::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(
            self,
            ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp
        )
    }

    /// IsProbingBW(): a state that probes until loss.
    fn is_probing_bw(self) -> bool {
        matches!(
            self,
            State::Startup | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    fn name(self) -> &'static str {
        match self {
            State::Startup => "Startup",
            State::Drain => "Drain",
            State::ProbeBwDown => "ProbeBW_DOWN",
            State::ProbeBwCruise => "ProbeBW_CRUISE",
            State::ProbeBwRefill => "ProbeBW_REFILL",
            State::ProbeBwUp => "ProbeBW_UP",
            State::ProbeRtt => "ProbeRTT",
        }
    }
}

/// One flow under BBRv3.
#[derive(Debug)]
struct Bbr {
    mtu: Bytes,
    initial_window: Bytes,
    ecn_capable: bool,
    tuning: Tuning,
    state: State,
    // The model.
    round: Round,
    max_bw: MaxBw,
    min_rtt: MinRtt,
    /// BBR.bw: `max_bw` within the short-term bound.
    bw: Rate,
    bounds: Bounds,
    loss_round: LossRound,
    aggregation: AckAggregation,
    full_pipe: FullPipe,
    // Progress of the states.
    /// BBR.drain_start_round.
    drain_start_round: u64,
    probe: Probe,
    probe_rtt: ProbeRtt,
    recovery: Recovery,
    idle_restart: bool,
    /// Whether the current ACK reported CE marks.
    marked: bool,
    /// Whether the pacing rate is based on a measured RTT.
    has_seen_rtt: bool,
    // The output.
    pacing_rate: Rate,
    quantum: Bytes,
    cwnd: Bytes,
}

impl Bbr {
    /// OnInit() (section 5.2.1).
    fn new(init: &Init, ecn_capable: bool, tuning: Tuning) -> Self {
        let pacing_rate =
            output::initial_pacing_rate(tuning, init.initial_window, Duration::from_millis(1));
        Bbr {
            mtu: init.mtu,
            initial_window: init.initial_window,
            ecn_capable,
            tuning,
            state: State::Startup,
            round: Round::default(),
            max_bw: MaxBw::default(),
            min_rtt: MinRtt::new(init.now, tuning),
            bw: Rate::ZERO,
            bounds: Bounds::NONE,
            loss_round: LossRound::default(),
            aggregation: AckAggregation::new(init.now),
            full_pipe: FullPipe::default(),
            drain_start_round: 0,
            probe: Probe::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            idle_restart: false,
            marked: false,
            has_seen_rtt: false,
            pacing_rate,
            quantum: output::send_quantum(pacing_rate, init.mtu),
            cwnd: init.initial_window,
        }
    }

    /// The first measured RTT replaces the 1 ms that the initial rate was computed with
    /// (section 5.6.2), and seeds `min_rtt` (section 5.2.1).
    fn note_rtt(&mut self, cx: &Context<'_>) {
        self.mtu = cx.path.mtu;
        // After a timeout it may be one packet, of the size before the path MTU grew (RFC 9000 section 14.3).
        self.cwnd = self.cwnd.max(self.mtu);
        if !self.has_seen_rtt && cx.path.has_rtt() {
            self.has_seen_rtt = true;
            self.min_rtt.seed(cx.path.smoothed_rtt);
            let rate =
                output::initial_pacing_rate(self.tuning, self.initial_window, cx.path.smoothed_rtt);
            if self.bw.is_zero() && !rate.is_zero() {
                self.pacing_rate = rate;
                self.quantum = output::send_quantum(rate, self.mtu);
            }
        }
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        if event.was_idle {
            self.handle_restart_from_idle(cx);
        }
        if event.prior_in_flight + event.size + self.mtu > self.cwnd {
            self.round.on_window_used_up();
        }
    }

    /// UpdateOnACK() (section 5.2.3).
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        let bubble = self.probe_rtt.has_limited(&event.snapshot);
        let sample = Sample::of(event, cx, bubble);
        if self.recovery.episode.ends_with(event.largest) {
            self.restore_cwnd();
        }
        // UpdateModelAndState()
        self.loss_round.update(&sample, event.lost_ranges);
        self.round
            .update(sample.prior_delivered, sample.total_delivered);
        if let Some(rate) = sample.delivery_rate {
            self.max_bw.update(rate, sample.is_app_limited);
        }
        self.check_startup_high_loss(&sample);
        self.respond_to_marks(&sample, cx);
        self.adapt_lower_bounds();
        self.aggregation.update(
            sample.newly_acked,
            self.bw,
            self.cwnd,
            self.round.count,
            self.full_pipe.reached,
            cx.now,
        );
        self.check_full_bw_reached(&sample);
        self.check_startup_done();
        self.check_drain_done(&sample, cx);
        self.update_probe_bw_cycle(&sample, cx);
        self.min_rtt.update(sample.rtt, cx.now);
        self.check_probe_rtt(&sample, cx);
        self.loss_round.advance(&sample);
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm); // BoundBWForModel()
        self.update_control(&sample);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.note_loss_for_recovery(event, cx);
        self.handle_lost_packet(event, cx);
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.handle_timeout(event, cx);
    }

    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        self.note_returned_packet(event, cx);
    }

    fn on_ecn(&mut self, _event: &EcnCounts, cx: &mut Context<'_>) {
        self.note_marks(cx);
    }

    fn on_rtt(&mut self, _event: &RttSample, cx: &mut Context<'_>) {
        self.note_rtt(cx);
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.handle_restart_from_idle(cx);
    }

    fn control(&self) -> Control {
        Control {
            window: self.cwnd,
            pacing: Some(self.pacing_rate),
            quantum: self.quantum,
            startup_done: self.full_pipe.reached,
        }
    }

    fn ecn(&self) -> Ecn {
        if self.ecn_capable {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        }
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(self.state.name());
        out.variable("max_bw", self.max_bw.get().as_bits_per_sec() as f64);
        out.variable("bw", self.bw.as_bits_per_sec() as f64);
        if let Some(min_rtt) = self.min_rtt.get() {
            out.variable("min_rtt", min_rtt.as_secs_f64());
        }
        out.variable("bdp", self.bdp().as_u64() as f64);
        out.variable(
            "extra_acked",
            self.aggregation.extra_acked().as_u64() as f64,
        );
        if self.bounds.has_longterm() {
            out.variable(
                "inflight_longterm",
                self.bounds.inflight_longterm.as_u64() as f64,
            );
        }
        if self.bounds.has_shortterm() {
            out.variable(
                "bw_shortterm",
                self.bounds.bw_shortterm.as_bits_per_sec() as f64,
            );
            out.variable(
                "inflight_shortterm",
                self.bounds.inflight_shortterm.as_u64() as f64,
            );
        }
        out.variable("pacing_gain", self.state.pacing_gain(self.tuning).as_f64());
        out.variable("cwnd_gain", self.state.cwnd_gain(self.tuning).as_f64());
        out.variable("round_count", self.round.count as f64);
    }
}
