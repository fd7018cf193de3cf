//! QUIC over sockets: the crate `thalweg-quic-sockets`, or, in a build without that feature, what says so.

#[cfg(not(feature = "quic-sockets"))]
mod left_out;
#[cfg(feature = "quic-sockets")]
mod sockets;

#[cfg(not(feature = "quic-sockets"))]
pub(crate) use left_out::add;
#[cfg(feature = "quic-sockets")]
pub(crate) use sockets::add;
