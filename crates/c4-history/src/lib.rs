//! C4 before the drafts: v1, v1 without exit on delay, v2 and v3 (September 2025), for the study `wifi-compete`.
//!
//! ```
//! let spec = thalweg_c4_history::registry().read("c4:variant=v1").unwrap();
//! assert_eq!(spec.as_str(), "c4:variant=v1");
//! ```
//!
//! # Model
//! The control variable is the *nominal* window, raised to the data that an ACK shows delivered in a round trip
//! (corrected for the part of the RTT above the minimum), and lowered only by congestion. Time is divided into
//! *eras* of about one round trip. Each era runs in a state that multiplies the nominal window:
//!
//! | state | factor | next |
//! |---|---|---|
//! | Initial | 200 % | Recovery, on three rounds without growth, delay, losses or CE |
//! | Recovery | 100 % or 90 % | Cruising, or Initial after four good pushes or at a pig war |
//! | Cruising | 100 % | Pushing, once twice the window was acknowledged |
//! | Pushing | 125 % or 106.25 % | Recovery |
//! | Slowdown | 50 % | Checking |
//! | Checking | 100 % | Cruising, or Initial with a raised minimum RTT |
//!
//! Two flags change the rules: *pig war* (the competitor is loss-based, so delay is ignored) and *chaotic
//! jitter* (the RTT spreads so widely that delay is meaningless).
//!
//! | variant | differs in |
//! |---|---|
//! | v1 | only a window, paced by the transport |
//! | v1-no-exit-on-delay | v1, and delay does not end Initial |
//! | v2 | under chaotic jitter the window is the most ever delivered, paced at the highest rate |
//! | v3 | v2 with half of the difference to the most ever delivered |
//!
//! # Source
//! c4-history.md sections 2 (v1), 3 (no exit on delay) and 4 (v2, v3), as published: the slips of the
//! original are part of what was measured. [`slips`] lists and switches them.
//!
//! # Units and limits
//! RTTs are truncated to the microsecond of the original's clock ([`rtt_filter::in_ticks`]); sizes are
//! bytes as the transport counts deliveries; factors are 1/1024 ([`thalweg_control::coefficient`]). Products
//! saturate where the original wraps; the one wrap-around that mattered is kept ([`min_rtt`]).
//! Timeouts, spurious losses and idle restarts are ignored, as they were. The first era starts at packet
//! 0, because no packet has left when a controller is made. The ECN codepoint is ECT(0): CE counts as a
//! loss here, which ECT(1) does not allow (RFC 9331 section 4.3).

mod chaotic;
mod congestion;
mod constants;
mod cruising;
mod delay;
mod era;
mod growth;
mod initial;
mod min_rtt;
mod output;
mod pig_war;
mod pushing;
mod recovery;
mod rtt_filter;
mod slips;
mod slowdown;

#[cfg(test)]
mod tests;

use chaotic::Chaotic;
use constants::ALPHA_INITIAL;
use cruising::Cruise;
use era::Era;
use growth::Growth;
use initial::Startup;
use min_rtt::MinRtt;
use output::Peaks;
use rtt_filter::RttFilter;
use slips::Slips;
use thalweg_control::coefficient::Coefficient;
use thalweg_control::event::{Ack, EcnCounts, Lost, RttSample};
use thalweg_control::loss_filter::LossFilter;
use thalweg_control::{Context, Control, Controller, Init, Observer, Options, Registry, Variant};
use thalweg_reference::WindowPacing;
use thalweg_units::{Bytes, Duration, Ecn};

/// Which of the early versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// 1 September 2025 (section 2).
    V1,
    /// The experiment of the jitter paper (section 3).
    V1NoExitOnDelay,
    /// 3 September 2025 (section 4).
    V2,
    /// 4 September 2025 (section 4).
    V3,
}

impl Version {
    /// Whether a change of state writes the window (v1), or the window is recomputed from the state
    /// after each ACK (v2, v3).
    fn writes_window_on_change(self) -> bool {
        matches!(self, Version::V1 | Version::V1NoExitOnDelay)
    }
}

/// The versions as variants of C4, slips included.
pub const VARIANTS: &[Variant] = &[
    variant("v1", |_, init| published(Version::V1, init)),
    variant("v1-no-exit-on-delay", |_, init| {
        published(Version::V1NoExitOnDelay, init)
    }),
    variant("v2", |_, init| published(Version::V2, init)),
    variant("v3", |_, init| published(Version::V3, init)),
];

/// The controllers of `thalweg-reference` with the variants of this crate.
pub fn registry() -> Registry {
    thalweg_reference::registry().with_variants(VARIANTS)
}

const fn variant(name: &'static str, build: fn(&Options, &Init) -> Box<dyn Controller>) -> Variant {
    Variant {
        controller: "c4",
        name,
        build,
    }
}

fn published(version: Version, init: &Init) -> Box<dyn Controller> {
    Box::new(EarlyC4::new(version, Slips::AS_PUBLISHED, init))
}

/// States of the algorithm (section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Recovery,
    Cruising,
    Pushing,
    Slowdown,
    Checking,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Initial => "Initial",
            State::Recovery => "Recovery",
            State::Cruising => "Cruising",
            State::Pushing => "Pushing",
            State::Slowdown => "Slowdown",
            State::Checking => "Checking",
        }
    }
}

