//! The backlog of a queue, and its limit.

use crate::Limit;
use crate::stats::Count;
use crate::store::Slot;
use crate::transmission_time::NANOBITS_PER_BYTE;
use crate::transmitter::Transmitter;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// A packet in the queue, as seen by a discipline. The packet itself is in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) slot: Slot,
    /// Its arrival.
    pub(crate) arrived: Instant,
    pub(crate) size: Bytes,
    pub(crate) flow: u64,
    /// Its codepoint; CE once the discipline has marked it.
    pub(crate) ecn: Ecn,
    /// Whether it is known to carry an acknowledgement and nothing else. Only disciplines that filter ACKs ask.
    pub(crate) is_ack: bool,
}

/// The backlog and its limit.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) limit: Limit,
    /// The backlog, including a packet that has just been pushed.
    pub(crate) waiting: Count,
}

impl Buffer {
    pub(crate) fn new(limit: Limit) -> Self {
        Buffer {
            limit,
            waiting: Count::default(),
        }
    }

    /// Whether the newest packet, of size `newest` and already counted in `waiting`, fits.
    #[inline]
    pub(crate) fn fits(&self, newest: Bytes, transmitter: &Transmitter) -> bool {
        self.is_within(self.limit, newest, transmitter)
    }

    /// The same for another limit.
    #[inline(always)] // `fits` is in the way of every packet
    pub(crate) fn is_within(&self, limit: Limit, newest: Bytes, transmitter: &Transmitter) -> bool {
        match limit {
            Limit::Unlimited => true,
            Limit::Time(limit) => {
                let nominal = transmitter.nominal;
                let before = work(self.waiting.bytes - newest, transmitter);
                let room = u128::from(limit.as_nanos()) * u128::from(nominal.as_bits_per_sec());
                nominal.is_zero() || before < room
            }
            Limit::Bytes(limit) => {
                let sending = if transmitter.is_busy() {
                    transmitter.size
                } else {
                    Bytes::ZERO
                };
                self.waiting.bytes + sending <= limit
            }
            Limit::Packets(limit) => {
                self.waiting.packets + u64::from(transmitter.is_sending()) <= limit
            }
        }
    }

    /// Nanobits to send before the backlog and the packet in transmission are out.
    pub(crate) fn backlog(&self, transmitter: &Transmitter) -> u128 {
        work(self.waiting.bytes, transmitter)
    }

    /// Time until the backlog has been sent at the current nominal capacity, or at the rate of a shaper below it.
    pub(crate) fn drain_time(&self, transmitter: &Transmitter, shaped: Option<Rate>) -> Duration {
        let work = work(self.waiting.bytes, transmitter);
        let rate = shaped.map_or(transmitter.nominal, |shaped| {
            shaped.min(transmitter.nominal)
        });
        match (work, rate.as_bits_per_sec()) {
            (0, _) => Duration::ZERO,
            (_, 0) => Duration::MAX,
            (work, rate) => Duration::from_nanos(
                u64::try_from(work.div_ceil(u128::from(rate))).unwrap_or(u64::MAX),
            ),
        }
    }
}

/// Nanobits to send before `waiting` bytes and the packet in transmission are out.
#[inline]
fn work(waiting: Bytes, transmitter: &Transmitter) -> u128 {
    let waiting = u128::from(waiting.as_u64()) * u128::from(NANOBITS_PER_BYTE);
    waiting + u128::from(transmitter.left())
}
