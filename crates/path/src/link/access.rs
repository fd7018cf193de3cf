//! A link on a shared medium: it begins a transmission when the medium lets it, and by itself only while that is free.

use super::Link;
use crate::Packet;
use crate::buffer::Queued;
use crate::capacity::Departure;
use crate::queue::Discipline;
use thalweg_units::{Duration, Ecn, Instant, Rate};

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

    /// What it can send, at the time to which it has been advanced.
    pub(crate) fn rate(&self) -> Rate {
        self.port.transmitter.rate
    }

    /// Takes a packet out of the queue, for a frame of the medium that begins at the time to which the link has been advanced.
    pub(crate) fn take(&mut self) -> Option<Queued> {
        if self.port.buffer.waiting.packets == 0 {
            return None;
        }
        let queued = self.queue.dequeue(&mut self.port)?;
        self.port.depart(&queued);
        if queued.ecn == Ecn::Ce || self.ecn == super::EcnConfig::Bleached {
            self.write_ecn(queued.slot);
        }
        self.port.in_air += 1;
        Some(queued)
    }

    /// The medium has carried a packet whose frame began at `from` for the first time and ends at `until`, or has given it up.
    pub(crate) fn land(&mut self, queued: &Queued, from: Instant, until: Instant, arrives: bool) {
        self.port.in_air -= 1;
        // The settings before a change at that time.
        let last = until - Duration::from_nanos(1);
        let index = match self.schedule.segments_per_cycle() {
            1 => 0,
            _ => self.course().position_at(last).index(),
        };
        let departure = Departure {
            at: until,
            busy: Duration::ZERO,
            credit: 0,
            index,
        };
        self.settle(queued, from, departure, arrives);
    }

    /// The medium has carried its signal for so long.
    pub(crate) fn occupy(&mut self, airtime: Duration) {
        self.port.counters.link.busy += airtime;
    }

    /// How many packets are in a frame of the medium.
    pub fn in_air(&self) -> usize {
        self.port.in_air
    }
}
