//! CUBIC as RFC 9438 specifies it, over QUIC's loss detection and recovery period (RFC 9002 section 7).
//!
//! Where the RFC leaves a choice:
//! - A reduction uses `cwnd` instead of `flight_size`. Section 4.6 allows that if the window does
//!   not grow beyond what is used, which holds here.
//! - A stage of congestion avoidance starts with the first ACK after recovery.
//! - A congestion event is undone when every packet that was declared lost in it has arrived (section
//!   4.9.2), unless a CE mark confirmed it or the window has outgrown the old one meanwhile.
//! - A timeout in the sense of section 4.8 is persistent congestion (RFC 9002 section 7.6); a probe
//!   timeout changes nothing.
//! - Pacing is left to the transport.
//!
//! Options replace parts of it. The reduction that ends a slow start, in which the window may have doubled beyond the path,
//! may keep another share than later ones. Cuback has congestion avoidance follow acknowledgements instead of time
//! ([`ack_clock`]). ABE keeps more of the window at a CE mark than at a loss (RFC 8511 section 3), in slow start too. With
//! [Rate-Limited Increase](crate::rate_limited) an application-limited window may grow; the clock of the curve
//! still leaves out the time in which it was not used.
//!
//! The initial slow start is one of [`crate::start`]; later ones are classic.
//!
//! # Limits
//! Only the start `resume` uses a window remembered from an earlier connection.

mod ack_clock;
mod curve;
#[cfg(test)]
mod tests;

use crate::event::{Ack, EcnCounts, Lost, SpuriousLoss};
use crate::phase::{CONGESTION_AVOIDANCE, RECOVERY};
use crate::rate_limited::LargestFlight;
use crate::recovery_period::RecoveryPeriod;
use crate::start::{self, Classic, Recovery, SlowStart, Verdict};
use crate::{Context, Control, Controller, Init, Observer};
use ack_clock::AckClock;
use curve::Curve;
pub(crate) use curve::Shape;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// kMinimumWindow of RFC 9002 section 7.2, in packets.
const MINIMUM_WINDOW: u64 = 2;

/// What the options say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) fast_convergence: bool,
    /// Codepoint of packets: ECT(0), or Not-ECT.
    pub(crate) ecn: Ecn,
    /// Whether congestion avoidance is as in Cuback.
    pub(crate) ack_clock: bool,
    /// Share of the window that the reduction keeps that ends a slow start.
    pub(crate) start_beta: f64,
    /// The same for a mark, if it is another one (beta_ecn of RFC 8511 section 3.1).
    pub(crate) beta_ecn: Option<f64>,
    /// Whether an application-limited window grows by the rules of [`crate::rate_limited`].
    pub(crate) rate_limited: bool,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Cubic {
    mtu: Bytes,
    initial_window: Bytes,
    settings: Settings,
    state: State,
    undo: Option<Undo>,
    /// When an ACK last arrived, or an idle period ended.
    last_ack: Instant,
}

/// What a congestion event changes, in bytes.
#[derive(Clone, Debug)]
struct State {
    window: f64,
    /// Infinite before the first congestion event.
    ssthresh: f64,
    w_max: f64,
    /// Whether `w_max` holds beyond the slow start under way: a start that retreated has found where the path is full.
    knows_w_max: bool,
    /// The window when the threshold was last set (RFC 9438 section 4.1.2).
    cwnd_prior: f64,
    /// The rate of the bottleneck in bytes per second, as the last reduction found it.
    bandwidth: Option<f64>,
    /// The stage of congestion avoidance; `None` in slow start and in recovery.
    stage: Option<Stage>,
    /// How the window grows below the threshold: the chosen start, until it is over.
    start: Box<dyn SlowStart>,
    recovery: RecoveryPeriod,
    /// Present if the rules of rate-limited senders apply.
    flight: Option<LargestFlight>,
}

/// How the window grows in congestion avoidance.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// With time.
    Curve(Curve),
    /// With acknowledgements.
    AckClock(AckClock),
}

/// What is needed to undo a congestion event.
#[derive(Clone, Debug)]
struct Undo {
    state: State,
    /// Packets lost in the event that have not arrived.
    missing: u64,
}

impl Cubic {
    pub(crate) fn new(init: &Init, settings: Settings, start: &str) -> Self {
        let window = init.initial_window.max(init.mtu * MINIMUM_WINDOW).as_u64() as f64;
        Cubic {
            mtu: init.mtu,
            initial_window: init.initial_window,
            settings,
            state: State {
                window,
                ssthresh: f64::INFINITY,
                w_max: 0.0,
                knows_w_max: false,
                cwnd_prior: window,
                bandwidth: None,
                stage: None,
                start: start::of(start, init, settings.start_beta),
                recovery: RecoveryPeriod::default(),
                flight: (settings.rate_limited).then(|| LargestFlight::new(init.initial_window)),
            },
            undo: None,
            last_ack: init.now,
        }
    }

    fn minimum_window(&self) -> f64 {
        (self.mtu * MINIMUM_WINDOW).as_u64() as f64
    }

