//! picoquic's BBR of August 2026 (`bbr:variant=picoquic`), only for comparison with its results.
//!
//! It descends from an earlier draft of BBRv3 and differs from the specification as listed; equal parts
//! ([`MaxBw`], [`Bounds`], [`LossRound`], ...) are shared. Bugs of that
//! implementation are reproduced, and called slips.
//!
//! | file | difference |
//! |---|---|
//! | [`delay`] | minimum RTT is the smallest maximum of seven samples; excess of delay is counted |
//! | [`startup`] | exit on delay; start from a remembered volume; HyStart when the RTT exceeds 250 ms |
//! | [`probe_bw`] | exit from UP on delay, early probe after growth, restart above a ceiling |
//! | [`recovery`] | losses leave the window; a probe timeout leads to a restart from the volume before it |
//! | [`draws`] | the same random waits in every trial |
//! | [`output`] | `inflight_hi` starts at zero for "none", `extra_acked` is about one ACK |
//! | here | the volume in flight at a departure is without the packet |
//!
//! The bandwidth sample is the transport's interval estimate ([`thalweg_control::PathState::delivery_rate`]) and
//! rounds are counted by packet numbers.
//!
//! # Limits
//! The peer's window freezes while an acknowledgement is overdue ("lost feedback"), if the application or another
//! algorithm has requested this of the transport. BBR does not request it, so it does not freeze here.
//! The minimum RTT of the transport is not overwritten when ProbeRTT ends. The share of marks is taken over whole
//! rounds only. ProbeRTT does not interrupt the start of a long path. Further losses during recovery from a timeout
//! do not reduce the window.
//!
//! # Source
//! picoquic-controllers.md section 4. Details that it leaves open (when the
//! next probe is early, which bandwidth growth is compared with, what a new phase resets) are those
//! of picoquic's public `bbr.c`, and where that is older (the seed after a timeout, runs of loss in Startup, losses
//! of a probe), of a public fork.

pub(crate) mod delay;
mod draws;
mod output;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;
#[cfg(test)]
mod tests;

use crate::picoquic::window_start::WindowStart;
use delay::DelaySignals;
use probe_bw::Probe;
use probe_rtt::ProbeRtt;
use recovery::{Recovery, inflight_at_loss};
use thalweg_control::bbr_model::parameters::{BETA, LOSS_THRESH};
use thalweg_control::bbr_model::{Bounds, FullPipe, Gain, LossRound, MaxBw, Sample, WindowedMax};
use thalweg_control::event::{Ack, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use thalweg_control::{Context, Control, Controller, Init, Observer};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Share of CE marks that counts as too much in flight.
const ECN_EXCESS: f64 = 0.2;
/// Bandwidth assumed before any measurement: 40 kB/s.
const UNKNOWN_RATE: Rate = Rate::from_bytes_per_sec(40_000);
/// Above this round trip, the start and some timers differ.
const LONG_RTT: Duration = Duration::from_millis(250);
/// Below this round trip, delay is not evaluated.
const SHORT_RTT: Duration = Duration::from_micros(128);

/// States of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    StartupResume,
    StartupLongRtt,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    fn is_startup(self) -> bool {
        matches!(
            self,
            State::Startup | State::StartupResume | State::StartupLongRtt
        )
    }

    fn is_probe_bw(self) -> bool {
        use State::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(
            self,
            ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp
        )
    }

    fn name(self) -> &'static str {
        match self {
            State::Startup => "Startup",
            State::StartupResume => "Startup_RESUME",
            State::StartupLongRtt => "Startup_LONG_RTT",
            State::Drain => "Drain",
            State::ProbeBwDown => "ProbeBW_DOWN",
            State::ProbeBwCruise => "ProbeBW_CRUISE",
            State::ProbeBwRefill => "ProbeBW_REFILL",
            State::ProbeBwUp => "ProbeBW_UP",
            State::ProbeRtt => "ProbeRTT",
        }
    }
}

