//! Counters of a link.

use crate::buffer::Queued;
use crate::passage::PassageLog;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
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

/// The counters of a link and its logs.
#[derive(Debug)]
pub(crate) struct Counters {
    /// What is not counted per flow. The other fields stay zero here, [`Counters::totals`] fills them in.
    pub(crate) link: LinkStats,
    pub(crate) progress: LinkProgress,
    /// Those with their own counters, and at the end one entry for all others.
    flows: Vec<FlowLinkStats>,
    log: Option<Vec<Dropped>>,
    fates: Option<Box<FateLogs>>,
}

/// Logs of what becomes of packets. In one place, so that a packet of which nothing is logged costs one test.
#[derive(Debug, Default)]
struct FateLogs {
    transmissions: Option<VecDeque<Transmitted>>,
    passages: Option<PassageLog>,
}

const NOTHING: FlowLinkStats = {
    const ZERO: Count = Count {
        packets: 0,
        bytes: Bytes::ZERO,
    };
    FlowLinkStats {
        offered: ZERO,
        delivered: ZERO,
        dropped: ZERO,
        lost: ZERO,
        marked: ZERO,
        transmitted: ZERO,
        queue_wait: Duration::ZERO,
        jitter_experienced: Duration::ZERO,
    }
};

impl Counters {
    pub(crate) fn new(flows: usize) -> Self {
        Counters {
            link: LinkStats::default(),
            progress: LinkProgress::default(),
            flows: vec![NOTHING; flows.saturating_add(1)],
            log: None,
            fates: None,
        }
    }

    pub(crate) fn flow(&self, flow: u64) -> &FlowLinkStats {
        let own = &self.flows[..self.flows.len() - 1];
        usize::try_from(flow)
            .ok()
            .and_then(|i| own.get(i))
            .unwrap_or(&NOTHING)
    }

    /// The totals of the link: the sums over all flows, and what is counted for the link alone.
    pub(crate) fn totals(&self) -> LinkStats {
        let sum: FlowLinkStats = self.flows.iter().sum();
        LinkStats {
            offered: sum.offered,
            delivered: sum.delivered,
            dropped: sum.dropped,
            lost: sum.lost,
            marked: sum.marked,
            transmitted: sum.transmitted,
            queue_wait: sum.queue_wait,
            jitter_experienced: sum.jitter_experienced,
            ..self.link.clone()
        }
    }

    pub(crate) fn record_drops(&mut self, on: bool) {
        self.log = on.then(Vec::new);
    }

    pub(crate) fn take_drops(&mut self) -> Vec<Dropped> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn record_transmissions(&mut self, on: bool) {
        self.fates.get_or_insert_default().transmissions = on.then(VecDeque::new);
    }

    pub(crate) fn take_transmission(&mut self) -> Option<Transmitted> {
        self.fates.as_mut()?.transmissions.as_mut()?.pop_front()
    }

    pub(crate) fn record_passages(&mut self, on: bool) {
        self.fates.get_or_insert_default().passages = on.then(PassageLog::default);
    }

    pub(crate) fn passages(&mut self) -> Option<&mut PassageLog> {
        self.fates.as_mut()?.passages.as_mut()
    }

    /// Whether the fate of a packet is logged when it is determined.
    #[inline]
    pub(crate) fn logs_fates(&self) -> bool {
        self.fates.is_some()
    }

    /// A packet from the queue was transmitted; `number` reads its packet number.
    pub(crate) fn log_fate(
        &mut self,
        queued: &Queued,
        number: impl FnOnce() -> u64,
        sent: Transmitted,
        due: Option<Instant>,
    ) {
        let Some(logs) = &mut self.fates else { return };
        if let Some(log) = &mut logs.passages {
            log.transmitted(queued, number(), &sent, due);
        }
        if let Some(log) = &mut logs.transmissions {
            log.push_back(sent);
        }
    }

    #[inline]
    fn of(&mut self, flow: u64) -> &mut FlowLinkStats {
        let others = self.flows.len() - 1;
        let index = usize::try_from(flow).unwrap_or(others).min(others);
        &mut self.flows[index]
    }

    #[inline]
    pub(crate) fn offered(&mut self, flow: u64, size: Bytes) {
        self.of(flow).offered.add(size);
    }

    #[inline]
    pub(crate) fn delivered(&mut self, flow: u64, size: Bytes, jitter: Duration) {
        let stats = self.of(flow);
        stats.delivered.add(size);
        stats.jitter_experienced += jitter;
    }

    #[inline]
    pub(crate) fn transmitted(&mut self, flow: u64, size: Bytes, wait: Duration) {
        self.progress.transmitted += size;
        let stats = self.of(flow);
        stats.transmitted.add(size);
        stats.queue_wait += wait;
    }

    pub(crate) fn marked(&mut self, flow: u64, size: Bytes) {
        self.progress.marked += 1;
        self.of(flow).marked.add(size);
    }

    pub(crate) fn dropped(&mut self, entry: Dropped) {
        if entry.cause == DropCause::Lost {
            self.of(entry.flow).lost.add(entry.size);
        } else {
            self.progress.dropped += 1;
            self.of(entry.flow).dropped.add(entry.size);
        }
        if let Some(log) = &mut self.log {
            log.push(entry);
        }
    }
}
