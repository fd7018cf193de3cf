//! The transmitter: the time up to which the link is computed, its capacity then, and the packet in transmission.

use thalweg_units::{Bytes, Instant, Rate};

/// The packet in transmission is there if `until` lies in the future.
#[derive(Debug)]
pub(crate) struct Transmitter {
    /// The time of the current decision.
    pub(crate) now: Instant,
    /// Capacity at that time; zero while suspended.
    pub(crate) rate: Rate,
    /// Whether it begins a transmission by itself: there is capacity, and it does not wait for a medium.
    pub(crate) is_open: bool,
    /// Whether it waits for a medium before each transmission.
    held: bool,
    /// The rate for limits in time and delays: capacity without noise, or the mean of a
    /// delivery trace.
    pub(crate) nominal: Rate,
    /// When its last bit leaves; otherwise since when the transmitter has been free.
    pub(crate) until: Instant,
    pub(crate) size: Bytes,
    /// Nanobits that were still to send at `since`. The rate has not changed from then to now.
    pub(crate) work: u64,
    pub(crate) since: Instant,
    /// Nanobits that the transmitter could have sent between the exact end of the transmission and
    /// `until`, the next whole nanosecond. They belong to the next packet if it already waited then.
    pub(crate) credit: u64,
}

impl Transmitter {
    pub(crate) fn new(rate: Rate, nominal: Rate) -> Self {
        Transmitter {
            now: Instant::START,
            rate,
            is_open: !rate.is_zero(),
            held: false,
            nominal,
            until: Instant::START,
            size: Bytes::ZERO,
            work: 0,
            since: Instant::START,
            credit: 0,
        }
    }

    /// The capacity changes.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.is_open = !rate.is_zero() && !self.held;
    }

    /// Whether it waits for a medium from now on.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
        self.set_rate(self.rate);
    }

    /// Whether it waits for a medium.
    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    /// Whether it is sending, or suspended amid a packet.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.until > self.now
    }

    /// Whether a packet is on it: it is busy, and does not pause.
    #[inline]
    pub(crate) fn is_sending(&self) -> bool {
        self.is_busy() && !self.size.is_zero()
    }

    /// Takes no packet before `until`, a time after `now`, though it is free. It counts as busy meanwhile, with a packet of no size.
    pub(crate) fn pause(&mut self, until: Instant) {
        self.until = until;
        self.size = Bytes::ZERO;
        self.work = 0;
        self.since = self.now;
        self.credit = 0;
    }

    /// Nanobits of the packet in transmission that are still to send.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        if !self.is_busy() {
            return 0;
        }
        let span = self.now - self.since;
        let sent = self.rate.as_bits_per_sec().saturating_mul(span.as_nanos());
        self.work.saturating_sub(sent)
    }

    /// Moves to `now`, the end of a stretch of constant rate, and records what has been sent until then.
    pub(crate) fn settle(&mut self, now: Instant) {
        self.now = now;
        if self.is_busy() {
            self.work = self.left();
            self.since = now;
        } else {
            self.until = now;
        }
    }
}
