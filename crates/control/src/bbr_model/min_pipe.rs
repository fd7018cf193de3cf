//! The least volume in flight that keeps ACKs coming.

use thalweg_units::Bytes;

/// MinPipeCwnd, four packets (section 2.8).
pub fn min_pipe_cwnd(mtu: Bytes) -> Bytes {
    mtu * 4
}
