//! What has arrived and what was lost recently: the rate of arrival, and the share of losses and marks.
//!
//! All times are of the receiver's clock, and the window ends at its newest arrival: a receiver, which measures in the
//! documents, knows of nothing later (RFC 8698 section 5.1.3, draft-ietf-rmcat-gcc-02 section 5.5). A window that ended
//! when the sender has the report would be short by the way back.

use crate::event::Arrival;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// A packet, or several that one ACK stands for.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When it arrived; of a loss or a mark, when the newest packet had arrived that was known then, or the first
    /// packet of all if none was.
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
    /// The first and the newest arrival.
    arrivals: Option<(Instant, Instant)>,
}

impl Recent {
    /// A memory of this length.
    pub(crate) fn new(span: Duration) -> Self {
        Recent {
            span,
            entries: VecDeque::new(),
            bytes: Bytes::ZERO,
            packets: 0,
            lost: 0,
            marked: 0,
            arrivals: None,
        }
    }

    /// So many packets arrived as one.
    pub(crate) fn arrived(&mut self, packet: &Arrival, packets: u64) {
        if self.arrivals.is_none() {
            for entry in &mut self.entries {
                entry.time = packet.arrived;
            }
        }
        let (first, newest) = self.arrivals.unwrap_or((packet.arrived, packet.arrived));
        self.arrivals = Some((first, newest.max(packet.arrived)));
        self.add(packet.arrived, packet.size, (packets, 0, 0));
        self.forget();
    }

    /// A packet is lost.
    pub(crate) fn lost(&mut self) {
        self.add(self.newest(), Bytes::ZERO, (0, 1, 0));
    }

    /// Packets that have arrived before were marked.
    pub(crate) fn marked(&mut self, packets: u64) {
        self.add(self.newest(), Bytes::ZERO, (0, 0, packets));
    }

    /// When the newest packet arrived.
    pub(crate) fn newest(&self) -> Instant {
        self.arrivals.map_or(Instant::START, |(_, newest)| newest)
    }

    fn add(&mut self, time: Instant, bytes: Bytes, (arrived, lost, marked): (u64, u64, u64)) {
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
    }

    /// Forgets what is older than the span. Entries are in the order in which they became known.
    fn forget(&mut self) {
        let newest = self.newest();
        while let Some(oldest) = self.entries.front()
            && oldest.time + self.span < newest
        {
            self.bytes -= oldest.bytes;
            self.packets -= oldest.arrived + oldest.lost;
            self.lost -= oldest.lost;
            self.marked = self.marked.saturating_sub(oldest.marked);
            self.entries.pop_front();
        }
    }

    /// Whether arrivals cover its whole span.
    pub(crate) fn is_full(&self) -> bool {
        (self.arrivals).is_some_and(|(first, newest)| newest - first >= self.span)
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

    fn packet(ms: u64) -> Arrival {
        let at = Instant::START + Duration::from_millis(ms);
        Arrival {
            packet: ms,
            size: Bytes::new(1_250),
            sent: at,
            arrived: at,
        }
    }

    #[test]
    fn rates_and_shares_are_of_the_span_before_the_newest_arrival() {
        let mut recent = Recent::new(Duration::from_millis(500));
        (1..50).for_each(|n| recent.arrived(&packet(n * 10), 1));
        assert!(!recent.is_full(), "from 10 to 490 ms");
        (50..100).for_each(|n| recent.arrived(&packet(n * 10), 1));
        // Arrivals from 490 to 990 ms: 51 packets of 10 000 bit in 0.5 s
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(1_020_000));
        assert!(recent.is_full() && !recent.has_losses());
        // What is reported later than it happened belongs to the newest arrival, however late the report is.
        recent.lost();
        recent.lost();
        recent.marked(5);
        assert_eq!((recent.loss(), recent.marks()), (2.0 / 53.0, 5.0 / 53.0));
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(1_020_000));
        // The next arrival after a silence is alone.
        recent.arrived(&packet(1_600), 1);
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(20_000));
        assert_eq!((recent.loss(), recent.marks()), (0.0, 0.0));
    }

    /// The clock of a trial starts at zero: a flow that starts later must have the same window.
    #[test]
    fn losses_before_the_first_arrival_count_as_long_whenever_the_flow_starts() {
        for start in [0, 7_300] {
            let mut recent = Recent::new(Duration::from_millis(500));
            recent.lost();
            recent.arrived(&packet(start + 300), 1);
            recent.arrived(&packet(start + 800), 1);
            assert_eq!(recent.loss(), 1.0 / 3.0, "500 ms after it");
            recent.arrived(&packet(start + 801), 1);
            assert!(!recent.has_losses());
        }
    }

    #[test]
    fn a_packet_that_arrives_out_of_order_neither_moves_the_window_nor_is_lost_from_it() {
        let mut recent = Recent::new(Duration::from_millis(500));
        for ms in [0, 500, 400] {
            recent.arrived(&packet(ms), 1);
        }
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(60_000));
        recent.arrived(&packet(501), 1);
        assert_eq!(recent.rate(), Rate::from_bits_per_sec(60_000), "0 is gone");
    }
}
