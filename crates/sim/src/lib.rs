//! Scenarios, trials and their outcomes.
//!
//! A [`Scenario`] is read from TOML and checked; [`run_trial`] runs it once with one seed, in virtual time,
//! and returns an [`Outcome`] and, on request, a [`Trace`]; [`run_trials`] runs many on all cores.
//!
//! A trial is a pure function of (scenario, seed, version): one event queue with one entry for each element
//! (link or endpoint), ordered by (time, insertion number), and one stream of random numbers for each
//! element, derived from the seed and the name of the element.
//!
//! # Limits
//! Endpoints compute in zero time, and packets wait only in links.

mod audit;
mod live;
mod outcome;
mod quic;
mod scenario;
mod trial;

pub use audit::AuditError;
#[cfg(feature = "quic")]
pub use live::RealConnection;
pub use live::Transfer;
pub use outcome::frames::FrameRow;
pub use outcome::media::MediaOutcome;
pub use outcome::passages::{LimitRow, PassageRow, Passages, Watch};
pub use outcome::senders::Senders;
pub use outcome::series::{FlowSeries, SenderSeries, Series};
pub use outcome::summary::jain;
pub use outcome::trace::{DropRow, HeldRow, LinkRow, Trace};
pub use outcome::{FlowOutcome, LinkOutcome, Measured, MediumOutcome, Outcome, RequestOutcome};
pub use quic::{Description as StackLibrary, StackController};
pub use scenario::schema::{json_schema, names_library};
pub use scenario::{
    Amount, Better, Bound, Clock, CommandSpec, Criterion, FlowController, FlowSpec, Host, Metric,
    ReadyWhen, Scenario, ScenarioError, Unit, Value, smallest_tables,
};
#[cfg(feature = "quic")]
pub use thalweg_quic::{Datagram, Train};
pub use thalweg_transport::{
    Counters, LimitedBy, PacketEvent, PacketFate, Role, SenderRecorder, SenderRow, SenderTrace,
    VariableRow,
};
pub use trial::breaker::Rule as BreakerRule;
pub use trial::probe::{Probe, probe};
pub use trial::steered::{SteeredTrial, Stop};
pub use trial::trials::{
    Finished, Progress, run_audited, run_batches, run_traced, run_trial, run_trials, run_watched,
};
