//! BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00, July 2017; also Linux 4.9 and later).
//!
//! The path is modelled by the largest delivery rate of ten round trips (`btl_bw`) and the smallest RTT
//! of ten seconds (`rtprop`). Startup doubles the rate until it stops growing, Drain empties the queue,
//! ProbeBW cycles through eight pacing gains, ProbeRTT goes down to four packets every ten seconds.
//! Loss does not change the model: recovery conserves packets for a round trip and then restores the
//! window.
//!
//! One file for each part: [`rtprop`], [`probe_bw`], [`probe_rtt`], [`recovery`], [`output`]. Round
//! counting, the full-pipe estimator, the maximum filter and the samples are in [`crate::bbr_model`].
//!
//! The variant `linux` differs where `net/ipv4/tcp_bbr.c` of Linux 6 does: it paces 1 % below the bandwidth
//! (`bbr_pacing_margin_percent`), and a probe counts what the pacer has taken as in flight
//! (`bbr_packets_in_net_at_edt`), so that it ends a quantum earlier.
//!
//! # Limits
//! Linux's detection of token-bucket policers ("long-term bandwidth") is not in the draft
//! and not implemented. ECN is neither claimed nor used.

mod output;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod rtprop;
#[cfg(test)]
mod tests;

use crate::bbr_model::{
    FullPipe, Gain, ProbeRtt, Round, Sample, WindowedMax, initial_pacing_rate, send_quantum,
};
use crate::event::{Ack, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use crate::options::IN_REFERENCE;
use crate::{Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Purpose};
use probe_bw::Cycle;
use recovery::Recovery;
use rtprop::RtProp;
use thalweg_units::{Bytes, Duration, Ecn, Rate};

/// BBRv1 in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "bbr1",
    purpose: Purpose::Internet,
    title: "BBRv1",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00",
    options: &[OptionDoc {
        name: "variant",
        kind: OptionKind::Variant {
            here: &["draft", "linux"],
            elsewhere: &["picoquic"],
            whence: IN_REFERENCE,
        },
        default: "draft",
        meaning: "the specification; linux, where the kernel deviates from it; or picoquic's version of August 2026",
    }],
    build: |options, init| Box::new(Bbr1::new(init, options.text("variant") == "linux")),
};

/// BtlBwFilterLen in round trips (section 4.1.1.2).
const BTL_BW_FILTER_LEN: u64 = 10;

/// States of the algorithm (section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Startup => "Startup",
            State::Drain => "Drain",
            State::ProbeBw => "ProbeBW",
            State::ProbeRtt => "ProbeRTT",
        }
    }
}

/// One flow under BBRv1.
#[derive(Debug)]
struct Bbr1 {
    is_linux: bool,
    mtu: Bytes,
    initial_window: Bytes,
    state: State,
    round: Round,
    /// BBR.BtlBwFilter, in bits per second over rounds.
    btl_bw_filter: WindowedMax,
    rtprop: RtProp,
    full_pipe: FullPipe,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    recovery: Recovery,
    idle_restart: bool,
    has_seen_rtt: bool,
    pacing_rate: Rate,
    quantum: Bytes,
    cwnd: Bytes,
}

impl Bbr1 {
    /// BBRInit() (section 4.3.1).
    fn new(init: &Init, is_linux: bool) -> Self {
        let pacing_rate = initial_pacing_rate(init.initial_window, Duration::from_millis(1));
        Bbr1 {
            is_linux,
            mtu: init.mtu,
            initial_window: init.initial_window,
            state: State::Startup,
            round: Round::default(),
            btl_bw_filter: WindowedMax::default(),
            rtprop: RtProp::new(init.now),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            idle_restart: false,
            has_seen_rtt: false,
            pacing_rate,
            quantum: send_quantum(pacing_rate, init.mtu),
            cwnd: init.initial_window,
        }
    }

    /// BBR.BtlBw.
    fn btl_bw(&self) -> Rate {
        Rate::from_bits_per_sec(self.btl_bw_filter.get())
    }

