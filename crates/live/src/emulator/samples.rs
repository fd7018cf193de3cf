//! Samples of the links at regular times, and their drops: the link part of a trace.

use super::frame::Frame;
use thalweg_path::{DropCause, Link};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One look at one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSample {
    pub(crate) time: Instant,
    pub(crate) link: usize,
    pub(crate) capacity: Rate,
    pub(crate) queue_bytes: Bytes,
    pub(crate) queue_packets: u64,
    pub(crate) queue_delay: Duration,
    pub(crate) delivered: Bytes,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
}

/// One packet that did not arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropSample {
    pub(crate) time: Instant,
    pub(crate) link: usize,
    pub(crate) flow: u64,
    pub(crate) cause: DropCause,
}

/// What was seen so far.
#[derive(Debug)]
pub(crate) struct Samples {
    every: Duration,
    /// When to look again.
    pub(crate) next: Instant,
    pub(crate) links: Vec<LinkSample>,
    pub(crate) drops: Vec<DropSample>,
}

impl Samples {
    /// Nothing yet; a period of zero counts as a nanosecond.
    pub(crate) fn every(every: Duration) -> Self {
        Samples {
            every: every.max(Duration::from_nanos(1)),
            next: Instant::START,
            links: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// Looks at both links.
    pub(crate) fn take(&mut self, now: Instant, links: [&mut Link<Frame>; 2]) {
        for (index, link) in links.into_iter().enumerate() {
            link.advance(now);
            let drops = link.take_drops().into_iter();
            self.drops.extend(drops.map(|dropped| DropSample {
                time: dropped.at,
                link: index,
                flow: dropped.flow,
                cause: dropped.cause,
            }));
            let (queue, stats) = (link.queue(), link.stats());
            self.links.push(LinkSample {
                time: now,
                link: index,
                capacity: link.capacity(),
                queue_bytes: queue.bytes,
                queue_packets: queue.packets,
                queue_delay: link.queue_delay(),
                delivered: stats.transmitted.bytes,
                dropped: stats.dropped.packets,
                marked: stats.marked.packets,
            });
        }
        // A late look does not shift the ones after it, and missed ones are not made up for.
        let missed = (now - self.next).as_nanos() / self.every.as_nanos();
        self.next += self.every * (missed + 1);
    }
}
