//! Congestion controllers, and the seam that every transport drives them through.
//!
//! A controller is sans-I/O: it has no clock, no socket and no random source of its own. Events come
//! in as one plain struct each ([`event`]), measurements that every algorithm needs are kept by the
//! transport and lent as [`PathState`], and what comes out is one value, [`Control`].
//!
//! Adding a controller takes one file (or one folder with a file per state) and one line in
//! [`registry`]; every suite, study, stack and plot then has it.

mod bbr;
mod bbr1;
mod bbr_model;
mod c4;
mod c4_early;
mod coefficient;
mod controller;
mod cubic;
pub mod event;
#[cfg(test)]
mod fake_transport;
mod hystart;
mod options;
mod path_state;
mod picoquic;
mod prague;
mod recovery_period;
pub mod registry;
mod reno;
#[cfg(test)]
#[cfg(test)]
mod window_invariants;

pub use controller::{Context, Control, Controller, Init, Observer, Rng};
pub use options::{OptionDoc, OptionKind, Options};
pub use path_state::PathState;
pub use registry::{ControllerSpec, Entry, SpecError};
