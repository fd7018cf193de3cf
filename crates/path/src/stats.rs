//! Totals of a link and of its flows, and what becomes of packets.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::AddAssign;
use thalweg_units::{Bytes, Duration, Instant};

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Sum of their sizes.
    pub bytes: Bytes,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }
    #[inline]
    pub(crate) fn remove(&mut self, size: Bytes) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes -= size;
    }
    /// Raises each number to the given one.
    #[cold]
    pub(crate) fn raise(&mut self, packets: u64, bytes: Bytes) {
        self.packets = self.packets.max(packets);
        self.bytes = self.bytes.max(bytes);
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Totals of a link since its start.
///
/// The fate of a packet is determined when its transmission starts, so `lost` may be ahead of the clock by the packet
/// in transmission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Pushed into the link.
    pub offered: Count,
    /// Popped from the link.
    pub delivered: Count,
    /// Dropped by the policer or the queue, for whatever cause.
    pub dropped: Count,
    /// The ones that the policer dropped.
    pub policed: Count,
    /// Lost after transmission.
    pub lost: Count,
    /// Marked CE by the policer or the queue; packets that arrived with CE are not counted.
    pub marked: Count,
    /// Taken from the queue for transmission.
    pub transmitted: Count,
    /// Largest backlog, without the packet in transmission.
    pub max_queue: Count,
    /// Sum over the transmitted packets of the time from their arrival to the start of transmission.
    pub queue_wait: Duration,
    /// Integral of the queue length over time in byte-nanoseconds, over the packets that have left it.
    pub queue_byte_nanos: u128,
    /// Time during which the transmitter sent bits.
    pub busy: Duration,
    /// Draws from the jitter model, one for each packet whose last bit was sent while jitter was configured.
    pub jitter_draws: u64,
    /// Sum of these draws.
    pub jitter_drawn: Duration,
    /// Sum over the delivered packets of the delay in excess of transmission and propagation: their own
    /// jitter and, on an in-order link, the jitter of packets before them.
    pub jitter_experienced: Duration,
}

impl LinkStats {
    /// Mean wait in the queue of the packets that were transmitted.
    pub fn mean_queue_wait(&self) -> Duration {
        mean(self.queue_wait, self.transmitted.packets)
    }
    /// Mean number of bytes waiting during `span`, normally the time since the start.
    pub fn mean_queue(&self, span: Duration) -> Bytes {
        let mean = self.queue_byte_nanos / u128::from(span.as_nanos().max(1));
        Bytes::new(u64::try_from(mean).unwrap_or(u64::MAX))
    }
    /// Mean of the draws from the jitter model.
    pub fn mean_jitter_drawn(&self) -> Duration {
        mean(self.jitter_drawn, self.jitter_draws)
    }
    /// Mean of the jitter that delivered packets experienced.
    pub fn mean_jitter_experienced(&self) -> Duration {
        mean(self.jitter_experienced, self.delivered.packets)
    }
}

fn mean(sum: Duration, count: u64) -> Duration {
    if count == 0 {
        Duration::ZERO
    } else {
        sum / count
    }
}

/// Totals of a link so far that need no sum over the flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkProgress {
    /// Bytes taken from the queue for transmission.
    pub transmitted: Bytes,
    /// Packets dropped by the policer or the queue.
    pub dropped: u64,
    /// Packets marked by the policer or the queue.
    pub marked: u64,
}

/// Totals of one flow on a link. The fields mean the same as in [`LinkStats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))] // the counters of every packet fill one cache line
pub struct FlowLinkStats {
    /// Pushed into the link.
    pub offered: Count,
    /// Taken from the queue for transmission.
    pub transmitted: Count,
    /// Popped from the link.
    pub delivered: Count,
    /// Sum of the waits in the queue.
    pub queue_wait: Duration,
    /// Sum of the experienced jitter.
    pub jitter_experienced: Duration,
    /// Dropped by the policer or the queue.
    pub dropped: Count,
    /// The ones that the policer dropped.
    pub policed: Count,
    /// Lost after transmission.
    pub lost: Count,
    /// Marked CE by the policer or the queue.
    pub marked: Count,
}

impl<'a> Sum<&'a FlowLinkStats> for FlowLinkStats {
    fn sum<I: Iterator<Item = &'a FlowLinkStats>>(flows: I) -> FlowLinkStats {
        let mut sum = NOTHING;
        for flow in flows {
            sum.offered += flow.offered;
            sum.transmitted += flow.transmitted;
            sum.delivered += flow.delivered;
            sum.queue_wait += flow.queue_wait;
            sum.jitter_experienced += flow.jitter_experienced;
            sum.dropped += flow.dropped;
            sum.policed += flow.policed;
            sum.lost += flow.lost;
            sum.marked += flow.marked;
        }
        sum
    }
}

/// Why a packet never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum DropCause {
    /// The policer before the queue dropped it.
    Policed,
    /// The queue had no room for it.
    Full,
    /// The queue discipline dropped it to signal congestion.
    Early,
    /// It carried an acknowledgement that a newer one in the queue made superfluous.
    Filtered,
    /// It was waiting when the capacity or the limit shrank, and no longer fitted.
    Shrunk,
    /// It was waiting when a change of the link emptied the queue.
    Flushed,
    /// It was transmitted and lost.
    Lost,
}

/// One entry of the optional log of drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When; for a lost packet the end of its transmission.
    pub at: Instant,
    /// The flow it belonged to.
    pub flow: u64,
    /// Its size.
    pub size: Bytes,
    /// Why.
    pub cause: DropCause,
}

/// One entry of the optional log of transmissions: the fate of a packet taken from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// The flow it belonged to.
    pub flow: u64,
    /// Its size.
    pub size: Bytes,
    /// When the transmitter began with it.
    pub from: Instant,
    /// When its last bit left; [`Instant::NEVER`] if the capacity stays zero.
    pub until: Instant,
    /// When it arrives; `None` if it is lost.
    pub arrival: Option<Instant>,
}

pub(crate) const NOTHING: FlowLinkStats = {
    const ZERO: Count = Count {
        packets: 0,
        bytes: Bytes::ZERO,
    };
    FlowLinkStats {
        offered: ZERO,
        delivered: ZERO,
        dropped: ZERO,
        policed: ZERO,
        lost: ZERO,
        marked: ZERO,
        transmitted: ZERO,
        queue_wait: Duration::ZERO,
        jitter_experienced: Duration::ZERO,
    }
};
