//! The room that waiting packets share: what waits, what is being transmitted, and what still fits.
//!
//! A queue discipline decides about packets; the buffer holds the facts that it decides on, and keeps the
//! books, so that every discipline counts alike.

use crate::Limit;
use crate::serialisation::NANOBITS_PER_BYTE;
use crate::stats::{Count, Counters, DropCause, Dropped};
use crate::store::Place;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// A packet in the queue, as far as a discipline has to know it. The packet itself is in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) place: Place,
    /// When it came.
    pub(crate) arrived: Instant,
    pub(crate) size: Bytes,
    pub(crate) flow: u64,
    /// Its codepoint, CE as soon as the discipline has marked it.
    pub(crate) ecn: Ecn,
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
    /// The rate by which limits in time and delays are reckoned: capacity without noise, or the mean of a
    /// delivery trace.
    pub(crate) nominal: Rate,
    pub(crate) limit: Limit,
    /// What waits, a packet that has just been pushed included.
    pub(crate) waiting: Count,
    pub(crate) transmission: Transmission,
    pub(crate) counters: Counters,
    /// Places in the store whose packet has gone.
    pub(crate) vacant: Vec<Place>,
}

impl Buffer {
    pub(crate) fn new(rate: Rate, nominal: Rate, limit: Limit, flows: usize) -> Self {
        Buffer {
            now: Instant::START,
            rate,
            nominal,
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
            vacant: Vec::new(),
        }
    }

    /// Whether the transmitter is sending, or suspended amid a packet.
    #[inline]
    pub(crate) fn is_transmitting(&self) -> bool {
        self.transmission.until > self.now
    }

    /// Nanobits of the packet in transmission that are still to send.
    #[inline]
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
    #[inline]
    pub(crate) fn fits(&self, newest: Bytes) -> bool {
        match self.limit {
            Limit::Unlimited => true,
            Limit::Time(limit) => {
                let before = self.work(self.waiting.bytes - newest);
                let room =
                    u128::from(limit.as_nanos()) * u128::from(self.nominal.as_bits_per_sec());
                self.nominal.is_zero() || before < room
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
    #[inline]
    fn work(&self, waiting: Bytes) -> u128 {
        u128::from(waiting.as_u64()) * u128::from(NANOBITS_PER_BYTE) + u128::from(self.left())
    }

    /// Time until all that is here has been sent, if the nominal capacity stays what it is.
    pub(crate) fn drain_time(&self) -> Duration {
        let work = self.work(self.waiting.bytes);
        match (work, self.nominal.as_bits_per_sec()) {
            (0, _) => Duration::ZERO,
            (_, 0) => Duration::MAX,
            (work, rate) => Duration::from_nanos(
                u64::try_from(work.div_ceil(u128::from(rate))).unwrap_or(u64::MAX),
            ),
        }
    }

    /// Books a packet that came.
    #[inline]
    pub(crate) fn arrive(&mut self, flow: u64, size: Bytes) {
        self.counters.offered(flow, size);
        if self.waiting.packets == 0 && !self.is_transmitting() {
            self.transmission.credit = 0;
        }
        self.waiting.add(size);
    }

    /// Books the length of the queue if it is the greatest so far.
    #[inline]
    pub(crate) fn note_length(&mut self) {
        let Count { packets, bytes } = self.waiting;
        let max = &mut self.counters.link.max_queue;
        // A branch that is hardly ever taken is cheaper than two maxima on every packet.
        if packets > max.packets || bytes > max.bytes {
            max.raise(packets, bytes);
        }
    }

    /// Books a packet that leaves the queue for transmission.
    #[inline]
    pub(crate) fn depart(&mut self, queued: &Queued) {
        let wait = self.leave(queued);
        self.counters.transmitted(queued.flow, queued.size, wait);
    }

    /// Books a packet that the discipline drops.
    pub(crate) fn drop(&mut self, queued: Queued, cause: DropCause) {
        self.leave(&queued);
        self.vacant.push(queued.place);
        self.counters.dropped(Dropped {
            at: self.now,
            flow: queued.flow,
            size: queued.size,
            cause,
        });
    }

    /// Sets CE on a packet and books it. The caller has made sure that it is ECN-capable.
    pub(crate) fn mark(&mut self, queued: &mut Queued) {
        if queued.ecn != Ecn::Ce {
            queued.ecn = Ecn::Ce;
            self.counters.marked(queued.flow, queued.size);
        }
    }

    #[inline]
    fn leave(&mut self, queued: &Queued) -> Duration {
        self.waiting.remove(queued.size);
        let wait = self.now - queued.arrived;
        self.counters.link.queue_byte_nanos +=
            u128::from(queued.size.as_u64()) * u128::from(wait.as_nanos());
        wait
    }
}
