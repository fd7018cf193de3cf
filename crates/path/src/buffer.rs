//! The room that waiting packets share: what waits, what is being transmitted, and what still fits.
//!
//! A queue discipline decides about packets; the buffer holds the facts that it decides on, and keeps the
//! books, so that every discipline counts alike.

use crate::stats::{Count, Counters, DropCause, Dropped};
use crate::{Limit, Packet};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Transmission work is counted in nanobits: a rate in bit/s moves that many nanobits per nanosecond.
pub(crate) const NANOBITS_PER_BYTE: u64 = 8_000_000_000;

/// The work of transmitting `size`; saturates above 2.3 GB.
pub(crate) fn nanobits(size: Bytes) -> u64 {
    size.as_u64().saturating_mul(NANOBITS_PER_BYTE)
}

/// A packet in the queue and the time it came.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub(crate) packet: P,
    pub(crate) arrived: Instant,
}

impl<P: Packet> Queued<P> {
    pub(crate) fn size(&self) -> Bytes {
        self.packet.size()
    }
}

/// The packet that is being transmitted, if `until` lies in the future.
#[derive(Debug)]
pub(crate) struct Transmission {
    /// When its last bit leaves; otherwise since when the transmitter has been free.
    pub(crate) until: Instant,
    pub(crate) size: Bytes,
    /// Nanobits that were still to send at `since`. The rate has not changed from then to now.
    pub(crate) left: u64,
    pub(crate) since: Instant,
    /// Nanobits that the transmitter could have sent between the exact end of the transmission and
    /// `until`, the next whole nanosecond. They belong to the next packet if it already waited then.
    pub(crate) credit: u64,
}

/// What a discipline sees of its link.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// The time of the decision that is being taken.
    pub(crate) now: Instant,
    /// Capacity at that time; zero while suspended.
    pub(crate) rate: Rate,
    pub(crate) limit: Limit,
    /// What waits, a packet that has just been pushed included.
    pub(crate) waiting: Count,
    pub(crate) transmission: Transmission,
    pub(crate) counters: Counters,
}

impl Buffer {
    pub(crate) fn new(rate: Rate, limit: Limit, flows: usize) -> Self {
        Buffer {
            now: Instant::START,
            rate,
            limit,
            waiting: Count::default(),
            transmission: Transmission {
                until: Instant::START,
                size: Bytes::ZERO,
                left: 0,
                since: Instant::START,
                credit: 0,
            },
            counters: Counters::new(flows),
        }
    }

    /// Whether the transmitter is sending, or suspended amid a packet.
    pub(crate) fn is_transmitting(&self) -> bool {
        self.transmission.until > self.now
    }

    /// Nanobits of the packet in transmission that are still to send.
    fn left(&self) -> u64 {
        if !self.is_transmitting() {
            return 0;
        }
        let span = self.now - self.transmission.since;
        let sent = self.rate.as_bits_per_sec().saturating_mul(span.as_nanos());
        self.transmission.left.saturating_sub(sent)
    }

    /// Moves to `now`, the end of a stretch of constant rate, and notes what has been sent until then.
    pub(crate) fn settle(&mut self, now: Instant) {
        self.now = now;
        if self.is_transmitting() {
            self.transmission.left = self.left();
            self.transmission.since = now;
        } else {
            self.transmission.until = now;
        }
    }

    /// Whether the newest packet, of size `newest` and already counted in `waiting`, fits.
    pub(crate) fn fits(&self, newest: Bytes) -> bool {
        match self.limit {
            Limit::Unlimited => true,
            Limit::Time(limit) => {
                let before = self.work(self.waiting.bytes - newest);
                let room = u128::from(limit.as_nanos()) * u128::from(self.rate.as_bits_per_sec());
                self.rate.is_zero() || before < room
            }
            Limit::Bytes(limit) => {
                let sending = if self.is_transmitting() {
                    self.transmission.size
                } else {
                    Bytes::ZERO
                };
                self.waiting.bytes + sending <= limit
            }
            Limit::Packets(limit) => {
                self.waiting.packets + u64::from(self.is_transmitting()) <= limit
            }
        }
    }

    /// Nanobits to send before `waiting` bytes and the packet in transmission are out.
    fn work(&self, waiting: Bytes) -> u128 {
        u128::from(waiting.as_u64()) * u128::from(NANOBITS_PER_BYTE) + u128::from(self.left())
    }

    /// Time until all that is here has been sent, if the capacity stays what it is.
    pub(crate) fn drain_time(&self) -> Duration {
        let work = self.work(self.waiting.bytes);
        match (work, self.rate.as_bits_per_sec()) {
            (0, _) => Duration::ZERO,
            (_, 0) => Duration::MAX,
            (work, rate) => Duration::from_nanos(
                u64::try_from(work.div_ceil(u128::from(rate))).unwrap_or(u64::MAX),
            ),
        }
    }

    /// Books a packet that came.
    pub(crate) fn arrive<P: Packet>(&mut self, packet: &P) {
        let size = packet.size();
        self.counters.offered(packet.flow(), size);
        if self.waiting.packets == 0 && !self.is_transmitting() {
            self.transmission.credit = 0;
        }
        self.waiting.add(size);
    }

    /// Books a packet that leaves the queue for transmission.
    pub(crate) fn depart<P: Packet>(&mut self, queued: &Queued<P>) {
        let wait = self.leave(queued);
        self.counters
            .transmitted(queued.packet.flow(), queued.size(), wait);
    }

    /// Books a packet that the discipline drops.
    pub(crate) fn drop<P: Packet>(&mut self, queued: Queued<P>, cause: DropCause) {
        self.leave(&queued);
        let (flow, size) = (queued.packet.flow(), queued.size());
        self.counters.dropped(Dropped {
            at: self.now,
            flow,
            size,
            cause,
        });
    }

    /// Sets CE on a packet and books it. The caller has made sure that it is ECN-capable.
    #[allow(dead_code)] // the active queue disciplines mark
    pub(crate) fn mark<P: Packet>(&mut self, packet: &mut P) {
        if packet.ecn() != Ecn::Ce {
            packet.set_ecn(Ecn::Ce);
            self.counters.marked(packet.flow(), packet.size());
        }
    }

    fn leave<P: Packet>(&mut self, queued: &Queued<P>) -> Duration {
        let size = queued.size();
        self.waiting.remove(size);
        let wait = self.now - queued.arrived;
        self.counters.link.queue_byte_nanos +=
            u128::from(size.as_u64()) * u128::from(wait.as_nanos());
        wait
    }
}