/// Rounds by packet numbers: one ends when a packet is acknowledged that left after it began.
#[derive(Clone, Debug, Default)]
struct PacketRound {
    start: bool,
    count: u64,
    next: u64,
}

impl PacketRound {
    fn begin(&mut self, next_packet: u64) {
        self.next = next_packet;
    }

    /// A new round begins with this very ACK.
    fn restart(&mut self, next_packet: u64) {
        self.begin(next_packet);
        self.count += 1;
        self.start = true;
    }

    fn update(&mut self, largest: u64, next_packet: u64) {
        self.start = largest >= self.next;
        if self.start {
            self.count += 1;
            self.begin(next_packet);
        }
    }
}

/// One flow.
#[derive(Debug)]
pub(super) struct Bbr {
    mtu: Bytes,
    initial_window: Bytes,
    state: State,
    round: PacketRound,
    bw_filter: MaxBw,
    /// The result of the filter at the last sample: the end of a cycle shows at the next.
    max_bw: Rate,
    delay: DelaySignals,
    bw: Rate,
    bounds: Bounds,
    loss_round: LossRound,
    full_pipe: FullPipe,
    /// Runs of lost packets, and whether too much was in flight, in this round of Startup.
    startup_lost_ranges: u32,
    startup_too_high: bool,
    /// Volume to start from, remembered from an earlier connection or from before a timeout.
    seed: Option<Bytes>,
    probe: Probe,
    probe_rtt: ProbeRtt,
    recovery: Recovery,
    /// Excess of acknowledged data and the start of its interval ([`output`]).
    extra_acked: WindowedMax,
    extra_acked_delivered: Bytes,
    extra_acked_start: Instant,
    idle_restart: bool,
    /// Smoothed share of CE marks, and the counts at the last round.
    ecn_alpha: f64,
    ecn_now: EcnCounts,
    ecn_before: EcnCounts,
    has_seen_rtt: bool,
    /// The start by window on a long path.
    window_start: WindowStart,
    startup_done: bool,
    pacing_rate: Rate,
    quantum: Bytes,
    cwnd: Bytes,
}

impl Bbr {
    pub(super) fn new(init: &Init) -> Self {
        let pacing_rate = output::initial_pacing_rate(init.initial_window, LONG_RTT);
        Bbr {
            mtu: init.mtu,
            initial_window: init.initial_window,
            state: State::Startup,
            round: PacketRound::default(),
            bw_filter: MaxBw::default(),
            max_bw: Rate::ZERO,
            delay: DelaySignals::new(init.now),
            bw: Rate::ZERO,
            bounds: Bounds {
                inflight_longterm: Bytes::ZERO,
                ..Bounds::NONE
            },
            loss_round: LossRound::default(),
            full_pipe: FullPipe::default(),
            startup_lost_ranges: 0,
            startup_too_high: false,
            seed: None,
            probe: Probe::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            extra_acked: WindowedMax::default(),
            extra_acked_delivered: Bytes::ZERO,
            extra_acked_start: init.now,
            idle_restart: false,
            ecn_alpha: 0.0,
            ecn_now: EcnCounts::default(),
            ecn_before: EcnCounts::default(),
            has_seen_rtt: false,
            window_start: WindowStart::new(),
            startup_done: false,
            pacing_rate,
            quantum: output::send_quantum(pacing_rate, init.mtu),
            cwnd: init.initial_window,
        }
    }

    fn note_rtt(&mut self, cx: &Context<'_>) {
        self.mtu = cx.path.mtu;
        if !self.has_seen_rtt && cx.path.has_rtt() {
            self.has_seen_rtt = true;
            let rate = output::initial_pacing_rate(self.initial_window, cx.path.smoothed_rtt);
            if self.bw.is_zero() && !rate.is_zero() {
                self.pacing_rate = rate;
                self.quantum = output::send_quantum(rate, self.mtu);
            }
        }
    }

