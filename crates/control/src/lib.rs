//! Congestion controllers, and the interface through which transports drive them.
//!
//! A controller is sans-I/O: it has no clock, no socket and no random source. Each event is
//! one plain struct ([`event`]), the transport keeps the measurements that every algorithm needs
//! ([`PathState`]), and the result is one value, [`Control`].
//!
//! Adding a controller takes one file (or one folder with a file per state) and one line in
//! [`registry`]; every suite, study, stack and plot can then use it. A crate of your own adds its controllers to a
//! [`Registry`] at run time: `examples/rust-controller`.

mod alpha;
mod bbr;
mod bbr1;
pub mod bbr_model;
mod c4;
mod cbr;
pub mod coefficient;
mod controller;
mod cubic;
mod dctcp;
pub mod delay_hystart;
mod entry;
pub mod event;
#[cfg(any(test, feature = "fake-transport"))]
pub mod fake_transport;
mod fixed;
pub mod foreign;
mod gcc;
mod ledbat_pp;
pub mod loss_filter;
mod nada;
mod options;
mod path_state;
pub mod phase;
mod prague;
mod rate_limited;
mod realtime;
mod recovery_period;
pub mod registry;
mod reno;
pub mod report;
mod screamv2;
mod spec;
mod start;
#[cfg(test)]
mod window_behaviour;
#[cfg(test)]
mod window_invariants;

pub use controller::{Context, Control, Controller, Init, MediaRates, Observer, Rng};
pub use entry::{Entry, Purpose, Variant};
pub use fixed::Fixed;
pub use options::{OptionDoc, OptionKind, Options};
pub use path_state::PathState;
pub use registry::{Registry, Resolver};
pub use spec::{ControllerSpec, Factory, SpecError};
