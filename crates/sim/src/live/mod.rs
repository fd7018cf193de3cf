//! What real time uses: connections of the real stack with their applications, and their transfers.

#[cfg(feature = "quic")]
mod connection;
mod transfer;

#[cfg(feature = "quic")]
pub use connection::RealConnection;
pub use transfer::Transfer;