/// One early C4, bound to a flow.
#[derive(Clone, Debug)]
struct EarlyC4 {
    version: Version,
    slips: Slips,
    state: State,
    /// The control variable: the data of one round trip.
    nominal: Bytes,
    /// Factor of the present state over `nominal`.
    alpha: Coefficient,
    /// Congestion window in force (`cwin`); it persists between events.
    window: Bytes,
    pacing: WindowPacing,
    startup_done: bool,
    era: Era,
    filter: RttFilter,
    min_rtt: MinRtt,
    /// By how much the filtered RTT exceeds the threshold; zero when there is no delay event.
    delay_excess: Duration,
    /// Whether the last recovery began with a loss or a CE mark (`last_nondelay`).
    recovering_from_loss: bool,
    growth: Growth,
    startup: Startup,
    cruise: Cruise,
    pig_war: bool,
    chaotic: Chaotic,
    losses: LossFilter,
    peaks: Peaks,
}

impl EarlyC4 {
    fn new(version: Version, slips: Slips, init: &Init) -> Self {
        // The nominal window starts at half the initial window, and Initial doubles it again.
        let nominal = init.initial_window / 2;
        EarlyC4 {
            version,
            slips,
            state: State::Initial,
            nominal,
            alpha: ALPHA_INITIAL,
            window: init.initial_window,
            pacing: WindowPacing::initial(init),
            startup_done: false,
            era: Era::starting_at(0),
            filter: RttFilter::new(),
            min_rtt: MinRtt::new(init.now),
            delay_excess: Duration::ZERO,
            recovering_from_loss: false,
            growth: Growth::of(nominal, ALPHA_INITIAL),
            startup: Startup::default(),
            cruise: Cruise::default(),
            pig_war: false,
            chaotic: Chaotic::default(),
            losses: LossFilter::default(),
            peaks: Peaks::default(),
        }
    }

    /// The newest RTT sample (`sample`).
    fn sample(cx: &Context<'_>) -> Duration {
        rtt_filter::in_ticks(cx.path.latest_rtt)
    }

    /// Raises the nominal window to what was delivered in the round trip of the acknowledged packet. A
    /// remembered window suspends that outside Initial.
    fn raise_nominal(&mut self, delivered: Bytes, cx: &Context<'_>) {
        let jitter = self.chaotic.jitter();
        let corrected = self
            .min_rtt
            .correct(delivered, Self::sample(cx), jitter, cx.now);
        let may_rise = self.startup.seed.is_none() || self.state == State::Initial;
        if corrected > self.nominal && may_rise {
            self.nominal = corrected;
            self.write_window(self.alpha.of_size(self.nominal));
        }
    }
}

impl Controller for EarlyC4 {
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        let delivered = event.snapshot.delivered_since_sent;
        self.raise_peaks(delivered, cx);
        self.raise_nominal(delivered, cx);
        self.cruise.acked += event.newly_acked;
        if self.state == State::Initial {
            self.initial_ack(cx);
        } else if self.era.is_over(cx) {
            self.end_era(delivered, cx);
        }
        self.update_output(cx);
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        let was_initial = self.state == State::Initial;
        let rtt = rtt_filter::in_ticks(event.rtt);
        self.filter.push(rtt);
        if self.filter.ready {
            let candidate = self.filter.min_rtt_candidate();
            self.min_rtt.lower(candidate, rtt, cx.now);
            self.update_delay_excess();
            self.era.extend(rtt);
        }
        if was_initial {
            self.initial_rtt(cx);
        } else {
            self.delay_event(rtt, cx);
        }
        if was_initial || self.version.writes_window_on_change() {
            self.update_output(cx);
        }
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.loss_event(event.packet, cx);
        self.keep_minimum(cx);
    }

    fn on_ecn(&mut self, _event: &EcnCounts, cx: &mut Context<'_>) {
        self.ce_event(cx);
        self.keep_minimum(cx);
    }

    fn on_seed(&mut self, window: Bytes, _cx: &mut Context<'_>) {
        if self.state == State::Initial {
            self.startup.seed = Some(window);
        }
    }

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: Some(self.pacing.rate),
            quantum: self.pacing.quantum,
            startup_done: self.startup_done,
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(self.state.name());
        let flag = |on: bool| f64::from(u8::from(on));
        let rtt_min = self.min_rtt.nominal.unwrap_or(Duration::ZERO);
        out.variable("alpha", self.alpha.as_f64());
        out.variable("nominal", self.nominal.as_u64() as f64);
        out.variable("nominal_rate", self.peaks.rate.as_bits_per_sec() as f64);
        out.variable("high", self.peaks.delivered.as_u64() as f64);
        out.variable("rtt_min", rtt_min.as_secs_f64());
        out.variable("nmax", self.chaotic.max_rtt.as_secs_f64());
        out.variable("delay_excess", self.delay_excess.as_secs_f64());
        out.variable("loss_rate", self.losses.rate());
        out.variable("pig_war", flag(self.pig_war));
        out.variable("chaotic", flag(self.chaotic.on));
        out.variable("good", self.growth.good_pushes as f64);
        out.variable("no_inc", self.growth.eras_without as f64);
        out.variable("delay_dec", self.growth.delay_eras as f64);
    }
}