    /// The sample of this ACK, with the transport's rate estimate instead of the draft's.
    fn sample(&self, event: &Ack, cx: &Context<'_>) -> Sample {
        let mut sample = Sample::of(event, cx, false);
        let by_rtt = || Rate::over(sample.delivered, sample.rtt);
        let rate = Some(cx.path.delivery_rate).filter(|rate| !rate.is_zero());
        let rate = rate.or_else(|| Some(by_rtt()).filter(|rate| !rate.is_zero()));
        sample.delivery_rate = Some(rate.unwrap_or(UNKNOWN_RATE));
        sample.tx_in_flight = self.volume_before(sample.tx_in_flight);
        sample
    }

    /// What was in flight before a packet left, of what was in flight right after: the peer notes `inflight_prior`
    /// before it counts the packet (picoquic-controllers.md section 4), where the draft has RS.tx_in_flight with it. A window that
    /// only its own overshoot fills so leaves `inflight_hi` where it is. The packet counts as a full one, as packets of a
    /// flow that its window limits are.
    fn volume_before(&self, at_send: Bytes) -> Bytes {
        at_send - self.mtu
    }

    /// Too many marks, or more than 2 % and more than three packets lost since a packet was sent, if that was
    /// after the last recovery began.
    fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        self.is_too_much(sample.prior_delivered, sample.lost, sample.tx_in_flight)
    }

    /// The same for a packet that left when `delivered` and `volume` in flight were counted, and since which
    /// `lost` is.
    fn is_too_much(&self, delivered: Bytes, lost: Bytes, volume: Bytes) -> bool {
        self.ecn_alpha > ECN_EXCESS
            || (delivered > self.recovery.delivered
                && lost > LOSS_THRESH.of_bytes(volume)
                && lost > self.mtu * 3)
    }

    /// Lower bounds, once in a round with loss and outside the probing states.
    fn adapt_lower_bounds(&mut self) {
        if !self.loss_round.start {
            return;
        }
        let probing = self.state.is_startup()
            || matches!(self.state, State::ProbeBwRefill | State::ProbeBwUp);
        if self.loss_round.is_loss_in_round && !probing {
            self.bounds
                .lower(&self.loss_round.latest, self.max_bw, self.cwnd, BETA);
        }
        self.loss_round.is_loss_in_round = false;
    }

    /// Smooths the share of CE marks over rounds.
    fn update_ecn(&mut self) {
        if !self.round.start {
            return;
        }
        let total = |counts: &EcnCounts| {
            counts
                .ect0
                .saturating_add(counts.ect1)
                .saturating_add(counts.ce)
        };
        let packets = total(&self.ecn_now).saturating_sub(total(&self.ecn_before));
        if packets > 0 {
            let marks = self.ecn_now.ce.saturating_sub(self.ecn_before.ce);
            let share = marks as f64 / packets as f64;
            self.ecn_alpha = (15.0 * self.ecn_alpha + share) / 16.0;
            self.ecn_before = self.ecn_now;
        }
    }
}

