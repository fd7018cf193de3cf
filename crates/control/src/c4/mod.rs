//! C4, Christian's Congestion Control Code: rate-based control that distinguishes jitter from queues.
//!
//! # Model
//!
//! C4 keeps two estimates: the *nominal rate*, the best delivery rate believed to be available,
//! and the *nominal max RTT*, the largest RTT of the path when this flow builds no queue. The pacing rate is
//! `alpha * nominal rate`, the window that times the max RTT. The coefficient `alpha` depends on the state:
//! Initial finds the rate, Cruising holds it, Probing tries slightly more, Recovery drains and evaluates the
//! result, Pushing follows a success, Resuming starts from the window of an earlier connection. Time is
//! counted in eras of about one round trip. The nominal rate is a maximum: samples raise it, only
//! congestion lowers it.
//!
//! # Source
//!
//! draft-huitema-ccwg-c4-spec-04 (July 2026) and its successor, and for every detail where the text and the code of
//! their authors differ, that code, which produced the published results: picoquic of 2026-08-16 for the draft,
//! of 2026-08-20 for its successor, which is the default. Section names in this module come from the draft;
//! "reference code" is that code. [`rules`] lists what differs between the two and the newest public code, of
//! 2026-10-08.
//!
//! # Units
//!
//! Rates in bits per second and times in nanoseconds, where the reference code truncates to bytes per
//! second and microseconds; results differ by less than one of its units. Coefficients are in 1/1024.
//!
//! # Limits
//!
//! - Probe timeouts are ignored, because jitter fires them ("Do not react to Probe Time Out").
//! - Spurious losses are not undone: the threshold on the loss rate is the tolerance.
//! - Idle periods and application limits change nothing by themselves; they only delay the next probe,
//!   and eras that did not use the path fully do not count as eras without growth.
//! - Variables that the reference code writes but never reads (the limit of a push, a flag that a seed is
//!   active) are left out.

mod congestion;
mod constants;
mod cruising;
mod delay;
mod draining;
mod ecn;
mod era;
mod growth;
mod initial;
mod loss;
mod observe;
mod options;
mod output;
mod probing;
mod pushing;
mod recovery;
mod resuming;
mod rules;
mod sensitivity;
#[cfg(test)]
mod tests;

use crate::coefficient::Coefficient;
use crate::event::{Ack, EcnCounts, Lost, RttSample};
use crate::loss_filter::LossFilter;
use crate::{Context, Control, Controller, Entry, Init, Observer, Options, PathState, Purpose};
use constants::{ALPHA_INITIAL, INITIAL_MAX_RTT, PROBE_LEVEL_DEFAULT};
use ecn::EcnFilter;
use era::Era;
use growth::Reference;
use options::Tuning;
use resuming::Seed;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// C4 in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "c4",
    purpose: Purpose::Internet,
    title: "C4, rate-based control for real-time media that distinguishes jitter from queues",
    source: "draft-huitema-ccwg-c4-spec after -04, as in picoquic of 20 August 2026",
    options: options::OPTIONS,
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    Box::new(C4::new(Tuning::from_options(options), init))
}

/// States of C4 ("States and Transition").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Recovery,
    Cruising,
    Probing,
    Pushing,
    Resuming,
}

impl State {
    /// The name in the specification.
    fn name(self) -> &'static str {
        match self {
            State::Initial => "Initial",
            State::Recovery => "Recovery",
            State::Cruising => "Cruising",
            State::Probing => "Probing",
            State::Pushing => "Pushing",
            State::Resuming => "Resuming",
        }
    }
}

/// C4 bound to one flow.
struct C4 {
    tuning: Tuning,
    control: Control,
    /// Window while rate or max RTT are unknown.
    default_window: Bytes,

    state: State,
    /// Best believed rate; zero before the first sample.
    nominal_rate: Rate,
    /// Largest RTT without pushing; zero before the first sample, unless Initial sets it.
    nominal_max_rtt: Duration,
    /// Slowly moving minimum RTT; [`Duration::MAX`] before the first sample.
    running_min_rtt: Duration,

    era: Era,
    /// Coefficient of the packets sent now.
    alpha: Coefficient,
    /// Coefficient of the packets acknowledged now.
    alpha_previous: Coefficient,

    /// Window of Initial.
    initial_window: Bytes,
    /// Acknowledgements and excessive losses in this Initial.
    initial_events: u64,
    /// Eras in a row without growth in this Initial.
    eras_without_growth: u32,
    cruising_eras_left: u32,
    resuming_eras: u32,
    seed: Seed,
    /// 0 after an excess of CE marks, 1 normally, more while probes and pushes succeed.
    probe_level: u32,

