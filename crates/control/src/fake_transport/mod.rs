//! A transport for tests of controllers, in Rust and in Python (`thalweg.FakeTransport`): one flow, whose packets and events
//! a test makes up as it needs them.
//!
//! [`Flow`] gives its controller a [`PathState`] and a clock that the test sets. [`packets`] sends full packets
//! and keeps that state consistent with the arrivals of the test; [`by_hand`] reports events without
//! packets; [`bottleneck`] puts the flow on a path that decides the fate of its packets.

#[cfg(any(test, feature = "any-events"))]
pub mod any_events;
#[cfg(any(test, feature = "any-events"))]
pub mod any_operation;
mod bottleneck;
mod by_hand;
mod packets;

pub use bottleneck::Bottleneck;

use crate::event::{RateSample, Snapshot};
use crate::{Context, Control, Controller, ControllerSpec, Init, Observer, PathState, Rng};
use std::collections::BTreeMap;
use std::fmt;
use thalweg_units::{Bytes, Duration, Instant};

/// Size of every packet of [`Flow::new`].
pub const MTU: Bytes = Bytes::new(1_000);

/// The largest packet and the initial window of picoquic, at the start of time.
pub const PICOQUIC: Init = Init {
    now: Instant::START,
    mtu: Bytes::new(1_440),
    initial_window: Bytes::new(15_360),
    media: None,
};

/// Ten packets of a window, one second after the start of time.
pub const INIT: Init = Init {
    now: Instant::from_nanos(1_000_000_000),
    mtu: MTU,
    initial_window: Bytes::new(10_000),
    media: None,
};

/// One flow and its controller.
pub struct Flow<C: ?Sized = dyn Controller> {
    /// Its controller.
    pub controller: Box<C>,
    /// What the controller is given of the path.
    pub path: PathState,
    /// The clock.
    pub now: Instant,
    /// Size of every packet.
    size: Bytes,
    /// Bytes of it that do not count as delivered: the AEAD tag.
    pub tag: Bytes,
    /// Whether packets are marked as sent without enough data to fill the window.
    pub app_limited: bool,
    /// The delivery-rate sample of ACKs.
    pub rate: Option<RateSample>,
    /// Bytes that events by hand report as delivered since their packet was sent.
    pub acked: Bytes,
    rng: Rng,
    outstanding: BTreeMap<u64, Snapshot>,
    lost: BTreeMap<u64, Snapshot>,
    /// Time and name of each state that the controller entered.
    pub states: Vec<(Instant, &'static str)>,
}

impl Flow {
    /// A flow that starts at one second with a window of ten packets, driven by the controller of that name.
    pub fn new(spec: &str) -> Self {
        Flow::named(spec, &INIT)
    }

    /// A flow driven by the controller of that name.
    pub fn named(spec: &str, init: &Init) -> Self {
        let spec: ControllerSpec = spec.parse().unwrap();
        Flow::of(spec.build(init), init)
    }
}

impl<C: Controller + ?Sized> Flow<C> {
    /// A flow with its handshake done, which has had data to send all the time.
    pub fn of(controller: Box<C>, init: &Init) -> Self {
        let mut path = PathState::new(init.mtu, init.now);
        path.established = true;
        path.newest_acked_data_sent = init.now + Duration::from_nanos(1);
        let mut flow = Flow {
            controller,
            path,
            now: init.now,
            size: init.mtu,
            tag: Bytes::ZERO,
            app_limited: false,
            rate: None,
            acked: init.mtu,
            rng: Rng::new(1),
            outstanding: BTreeMap::new(),
            lost: BTreeMap::new(),
            states: Vec::new(),
        };
        flow.note_state();
        flow
    }

    /// Calls the controller with the current context.
    pub fn call<R>(&mut self, f: impl FnOnce(&mut C, &mut Context<'_>) -> R) -> R {
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        let result = f(self.controller.as_mut(), &mut cx);
        self.note_state();
        result
    }

    fn note_state(&mut self) {
        let state = self.state();
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((self.now, state));
        }
    }

    /// Lets time pass.
    pub fn advance(&mut self, span: Duration) {
        self.now += span;
    }
    /// The decision of the controller.
    pub fn control(&self) -> Control {
        self.controller.control()
    }
    /// Its window.
    pub fn window(&self) -> Bytes {
        self.control().window
    }
    /// The window in packets.
    pub fn packets(&self) -> f64 {
        self.window().as_u64() as f64 / self.size.as_u64() as f64
    }
    /// The controller's state in traces.
    pub fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        self.controller.observe(&mut shown);
        shown
    }
    /// The state that the controller shows in traces.
    pub fn state(&self) -> &'static str {
        let mut state = StateOnly("");
        self.controller.observe(&mut state);
        state.0
    }
    /// A variable that the controller shows in traces.
    pub fn variable(&self, name: &str) -> Option<f64> {
        let shown = self.shown();
        let mut variables = shown.variables.iter();
        variables.find_map(|(known, value)| (*known == name).then_some(*value))
    }
}

/// A state and its variables, in the order in which they are shown.
#[derive(Debug, Default, PartialEq)]
pub struct Shown {
    /// The state.
    pub state: &'static str,
    /// The variables with their names.
    pub variables: Vec<(&'static str, f64)>,
}

impl Observer for Shown {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.push((name, value));
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "state {}", self.state)?;
        let mut variables = self.variables.iter();
        variables.try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}

struct StateOnly(&'static str);

impl Observer for StateOnly {
    fn state(&mut self, name: &'static str) {
        self.0 = name;
    }
    fn variable(&mut self, _: &'static str, _: f64) {}
}
