//! How long an endpoint waits for acknowledgements before it gives up, as after an idle timeout (RFC 9000 section 10.1).
//!
//! The stack (noq-proto 1.3.0) counts the probe timeout of a packet number space from its newest ack-eliciting packet.
//! The longest is 2^16 times the RTT and its variation, which is at least a millisecond (RFC 9002 section 6.2.1). When
//! that has passed, after many probes or since a server had to wait for its client (RFC 9000 section 8.1), the stack
//! finds the next timeout past as well, and fires it without end. So an endpoint gives up at that moment.

use super::QuicEndpoint;
use crate::clock::duration;
use crate::header::{self, Space};
use noq_proto::PathId;
use thalweg_units::{Duration, Instant};

const MOST_BACKOFF: u64 = 1 << 16;
const LEAST_VARIATION: Duration = Duration::from_millis(1);

impl QuicEndpoint {
    /// Whether a packet number space may have come to its longest probe timeout.
    pub(super) fn is_forsaken(&self, now: Instant) -> bool {
        let Some(oldest) = self.shared.sent().unacked.oldest() else {
            return false;
        };
        let age = now.since(oldest);
        // Asked at each timer: few wait for long enough to ask for the RTT.
        age >= longest(Duration::ZERO)
            && self.connection.as_ref().is_some_and(|(_, connection)| {
                let rtt = connection.rtt(PathId::ZERO);
                // Nothing is probed after the close.
                !connection.is_closed() && age >= longest(rtt.map_or(Duration::ZERO, duration))
            })
    }

    /// A client that sends a Handshake packet, and a server that receives one, forgets its Initial packets (RFC 9001
    /// section 4.9.1).
    pub(super) fn discard_initial(&self, datagram: &[u8]) {
        if header::packets(datagram).any(|(space, _)| space == Space::Handshake) {
            self.shared.sent().unacked.discard(Space::Initial);
        }
    }
}

fn longest(rtt: Duration) -> Duration {
    (rtt + LEAST_VARIATION) * MOST_BACKOFF
}
