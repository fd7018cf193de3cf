//! Scenarios, trials and their outcomes.
//!
//! A [`Scenario`] is read from TOML and checked; [`run_trial`] plays it once with one seed, in virtual time,
//! and yields an [`Outcome`] and, if asked, a [`Trace`]; [`run_trials`] plays many on all cores.
//!
//! A trial is a pure function of (scenario, seed, version): one event queue with one entry for each element
//! (link or endpoint), ordered by (time, insertion number), and one stream of random numbers for each
//! element, derived from the seed and the name of the element.
//!
//! # Limits
//! Endpoints take no time to compute, and a link is the only place where packets wait.

mod aqm;
mod audit;
mod check;
mod connection;
mod dead_end;
mod error;
mod event_queue;
mod floor;
mod hop;
mod limits;
mod media;
mod media_outcome;
mod network;
mod outcome;
mod overrides;
mod probe;
mod real_connection;
mod real_time;
mod refusal;
mod requests;
mod scenario;
mod schema;
mod seed;
mod series;
mod size;
mod stack;
mod trace;
mod trace_files;
mod trials;

pub use audit::AuditError;
pub use error::ScenarioError;
pub use media_outcome::MediaOutcome;
pub use outcome::{FlowOutcome, LinkOutcome, Outcome, RequestOutcome};
pub use probe::{Probe, probe};
pub use real_connection::RealConnection;
pub use real_time::Transfer;
pub use scenario::{Criterion, FlowSpec, Metric, Scenario, column_name};
pub use schema::json_schema;
pub use series::{FlowSeries, Series};
pub use stack::FlowController;
pub use thalweg_quic::{Datagram, StackController};
pub use thalweg_transport::{Counters, PacketEvent, PacketFate, Role};
pub use trace::{DropRow, FlowRow, LinkRow, Trace};
pub use trials::{Finished, Progress, run_audited, run_traced, run_trial, run_trials};
