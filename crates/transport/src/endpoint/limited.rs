//! What limits the sender: see `limits`.

use super::Endpoint;
use crate::limits::LimitedBy;
use thalweg_units::{Duration, Instant};

impl Endpoint {
    /// What limits the sender since its last attempt to send.
    pub fn limited_by(&self) -> LimitedBy {
        self.limits.by()
    }

    /// How long each of [`LimitedBy::ALL`] has limited it by `now`, from the start of the connection to the end of the flow.
    pub fn limited_times(&self, now: Instant) -> [Duration; 6] {
        self.limits.spent(now)
    }

    /// The flow has ended: what limits the sender from here on does not count.
    pub fn end_limits(&mut self, now: Instant) {
        self.limits.stop(now);
    }

    /// The sender has tried to send, and waits.
    #[inline]
    pub(super) fn wait_for(&mut self, now: Instant, by: LimitedBy) {
        let by = match self.timeouts {
            0 => by,
            _ => LimitedBy::Stalled,
        };
        self.limits.wait(now, by);
    }

    /// The sender has nothing that it may send.
    pub(super) fn wait_for_data(&mut self, now: Instant) {
        let is_held = self.send_streams.iter().any(|stream| stream.is_held());
        let by = match is_held {
            _ if !self.is_complete() => LimitedBy::Handshake,
            true => LimitedBy::FlowControl,
            false => LimitedBy::Application,
        };
        self.wait_for(now, by);
    }
}
