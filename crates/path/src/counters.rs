//! What a link counts, and the logs that it keeps on request.

use crate::buffer::Queued;
use crate::passage::PassageLog;
use crate::stats::{
    DropCause, Dropped, FlowLinkStats, LinkProgress, LinkStats, NOTHING, Transmitted,
};
use crate::waits::Waits;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant};

/// The counters of a link and its logs.
#[derive(Debug)]
pub(crate) struct Counters {
    /// What is not counted per flow. The other fields stay zero here, [`Counters::totals`] fills them in.
    pub(crate) link: LinkStats,
    pub(crate) progress: LinkProgress,
    /// Those with their own counters, and at the end one entry for all others.
    flows: Vec<FlowLinkStats>,
    pub(crate) waits: Waits,
    log: Option<Vec<Dropped>>,
    fates: Option<Box<FateLogs>>,
}

/// Logs of what becomes of packets. In one place, so that a packet of which nothing is logged costs one test.
#[derive(Debug, Default)]
struct FateLogs {
    transmissions: Option<VecDeque<Transmitted>>,
    passages: Option<PassageLog>,
}

impl Counters {
    pub(crate) fn new(flows: usize) -> Self {
        Counters {
            link: LinkStats::default(),
            progress: LinkProgress::default(),
            flows: vec![NOTHING; flows.saturating_add(1)],
            waits: Waits::default(),
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

    /// The totals of the link: the sums over all flows, and what is counted only for the link.
    pub(crate) fn totals(&self) -> LinkStats {
        let sum: FlowLinkStats = self.flows.iter().sum();
        LinkStats {
            offered: sum.offered,
            delivered: sum.delivered,
            dropped: sum.dropped,
            policed: sum.policed,
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
    fn index(&self, flow: u64) -> usize {
        let others = self.flows.len() - 1;
        usize::try_from(flow).unwrap_or(others).min(others)
    }

    #[inline]
    fn of(&mut self, flow: u64) -> &mut FlowLinkStats {
        let index = self.index(flow);
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
        let index = self.index(flow);
        let stats = &mut self.flows[index];
        stats.transmitted.add(size);
        stats.queue_wait += wait;
        self.waits.add(index, wait);
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
            let stats = self.of(entry.flow);
            stats.dropped.add(entry.size);
            if entry.cause == DropCause::Policed {
                stats.policed.add(entry.size);
            }
        }
        if let Some(log) = &mut self.log {
            log.push(entry);
        }
    }
}
