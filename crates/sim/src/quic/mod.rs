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
use absent as stack;

#[cfg(feature = "quic")]
use thalweg_quic as stack;

pub use stack::StackController;
pub(crate) use stack::{ACK_RANGES, Datagram, LEAST_STREAM_OVERHEAD, QuicEndpoint, Steering};

/// Why no flow can use the stack here, or `None` if flows can.
pub(crate) fn unavailable() -> Option<&'static str> {
    #[cfg(feature = "quic")]
    let problem = "cannot make a key, since the system gives no random numbers";
    #[cfg(not(feature = "quic"))]
    let problem = "is not part of this build";
    (!stack::is_available()).then_some(problem)
}
