//! What has arrived and what was lost recently: the rate of arrival, and the share of losses and marks. Both ends
//! have the same clock, as in every trial.

use crate::event::Arrival;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// A packet, or several that one ACK stands for.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When it arrived, or was declared lost.
    time: Instant,
    bytes: Bytes,
    arrived: u64,
    lost: u64,
    marked: u64,
}

/// The packets of the last while.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    span: Duration,
    entries: VecDeque<Entry>,
    bytes: Bytes,
    packets: u64,
    lost: u64,
    marked: u64,
    /// Before it, nothing was counted.
    since: Option<Instant>,
}

impl Recent {
    /// Of so long a time.
    pub(crate) fn new(span: Duration) -> Self {
        Recent {
            span,
            entries: VecDeque::new(),
            bytes: Bytes::ZERO,
            packets: 0,
            lost: 0,
            marked: 0,
            since: None,
        }
    }

    /// So many packets arrived as one.
    pub(crate) fn arrived(&mut self, packet: &Arrival, packets: u64) {
        self.add(packet.arrived, packet.size, (packets, 0, 0));
    }

    /// A packet is lost.
    pub(crate) fn lost(&mut self, now: Instant) {
        self.add(now, Bytes::ZERO, (0, 1, 0));
    }

    /// Packets that have arrived before were marked.
    pub(crate) fn marked(&mut self, now: Instant, packets: u64) {
        self.add(now, Bytes::ZERO, (0, 0, packets));
    }

    fn add(&mut self, time: Instant, bytes: Bytes, (arrived, lost, marked): (u64, u64, u64)) {
        self.since.get_or_insert(time);
        self.entries.push_back(Entry {
            time,
            bytes,
            arrived,
            lost,
            marked,
        });
        self.bytes += bytes;
        self.packets += arrived + lost;
        self.lost += lost;
        self.marked = self.marked.saturating_add(marked);
        self.forget(time);
    }

    /// Forgets what is older than the span. Entries are in the order in which they became known.
    pub(crate) fn forget(&mut self, now: Instant) {
        while let Some(oldest) = self.entries.front()
            && oldest.time + self.span < now
        {
            self.bytes -= oldest.bytes;
            self.packets -= oldest.arrived + oldest.lost;
            self.lost -= oldest.lost;
            self.marked = self.marked.saturating_sub(oldest.marked);
            self.entries.pop_front();
        }
    }

    /// Whether it covers its whole span.
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now - since >= self.span)
    }

    /// The rate of arrival over the span.
    pub(crate) fn rate(&self) -> Rate {
        Rate::over(self.bytes, self.span)
    }

    /// Whether any packet was lost.
    pub(crate) fn has_losses(&self) -> bool {
        self.lost > 0
    }

    /// The share of packets that were lost; zero of none.
    pub(crate) fn loss(&self) -> f64 {
        self.lost as f64 / self.packets.max(1) as f64
    }

    /// The share of packets that were marked; zero of none.
    pub(crate) fn marks(&self) -> f64 {
        (self.marked as f64 / self.packets.max(1) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_shares_are_of_the_span_alone() {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        let packet = |ms| Arrival {
            packet: ms,
            size: Bytes::new(1_250),
            sent: at(ms),
            arrived: at(ms),
        };
        let mut recent = Recent::new(Duration::from_millis(500));
        (0..100).for_each(|n| recent.arrived(&packet(n * 10), 1));
        // Arrivals from 490 to 990 ms: 51 packets of 10 000 bit in 0.5 s
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(1_020_000));
        assert!(recent.is_full(at(990)) && !recent.has_losses());
        recent.lost(at(1_000));
        recent.lost(at(1_000));
        recent.marked(at(1_000), 5);
        // From 500 ms on: 50 arrived, 2 lost
        assert_eq!((recent.loss(), recent.marks()), (2.0 / 52.0, 5.0 / 52.0));
        recent.forget(at(1_600));
        assert_eq!((recent.rate(), recent.loss()), (Rate::ZERO, 0.0));
    }
}