    /// BBRInitPacingRate() (section 4.2.1) once an RTT is known, and the first value of RTprop.
    fn note_rtt(&mut self, cx: &Context<'_>) {
        self.mtu = cx.path.mtu;
        // After a timeout it may be one packet, of the size before the path MTU grew (RFC 9000 section 14.3).
        self.cwnd = self.cwnd.max(self.mtu);
        if !self.has_seen_rtt && cx.path.has_rtt() {
            self.has_seen_rtt = true;
            self.rtprop.seed(cx.path.smoothed_rtt);
            let rate = initial_pacing_rate(self.initial_window, cx.path.smoothed_rtt);
            if self.btl_bw().is_zero() && !rate.is_zero() {
                self.pacing_rate = rate;
                self.quantum = send_quantum(rate, self.mtu);
            }
        }
    }

    /// BBRUpdateBtlBw() (section 4.1.1.5): an application-limited sample counts only if it raises the
    /// estimate.
    fn update_btl_bw(&mut self, sample: &Sample) {
        self.round
            .update(sample.prior_delivered, sample.total_delivered);
        if let Some(rate) = sample.delivery_rate
            && (rate >= self.btl_bw() || !sample.is_app_limited)
        {
            let (bits, round) = (rate.as_bits_per_sec(), self.round.count);
            self.btl_bw_filter.update(bits, round, BTL_BW_FILTER_LEN);
        }
    }

    /// BBRCheckFullPipe() and the exit from Startup (section 4.3.2.2).
    fn check_startup_done(&mut self, sample: &Sample) {
        if self.round.start && !sample.is_app_limited && !self.full_pipe.reached {
            self.full_pipe.check(self.btl_bw());
        }
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
        }
    }

    /// BBRCheckDrain() (section 4.3.3).
    fn check_drain_done(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state == State::Drain && sample.in_flight <= self.inflight(Gain::UNITY) {
            self.enter_probe_bw(cx);
        }
    }

    /// BBRHandleRestartFromIdle() (section 4.3.4.4).
    fn handle_restart_from_idle(&mut self, cx: &mut Context<'_>) {
        if cx.path.app_limited {
            self.idle_restart = true;
            if self.state == State::ProbeBw {
                self.set_pacing_rate(Gain::UNITY);
            }
        }
    }
}

impl Controller for Bbr1 {
    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        if event.was_idle {
            self.handle_restart_from_idle(cx);
        }
    }

    /// BBRUpdateOnACK() (section 3.5.2).
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        let bubble = self.probe_rtt.has_limited(&event.snapshot);
        let sample = Sample::of(event, cx, bubble);
        self.update_btl_bw(&sample);
        self.check_cycle_phase(event, cx);
        self.check_startup_done(&sample);
        self.check_drain_done(&sample, cx);
        self.rtprop.update(sample.rtt, cx.now);
        self.check_probe_rtt(&sample, cx);
        self.update_recovery(&sample, event);
        self.update_control(&sample, event.newly_lost);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.note_loss(event, cx);
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        // The first probe timeout is a tail loss probe, not a retransmission timeout: see bbr/recovery.rs.
        if event.count >= 2 {
            self.enter_timeout(cx);
        }
    }

    /// Spurious losses may have slowed the flow down: the search for the plateau restarts
    /// (Linux, bbr_undo_cwnd).
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _cx: &mut Context<'_>) {
        if !self.full_pipe.reached {
            self.full_pipe.restart(Rate::ZERO);
        }
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
        Ecn::NotEct
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(self.state.name());
        out.variable("btl_bw", self.btl_bw().as_bits_per_sec() as f64);
        if let Some(rtprop) = self.rtprop.get() {
            out.variable("rtprop", rtprop.as_secs_f64());
        }
        out.variable("pacing_gain", self.pacing_gain().as_f64());
        out.variable("cwnd_gain", self.cwnd_gain().as_f64());
        out.variable("round_count", self.round.count as f64);
    }
}
