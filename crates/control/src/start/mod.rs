//! Slow starts: how a new flow of Reno or CUBIC finds the capacity of its path. The option `start` chooses one.
//!
//! A [`SlowStart`] says how the window grows and when that ends. The controller keeps the window, the threshold
//! and the recovery period; it asks its start as long as the window is below the threshold. A start may also answer
//! the first congestion itself, and change the window during the recovery period that follows
//! ([`SlowStart::on_congestion`], [`SlowStart::recover`]). Afterwards, and after persistent congestion, growth below
//! the threshold is [`Classic`].
//!
//! Each start is a file: [`classic`], [`hystart`], [`hystart_linux`], [`delay`], [`search`], [`rapid`], [`resume`].
//! What [`hystart_linux`] and [`delay`] share, a test that ends classic slow start, is in [`tested`].
//!
//! # Limits
//! One start at a time. Prague has HyStart++ only, by its own option.

mod classic;
mod delay;
pub(crate) mod hystart;
mod hystart_linux;
mod rapid;
mod resume;
mod search;
mod tested;

use crate::event::Ack;
use crate::phase::SLOW_START;
use crate::{Context, Init, OptionDoc, OptionKind};
use std::fmt;
use thalweg_units::{Bytes, Rate};

pub(crate) use classic::Classic;
use tested::Tested;

/// The names that the option `start` takes.
const NAMES: &[&str] = &[
    "classic",
    "hystart",
    "hystart-linux",
    "hystart-unpaced",
    "delay",
    "search",
    "rapid",
    "resume",
];

/// The option of a controller whose start is `default`.
pub(crate) const fn option(default: &'static str, meaning: &'static str) -> OptionDoc {
    OptionDoc {
        name: "start",
        kind: OptionKind::Choice(NAMES),
        default,
        meaning,
    }
}

/// What a start does with an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Grow by this much.
    Grow(Bytes),
    /// Go on with this window.
    Jump(Bytes),
    /// Slow start is over: the threshold is the window.
    Leave,
    /// Slow start is over: the threshold is this window.
    LeaveAt(Bytes),
}

/// What a start does with an ACK during a recovery period of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Go on with this window.
    Window(Bytes),
    /// The start is over. The window stays.
    Done {
        ssthresh: Bytes,
        /// The window that has filled the path, as far as the start knows.
        full: Bytes,
    },
}

/// Pacing by a start, in place of the pacing of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pacing {
    pub(crate) rate: Rate,
    /// The largest burst.
    pub(crate) quantum: Bytes,
}

/// How a flow starts. Windows belong to the controller at the event.
pub(crate) trait SlowStart: fmt::Debug + Send {
    /// Its phase, for traces.
    fn state(&self) -> &'static str {
        SLOW_START
    }

    /// The handshake gave the first RTT sample. The window of the first flight, if it is another one.
    fn on_handshake_rtt(&mut self, _window: Bytes, _cx: &Context<'_>) -> Option<Bytes> {
        None
    }

    /// A window remembered from an earlier connection.
    fn on_seed(&mut self, _saved: Bytes) {}

    /// An ACK of a flow that uses its window.
    fn on_ack(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict;

    /// An ACK of a flow that lacks data to use its window, which therefore must not grow (RFC 9002 section 7.8).
    fn on_underused(&mut self, _ack: &Ack, _window: Bytes, _cx: &Context<'_>) -> Verdict {
        Verdict::Grow(Bytes::ZERO)
    }

    /// A recovery period begins: a packet was lost or marked. The window to go on with, if the start reduces it
    /// by itself; otherwise the controller does, and the start is over.
    fn on_congestion(&mut self, _window: Bytes, _cx: &Context<'_>) -> Option<Bytes> {
        None
    }

    /// An ACK after `on_congestion` gave a window; `is_open` says whether the recovery period goes on after it.
    /// `None` for a start without a recovery of its own, or before it.
    fn recover(&mut self, _ack: &Ack, _window: Bytes, _is_open: bool) -> Option<Recovery> {
        None
    }

    /// Pacing until the next event; `None` leaves it to the transport (RFC 9002 section 7.7).
    fn pacing(&self) -> Option<Pacing> {
        None
    }

    /// A copy, for controllers that undo a reduction.
    fn copied(&self) -> Box<dyn SlowStart>;
}

impl Clone for Box<dyn SlowStart> {
    fn clone(&self) -> Self {
        self.copied()
    }
}

/// The start of that name, which the option has checked. `beta` is the share of the window that a reduction of the
/// controller keeps.
pub(crate) fn of(name: &str, init: &Init, beta: f64) -> Box<dyn SlowStart> {
    match name {
        "hystart" => Box::new(hystart::HyStart::new()),
        "hystart-linux" => Box::new(Tested(hystart_linux::HystartLinux::new(true))),
        "hystart-unpaced" => Box::new(Tested(hystart_linux::HystartLinux::new(false))),
        "delay" => Box::new(Tested(delay::Delay::new())),
        "search" => Box::new(search::Search::new(init)),
        "rapid" => Box::new(rapid::Rapid::new(init, beta)),
        "resume" => Box::new(resume::Resume::new(init, beta)),
        _ => Box::new(Classic),
    }
}
