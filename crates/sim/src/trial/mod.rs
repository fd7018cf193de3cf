//! Running a scenario in virtual time: the event loop, connections with their stacks and applications, and
//! the seeds of random streams.

pub(crate) mod breaker;
pub(crate) mod connection;
pub(crate) mod element;
pub(crate) mod event_queue;
pub(crate) mod hosts;
pub(crate) mod ignores_loss;
pub(crate) mod media;
pub(crate) mod network;
pub(crate) mod probe;
pub(crate) mod reported;
pub(crate) mod requests;
pub(crate) mod seed;
pub(crate) mod stack;
pub(crate) mod steered;
pub(crate) mod supply;
pub(crate) mod tied;
pub(crate) mod traffic;
pub(crate) mod trials;
pub(crate) mod tunnels;
