//! How long an endpoint waits for acknowledgements before it gives up, as after an idle timeout (RFC 9000 section 10.1).
//!
//! The stack (noq-proto 1.3.0) counts the probe timeout of a packet number space from its newest ack-eliciting packet.
//! The longest is 2^16 times the RTT, its variation of at least a millisecond, and the delay of acknowledgements (RFC
//! 9002 section 6.2.1). When that has passed, after many probes or since a server had to wait for its client (RFC 9000
//! section 8.1), the stack finds the next timeout past as well, and fires it without end. So an endpoint gives up before.
//! Only the stack knows the variation of the RTT: where that is large, an endpoint gives up earlier than it must.

use super::QuicEndpoint;
use crate::header::{self, Space};
use noq_proto::PathId;
use thalweg_transport::Role;
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
        let delay = if self.is_confirmed {
            LEAST_VARIATION + self.ack_delay
        } else {
            LEAST_VARIATION
        };
        // Asked at each timer: few wait for long enough to ask for the RTT.
        age >= delay * MOST_BACKOFF
            && self.connection.as_ref().is_some_and(|(_, connection)| {
                let rtt = connection.rtt(PathId::ZERO);
                let rtt = rtt.map_or(Duration::ZERO, Duration::from);
                // Nothing is probed after the close.
                !connection.is_closed() && age >= (rtt + delay) * MOST_BACKOFF
            })
    }

    /// A client that sends a Handshake packet, and a server that receives one, forgets its Initial packets (RFC 9001
    /// section 4.9.1).
    pub(super) fn discard_initial_after(&self, role: Role, datagram: &[u8]) {
        let has_handshake =
            || header::packets(datagram).any(|(space, _)| space == Space::Handshake);
        if self.role == role && !self.is_confirmed && has_handshake() {
            self.shared.sent().unacked.discard(Space::Initial);
        }
    }
}