    /// Keeps the time since the last ACK out of the curve (RFC 9438 section 5.8).
    fn pause(&mut self, now: Instant) {
        if let Some(Stage::Curve(stage)) = &mut self.state.stage {
            stage.pause(now - self.last_ack);
        }
    }

    fn slow_start(&mut self, ack: &Ack, is_underused: bool, cx: &Context<'_>) {
        let minimum = self.minimum_window();
        let state = &mut self.state;
        let window = state.window_bytes();
        let verdict = match is_underused {
            true => state.start.on_underused(ack, window, cx),
            false => state.start.on_ack(ack, window, cx),
        };
        match verdict {
            Verdict::Grow(growth) => {
                state.window += growth.as_u64() as f64;
                if state.window >= state.ssthresh && !std::mem::take(&mut state.knows_w_max) {
                    // RFC 9438 section 4.8: the stage after a timeout starts on its plateau.
                    state.w_max = state.window;
                    state.bandwidth = None;
                }
            }
            Verdict::Jump(window) => state.window = real(window).max(minimum),
            Verdict::Leave => state.leave_slow_start(),
            Verdict::LeaveAt(window) => {
                state.window = real(window).max(minimum);
                state.leave_slow_start();
            }
        }
    }

    /// A recovery period of the start.
    fn follow(&mut self, recovery: Recovery) {
        let minimum = self.minimum_window();
        let state = &mut self.state;
        match recovery {
            Recovery::Window(window) => state.window = real(window).max(minimum),
            Recovery::Done { ssthresh, full } => {
                state.ssthresh = real(ssthresh).max(minimum);
                // RFC 9438 section 4.6: W_max is the window at which the path was full.
                state.w_max = real(full).max(state.window);
                state.cwnd_prior = state.w_max;
                state.knows_w_max = true;
                state.start = Box::new(Classic);
            }
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack, cx: &Context<'_>) {
        let (state, settings) = (&mut self.state, self.settings);
        let (window, w_max, prior) = (state.window, state.w_max, state.cwnd_prior);
        let stage = state.stage.get_or_insert_with(|| match settings.ack_clock {
            false => {
                // A reduction has found the maximum, or a start that knows when the path was full.
                let is_known = state.bandwidth.is_some() || w_max > window;
                let windows = (window, w_max, is_known);
                Stage::Curve(Curve::new(settings.shape, cx.now, windows, self.mtu))
            }
            true => {
                // Without a reduction the present parameters hold (section 3 of Cuback).
                let bandwidth = state.bandwidth.unwrap_or_else(|| rate(window, cx));
                let windows = (window, w_max, prior);
                Stage::AckClock(AckClock::new(settings.shape, windows, bandwidth, self.mtu))
            }
        });
        state.window = match stage {
            Stage::Curve(curve) => {
                let ahead = curve.lookahead(cx.path);
                curve.grow(cx.now, ahead, ack.newly_acked, window, prior)
            }
            Stage::AckClock(clock) => clock.grow(real(ack.newly_acked), window),
        };
    }

    /// Keeps the window within what its largest flight would earn, if less than the window was in flight.
    fn limit(&mut self, ack: &Ack, was_starting: bool, cx: &Context<'_>) {
        let window = self.state.window_bytes();
        let Some(flight) =
            (self.state.flight.as_mut()).and_then(|flight| flight.on_ack(ack, cx.path, window))
        else {
            return;
        };
        let flight = real(flight);
        let limit = match &self.state.stage {
            _ if was_starting => 2.0 * flight,
            Some(Stage::Curve(curve)) => curve.limit(cx.now, curve.lookahead(cx.path), flight),
            Some(Stage::AckClock(clock)) => clock.limit(flight),
            None => flight + real(self.mtu),
        };
        self.state.window = self.state.window.min(limit.max(self.minimum_window()));
    }

    /// The share of the window that a reduction keeps now.
    fn kept(&self) -> f64 {
        match self.state.in_slow_start() {
            true => self.settings.start_beta,
            false => self.settings.shape.beta,
        }
    }

    /// RFC 9438 section 4.6. `beta` of the window is kept.
    fn reduce(&mut self, beta: f64, cx: &Context<'_>) {
        let (minimum, shape) = (self.minimum_window(), self.settings.shape);
        let state = &mut self.state;
        state.forget_flight();
        state.recovery.begin(cx.path.next_packet);
        if let Some(window) = state.start.on_congestion(state.window_bytes(), cx) {
            state.window = real(window).max(minimum);
            return;
        }
        // Section 4.7: release bandwidth if the window did not reach its previous maximum.
        state.knows_w_max = false;
        state.w_max = match self.settings.fast_convergence && state.window < state.w_max {
            true => state.window * (1.0 + shape.beta) / 2.0,
            false => state.window,
        };
        state.cwnd_prior = state.window;
        state.bandwidth = Some(rate(state.window, cx));
        state.ssthresh = (state.window * beta).max(minimum);
        state.window = state.ssthresh;
        state.stage = None;
        state.start = Box::new(Classic);
    }
}

impl Controller for Cubic {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        if let Some(window) = (self.state.start).on_handshake_rtt(self.state.window_bytes(), cx) {
            self.state.window = real(window);
        }
    }