impl Controller for Bbr {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.window_start
            .pace_first_flight(self.initial_window, cx.path);
    }

    fn on_sent(&mut self, _event: &Sent, cx: &mut Context<'_>) {
        self.note_rtt(cx);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note_rtt(cx);
        let sample = self.sample(event, cx);
        let rate = sample.delivery_rate.unwrap_or(UNKNOWN_RATE);
        self.loss_round.update(&sample, event.lost_ranges);
        self.loss_round.is_loss_in_round |= !event.newly_lost.is_zero();
        self.round.update(
            cx.path.largest_acked.unwrap_or(event.largest),
            cx.path.next_packet,
        );
        // An application-limited sample also counts: it is compared only with the slot of the current
        // cycle, which it can only raise.
        self.bw_filter.update(rate, false);
        self.max_bw = self.bw_filter.get();
        self.adapt_lower_bounds();
        self.update_extra_acked(&sample, cx.now);
        if let Some(rtt) = event.rtt {
            self.check_long_rtt(rtt, cx);
        }
        self.check_startup(&sample, event.lost_ranges);
        self.update_recovery(&sample, event, cx);
        self.check_drain_done(&sample, cx);
        self.update_probe_bw_cycle(&sample, rate, cx);
        if let Some(rtt) = event.rtt {
            self.delay.update(rtt, self.max_bw, self.mtu, cx.now);
        }
        self.check_probe_rtt(&sample, event.rtt, cx);
        self.loss_round.advance(&sample);
        self.update_ecn();
        self.bw = self.max_bw.min(self.bounds.bw_shortterm);
        self.update_control(&sample, event.newly_lost, cx);
        let starts_by_window = self.state == State::StartupLongRtt;
        self.window_start.pace(starts_by_window, self.cwnd, cx.path);
    }

    /// A loss in a probe shows immediately that too much was in flight; other losses count when their ACK
    /// is processed.
    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        if !self.probe.is_bw_probe_sample || self.state != State::ProbeBwUp {
            return;
        }
        let at_send = &event.snapshot;
        let lost = at_send.lost_since_sent;
        let volume = self.volume_before(at_send.in_flight_at_send);
        if self.is_too_much(at_send.delivered_at_send, lost, volume) {
            let limit = inflight_at_loss(event.size, volume, lost);
            self.handle_inflight_too_high(limit, at_send.app_limited, cx);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.handle_timeout(event, cx);
    }

    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        self.handle_spurious_loss(event.packet, cx);
    }

    fn on_ecn(&mut self, event: &EcnCounts, _cx: &mut Context<'_>) {
        self.ecn_now = *event;
    }

    fn on_rtt(&mut self, _event: &RttSample, cx: &mut Context<'_>) {
        self.note_rtt(cx);
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.idle_restart = true;
        self.extra_acked_start = cx.now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(Gain::UNITY);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }

    fn on_seed(&mut self, window: Bytes, _cx: &mut Context<'_>) {
        self.take_seed(window);
    }

    fn control(&self) -> Control {
        self.window_start.control(Control {
            window: self.cwnd,
            pacing: Some(self.pacing_rate),
            quantum: self.quantum,
            startup_done: self.startup_done,
        })
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(self.state.name());
        out.variable("max_bw", self.max_bw.as_bits_per_sec() as f64);
        out.variable("bw", self.bw.as_bits_per_sec() as f64);
        if let Some(min_rtt) = self.delay.min_rtt() {
            out.variable("min_rtt", min_rtt.as_secs_f64());
        }
        out.variable("inflight_hi", self.bounds.inflight_longterm.as_u64() as f64);
        if self.bounds.has_shortterm() {
            out.variable("bw_lo", self.bounds.bw_shortterm.as_bits_per_sec() as f64);
            out.variable(
                "inflight_lo",
                self.bounds.inflight_shortterm.as_u64() as f64,
            );
        }
        out.variable("rtt_excess_count", f64::from(self.delay.excess()));
        out.variable("ecn_alpha", self.ecn_alpha);
        out.variable("extra_acked", self.extra_acked.get() as f64);
        out.variable("pacing_gain", self.state.pacing_gain().as_f64());
        out.variable("cwnd_gain", self.state.cwnd_gain().as_f64());
    }
}

impl Bbr {
    /// Reduces the bound to the excessive volume, once per probe.
    fn handle_inflight_too_high(
        &mut self,
        limit: Bytes,
        is_app_limited: bool,
        cx: &mut Context<'_>,
    ) {
        self.probe.is_bw_probe_sample = false;
        if !is_app_limited {
            let floor = BETA.of_bytes(self.target_inflight());
            self.bounds.inflight_longterm = limit.max(floor);
        }
        if self.state == State::ProbeBwUp {
            self.start_probe_bw_down(cx);
        }
    }
}
