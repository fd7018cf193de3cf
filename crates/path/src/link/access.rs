//! A link on a shared medium: it begins a transmission when the medium lets it, and by itself only while that is free.

use super::Link;
use crate::Packet;
use thalweg_units::Instant;

impl<P: Packet> Link<P> {
    /// Whether it waits for the medium before each transmission.
    pub(crate) fn hold(&mut self, held: bool) {
        self.port.transmitter.hold(held);
    }

    /// Begins to transmit a packet at `now`, a time to which it has been advanced. False if none can be sent.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        let sent = self.port.counters.progress.transmitted;
        let transmitter = &mut self.port.transmitter;
        if self.port.buffer.waiting.packets > 0 && !transmitter.rate.is_zero() {
            if transmitter.until < now {
                transmitter.credit = 0; // the rest of that nanosecond is past
            }
            self.transmit(now);
        }
        // A discipline may have dropped all that waited.
        self.port.counters.progress.transmitted > sent
    }

    /// Whether it is transmitting.
    pub(crate) fn is_sending(&self) -> bool {
        self.port.transmitter.is_busy()
    }

    /// When its transmission ends, or up to when that is computed.
    pub(crate) fn sends_until(&self) -> Instant {
        self.port.transmitter.until
    }

    /// When it can send what waits, as far as its capacity is concerned; `None` if nothing waits, or never.
    pub(crate) fn resumes(&self) -> Option<Instant> {
        let now = self.port.transmitter.now;
        let waits = self.port.buffer.waiting.packets > 0;
        waits.then(|| self.course().resumes(self.position, now))?
    }
}