    fn on_seed(&mut self, window: Bytes, _cx: &mut Context<'_>) {
        self.state.start.on_seed(window);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        self.state.window = self.state.window.max(self.minimum_window());
        self.state.recovery.on_ack(event.largest);
        let is_underused = event.window_was_underused(cx.path);
        if is_underused {
            self.pause(cx.now);
        }
        let (window, is_open) = (self.state.window_bytes(), self.state.recovery.is_open());
        let (was_starting, rests) = (
            self.state.in_slow_start(),
            is_underused && self.state.flight.is_none(),
        );
        if let Some(recovery) = self.state.start.recover(event, window, is_open) {
            self.follow(recovery);
        } else if !is_open && was_starting {
            self.slow_start(event, rests, cx);
        } else if !is_open && !rests {
            self.avoid_congestion(event, cx);
        }
        self.limit(event, was_starting, cx);
        self.last_ack = cx.now;
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        if !self.state.recovery.covers(event.packet) {
            let undo = Undo {
                state: self.state.clone(),
                missing: 1,
            };
            self.reduce(self.kept(), cx);
            self.undo = Some(undo);
        } else if let Some(undo) = &mut self.undo
            && undo.concerns(event.packet)
        {
            undo.missing += 1;
        }
        if event.persistent_congestion {
            // RFC 9002 section 7.6.2. The threshold of the reduction stays (RFC 9438 section 4.8).
            self.state.window = self.minimum_window();
            self.state.forget_flight();
            self.state.knows_w_max = false;
            self.state.stage = None;
            self.state.start = Box::new(Classic);
            self.state.recovery.close();
            self.undo = None;
        }
    }

    /// RFC 9438 section 4.9.2.
    fn on_spurious_loss(&mut self, event: &SpuriousLoss, _cx: &mut Context<'_>) {
        let recovery = self.state.recovery;
        let Some(undo) = &mut self.undo else { return };
        if event.timeout_only || !undo.concerns(event.packet) || !recovery.covers(event.packet) {
            return;
        }
        undo.missing = undo.missing.saturating_sub(1);
        if undo.missing == 0 {
            if self.state.window < undo.state.window {
                self.state = undo.state.clone();
            }
            self.undo = None;
        }
    }

    /// RFC 9438 section 4.6 with RFC 9002 section 7.1: a CE mark is a congestion event.
    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        if !self.state.recovery.covers(event.largest_acked) {
            self.reduce(self.settings.beta_ecn.unwrap_or_else(|| self.kept()), cx);
        }
        self.undo = None;
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.pause(cx.now);
        self.last_ack = cx.now;
    }

    fn control(&self) -> Control {
        let pacing = self.state.start.pacing();
        Control {
            window: self.state.window_bytes(),
            pacing: pacing.map(|pacing| pacing.rate),
            // RFC 9002 section 7.7: bursts no larger than the initial window.
            quantum: pacing.map_or(self.initial_window, |pacing| pacing.quantum),
            startup_done: !self.state.in_slow_start(),
        }
    }

    fn ecn(&self) -> Ecn {
        self.settings.ecn
    }

    fn observe(&self, out: &mut dyn Observer) {
        let state = &self.state;
        out.state(match state.in_slow_start() {
            _ if state.recovery.is_open() => RECOVERY,
            true => state.start.state(),
            false => CONGESTION_AVOIDANCE,
        });
        if state.ssthresh.is_finite() {
            out.variable("ssthresh", state.ssthresh);
            out.variable("w_max", state.w_max);
        }
        match &state.stage {
            Some(Stage::Curve(curve)) => {
                out.variable("k", curve.k);
                out.variable("w_est", curve.w_est);
            }
            Some(Stage::AckClock(clock)) => out.variable("k", clock.k()),
            None => {}
        }
    }
}

fn real(window: Bytes) -> f64 {
    window.as_u64() as f64
}

/// Bytes per second of a window in each smoothed RTT.
fn rate(window: f64, cx: &Context<'_>) -> f64 {
    window
        / cx.path
            .smoothed_rtt
            .max(Duration::from_nanos(1))
            .as_secs_f64()
}

impl State {
    fn window_bytes(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// The window was reduced.
    fn forget_flight(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.on_reduction();
        }
    }

    /// RFC 9438 section 4.10: no loss yet, so the stage starts on its plateau.
    fn leave_slow_start(&mut self) {
        self.ssthresh = self.window;
        self.w_max = self.window;
        self.cwnd_prior = self.window;
        self.bandwidth = None;
        self.start = Box::new(Classic);
    }
}

impl Undo {
    /// Whether `packet` left after the recovery period before this event: an older packet belongs to an
    /// older event.
    fn concerns(&self, packet: u64) -> bool {
        packet >= self.state.recovery.end()
    }
}
