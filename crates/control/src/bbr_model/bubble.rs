//! The gap in the pipe after a flow limits itself.
//!
//! In ProbeRTT, BBR marks its connection as application-limited, so that low rate samples do not enter
//! the model (MarkConnectionAppLimited(), draft-ietf-ccwg-bbr-06 section 5.3.4.3). A controller cannot
//! mark the connection, but it can tell which packets saw the gap.

use crate::event::Snapshot;
use thalweg_units::{Bytes, Instant};

/// Packets that left from some time on, until the total delivered passed a limit.
#[derive(Clone, Copy, Debug)]
pub struct Bubble {
    since: Instant,
    until: Bytes,
}

impl Default for Bubble {
    /// No gap.
    fn default() -> Self {
        Bubble {
            since: Instant::NEVER,
            until: Bytes::ZERO,
        }
    }
}

impl Bubble {
    /// A gap opens.
    pub fn opened(now: Instant) -> Self {
        Bubble {
            since: now,
            until: Bytes::ZERO,
        }
    }
    /// The gap lasts until this much is delivered.
    pub fn extend(&mut self, until: Bytes) {
        self.until = until;
    }
    /// Whether the packet left within the gap or in the round trip after.
    pub fn has_limited(&self, packet: &Snapshot) -> bool {
        packet.sent >= self.since && packet.delivered_at_send <= self.until
    }
}