    reference: Reference,
    /// A congestion signal came since the reference was taken.
    congestion_seen: bool,
    /// The sender used the path fully since the reference was taken.
    fully_used: bool,
    /// CE marks caused this Recovery, at least in part.
    ce_excess: bool,
    /// Jitter has led back to Initial.
    jitter_restart_done: bool,
    /// When the first Recovery after the last entry into Initial ended.
    first_recovery_end: Option<Instant>,
    /// What Recovery has to drain, in parts of the data of an era; of a flag, all or nothing.
    drain_debt: Coefficient,

    /// Largest rate sample since the last Recovery ended.
    recent_max_rate: Rate,
    /// Recoveries in a row with congestion and without growth.
    congested_cycles: u32,

    delay_threshold: Duration,
    /// By how much the last RTT exceeded the max RTT plus the threshold.
    delay_excess: Duration,
    loss: LossFilter,
    ecn: EcnFilter,
}

impl C4 {
    fn new(tuning: Tuning, init: &Init) -> Self {
        C4 {
            tuning,
            control: Self::first_control(init),
            default_window: init.initial_window,
            state: State::Initial,
            nominal_rate: Rate::ZERO,
            nominal_max_rtt: match tuning.rules.smoothed_max_rtt {
                true => INITIAL_MAX_RTT,
                false => Duration::ZERO,
            },
            running_min_rtt: Duration::MAX,
            era: Era::starting_at(0),
            alpha: ALPHA_INITIAL,
            alpha_previous: ALPHA_INITIAL,
            initial_window: init.initial_window,
            initial_events: 0,
            eras_without_growth: 0,
            cruising_eras_left: 0,
            resuming_eras: 0,
            seed: Seed::default(),
            probe_level: PROBE_LEVEL_DEFAULT,
            reference: Reference {
                rate: Rate::ZERO,
                alpha: ALPHA_INITIAL,
            },
            congestion_seen: false,
            fully_used: false,
            ce_excess: false,
            jitter_restart_done: false,
            first_recovery_end: None,
            drain_debt: Coefficient::ZERO,
            recent_max_rate: Rate::ZERO,
            congested_cycles: 0,
            delay_threshold: Duration::ZERO,
            delay_excess: Duration::ZERO,
            loss: LossFilter::default(),
            ecn: EcnFilter::default(),
        }
    }

    /// Processes the delivery rate of an acknowledgement ("Nominal rate"). After a congestion signal
    /// in Recovery, samples of packets sent before it must not undo the reduction.
    fn measure_rate(&mut self, ack: &Ack, path: &PathState) {
        let delivered = ack.snapshot.delivered_since_sent;
        if ack.rtt.is_none() || delivered.is_zero() {
            return;
        }
        let sample = path.delivery_rate;
        self.recent_max_rate = self.recent_max_rate.max(sample);
        let bounce = self.state == State::Recovery && self.congestion_seen;
        if sample > self.nominal_rate && !bounce {
            self.fully_used = true;
            self.nominal_rate = sample;
            self.update_delay_threshold();
            self.drain_nothing();
        } else if delivered > self.nominal_rate.bytes_in(self.running_min_rtt) {
            self.fully_used = true;
        }
    }

    /// Ends the era, of any state but Initial.
    fn era_end(&mut self, now: Instant, path: &PathState) {
        self.update_min_max_rtt(path);
        if self.needs_jitter_restart(now) {
            self.jitter_restart_done = true;
            return self.enter_initial(path);
        }
        match self.state {
            State::Recovery => self.exit_recovery(now, path),
            State::Cruising => self.cruising_era_end(path),
            State::Probing => self.enter_recovery(None, path),
            State::Pushing => self.pushing_era_end(path),
            State::Resuming => self.resuming_era_end(path),
            State::Initial => {}
        }
    }
}

impl Controller for C4 {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Context<'_>) {
        let path = cx.path;
        self.measure_rate(ack, path);
        if self.state == State::Initial {
            self.initial_on_ack(ack, path);
        } else {
            if self.state == State::Resuming {
                self.resuming_on_ack(path);
            }
            if self.era.is_over(path) {
                self.era_end(cx.now, path);
            } else if self.state == State::Pushing {
                self.pushing_on_ack(path);
            }
        }
        self.apply_outputs(path);
    }

    fn on_lost(&mut self, lost: &Lost, cx: &mut Context<'_>) {
        self.lost(lost.packet, cx.path);
    }

    fn on_ecn(&mut self, counts: &EcnCounts, cx: &mut Context<'_>) {
        self.marked(counts, cx.path);
    }

    fn on_rtt(&mut self, sample: &RttSample, cx: &mut Context<'_>) {
        self.measured_rtt(sample.rtt, cx.path);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.enter_resuming(window, cx.path);
        self.apply_outputs(cx.path);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    fn observe(&self, out: &mut dyn Observer) {
        self.report(out);
    }
}
