//! The model of the path that BBRv3 (`bbr`), BBRv1 (`bbr1`) and the variants of the crate `thalweg-reference` share.
//!
//! The clauses come from draft-ietf-ccwg-bbr-06, which keeps most of these parts of BBRv1 as they were.

mod ack_phase;
mod bounds;
mod bubble;
mod full_pipe;
mod gain;
mod loss_round;
mod max_bw;
mod min_pipe;
mod pacing_of_v1;
pub mod parameters;
mod probe_rtt;
mod recovery_episode;
mod round;
mod sample;
mod windowed_max;

pub use ack_phase::AckPhase;
pub use bounds::{Bounds, LatestDelivery};
pub use bubble::Bubble;
pub use full_pipe::FullPipe;
pub use gain::Gain;
pub use loss_round::LossRound;
pub use max_bw::MaxBw;
pub use min_pipe::min_pipe_cwnd;
pub use pacing_of_v1::{HIGH_GAIN, initial_pacing_rate, send_quantum};
pub use probe_rtt::ProbeRtt;
pub use recovery_episode::RecoveryEpisode;
pub use round::Round;
pub use sample::Sample;
pub use windowed_max::WindowedMax;
