//! Limits of queues.

use thalweg_units::{Bytes, Duration};

/// The size of a buffer.
///
/// Queue disciplines may drop earlier, but none holds more.
///
/// All three kinds include the packet that is being transmitted, so that "100 ms", "125 kB" and
/// "100 packets" of 1250 bytes describe the same buffer at 10 Mbps. (Linux does not count that packet,
/// which sits in the device: its limits hold one packet more.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// A packet is accepted if the backlog drains in less than this time at the current
    /// capacity without noise (of a delivery trace: its mean), whatever the size of the packet (as in picoquic's
    /// `sim_link.c`). Zero accepts nothing. A suspended link (capacity zero) cannot evaluate the limit and accepts
    /// everything.
    Time(Duration),
    /// A packet is accepted if it fits entirely. The packet in transmission counts with its whole size
    /// until its last bit is sent.
    Bytes(Bytes),
    /// A packet is accepted if there are fewer than this many.
    Packets(u64),
}
