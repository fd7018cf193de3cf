//! The real QUIC stack, where there is one.
//!
//! It needs sockets, keys and a system, so a web page has none: without the feature `quic` the types of [`absent`] stand
//! in for it, and a scenario that asks for the stack is refused.

#[cfg(not(feature = "quic"))]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it has the interface of the stack, of which real time uses the rest"
)]
mod absent;

#[cfg(not(feature = "quic"))]
pub use absent::*;

#[cfg(feature = "quic")]
pub use thalweg_quic::{
    ACK_RANGES, Datagram, LEAST_STREAM_OVERHEAD, QuicEndpoint, StackController, Steering,
};

/// Why no flow can use the stack here, or `None` if flows can.
pub(crate) fn unavailable() -> Option<&'static str> {
    #[cfg(feature = "quic")]
    let problem = "cannot make a key, since the system gives no random numbers";
    #[cfg(not(feature = "quic"))]
    let problem = "is not part of this build";
    (!is_available()).then_some(problem)
}

#[cfg(feature = "quic")]
use thalweg_quic::is_available;

#[cfg(not(feature = "quic"))]
fn is_available() -> bool {
    false
}
