//! The real QUIC stack, where there is one.
//!
//! It needs sockets, keys and a system, so a web page has none, and no libraries with other stacks: without the feature
//! `quic` the types of [`absent`] stand in for both, and a scenario that asks for one is refused.

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

mod real;

#[cfg(not(feature = "quic"))]
pub use absent::Description;
#[cfg(not(feature = "quic"))]
pub(crate) use absent::{LibraryEndpoint, datagram_of};
pub(crate) use real::RealEndpoint;
#[cfg(feature = "quic")]
pub use thalweg_stacks::Description;
#[cfg(feature = "quic")]
pub(crate) use thalweg_stacks::LibraryEndpoint;

pub use stack::StackController;
pub(crate) use stack::{ACK_RANGES, Datagram, LEAST_STREAM_OVERHEAD, Steering};

/// A datagram of a library.
#[cfg(feature = "quic")]
pub(crate) fn datagram_of(sent: thalweg_stacks::Sent) -> Datagram {
    let thalweg_stacks::Sent { number, ecn, data } = sent;
    Datagram { number, ecn, data }
}

/// Why no flow can use the stack here, or `None` if flows can.
pub(crate) fn unavailable() -> Option<&'static str> {
    #[cfg(feature = "quic")]
    let problem = "cannot make a key, since the system gives no random numbers";
    #[cfg(not(feature = "quic"))]
    let problem = "is not part of this build";
    (!stack::is_available()).then_some(problem)
}
