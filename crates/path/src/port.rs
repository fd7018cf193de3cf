//! The port: the part of a link that a queue discipline sees and acts on.
//!
//! The discipline decides about packets; the port counts, so that all disciplines count in the same way.

use crate::Limit;
use crate::buffer::{Buffer, Queued};
use crate::counters::Counters;
use crate::stats::{Count, DropCause, Dropped};
use crate::store::Vacant;
use crate::transmitter::Transmitter;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// The parts of a link that its queue discipline works with.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) transmitter: Transmitter,
    pub(crate) buffer: Buffer,
    pub(crate) counters: Counters,
    pub(crate) vacant: Vacant,
    /// Packets in a frame of the medium, which neither wait nor have arrived.
    pub(crate) in_air: usize,
}

impl Port {
    pub(crate) fn new(rate: Rate, nominal: Rate, limit: Limit, flows: usize) -> Self {
        Port {
            transmitter: Transmitter::new(rate, nominal),
            buffer: Buffer::new(limit),
            counters: Counters::new(flows),
            vacant: Vacant::default(),
            in_air: 0,
        }
    }

    /// The time of the current decision.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        self.transmitter.now
    }

    /// Whether the newest packet, of size `newest` and already counted as waiting, fits.
    #[inline]
    pub(crate) fn fits(&self, newest: Bytes) -> bool {
        self.buffer.fits(newest, &self.transmitter)
    }

    /// Whether it would fit if the limit were this one.
    #[inline(never)]
    pub(crate) fn is_within(&self, limit: Limit, newest: Bytes) -> bool {
        self.buffer.is_within(limit, newest, &self.transmitter)
    }

    /// Nanobits to send before all that is here is out.
    pub(crate) fn backlog(&self) -> u128 {
        self.buffer.backlog(&self.transmitter)
    }

    /// Time until the backlog has been sent at the current nominal capacity, or at the rate of a shaper below it.
    pub(crate) fn drain_time(&self, shaped: Option<Rate>) -> Duration {
        self.buffer.drain_time(&self.transmitter, shaped)
    }

    /// Counts an arriving packet.
    #[inline]
    pub(crate) fn arrive(&mut self, flow: u64, size: Bytes) {
        self.counters.offered(flow, size);
        if self.buffer.waiting.packets == 0 && !self.transmitter.is_busy() {
            self.transmitter.credit = 0;
        }
        self.buffer.waiting.add(size);
    }

    /// Records the length of the queue if it is the largest so far.
    #[inline]
    pub(crate) fn note_length(&mut self) {
        let Count { packets, bytes } = self.buffer.waiting;
        let max = &mut self.counters.link.max_queue;
        // A branch that is hardly ever taken is cheaper than two maxima on every packet.
        if packets > max.packets || bytes > max.bytes {
            max.raise(packets, bytes);
        }
    }

    /// Counts a packet that leaves the queue for transmission.
    #[inline]
    pub(crate) fn depart(&mut self, queued: &Queued) {
        let wait = self.leave(queued);
        self.counters.transmitted(queued.flow, queued.size, wait);
    }

    /// The transmitter takes no packet before `until`, which lies ahead: for a discipline that shapes.
    pub(crate) fn pause(&mut self, until: Instant) {
        self.transmitter.pause(until);
    }

    /// Counts a packet that the discipline drops.
    pub(crate) fn drop(&mut self, queued: Queued, cause: DropCause) {
        self.leave(&queued);
        let now = self.now();
        match self.counters.passages() {
            Some(log) => log.dropped(&queued, now, cause),
            None => self.vacant.add(queued.slot),
        }
        self.counters.dropped(Dropped {
            at: self.now(),
            flow: queued.flow,
            size: queued.size,
            cause,
        });
    }

    /// Sets CE on a packet and counts it. The caller ensures that it is ECN-capable.
    pub(crate) fn mark(&mut self, queued: &mut Queued) {
        if queued.ecn != Ecn::Ce {
            queued.ecn = Ecn::Ce;
            self.counters.marked(queued.flow, queued.size);
            let now = self.now();
            if let Some(log) = self.counters.passages() {
                log.marked(queued.slot, now);
            }
        }
    }

    #[inline]
    fn leave(&mut self, queued: &Queued) -> Duration {
        self.buffer.waiting.remove(queued.size);
        let wait = self.now() - queued.arrived;
        self.counters.link.queue_byte_nanos +=
            u128::from(queued.size.as_u64()) * u128::from(wait.as_nanos());
        wait
    }
}
