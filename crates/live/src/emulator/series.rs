//! Bytes through the links in bins of equal length: the series of the simulator, measured.
//!
//! A packet is sent when it is read, and received when it is written. Bytes are the bytes of IP packets.

use super::DataLinks;
use thalweg_sim::Series;
use thalweg_units::{Bytes, Duration, Instant};

/// Series from the start until a time limit.
#[derive(Debug)]
pub(crate) struct Binned {
    series: Series,
    until: Instant,
    /// For each connection its flow, and the links that carry its data.
    connections: Vec<(usize, DataLinks)>,
}

impl Binned {
    pub(crate) fn new(
        every: Duration,
        until: Duration,
        flows: usize,
        connections: Vec<(usize, DataLinks)>,
    ) -> Binned {
        Binned {
            series: Series::new(every, flows),
            until: Instant::START + until,
            connections,
        }
    }

    /// A packet was offered to a link.
    pub(crate) fn on_sent(&mut self, now: Instant, link: usize, connection: u64, size: Bytes) {
        if let Some(flow) = self.flow(now, link, connection) {
            self.series.on_sent(now, flow, size);
        }
    }

    /// A packet left a link.
    pub(crate) fn on_received(&mut self, now: Instant, link: usize, connection: u64, size: Bytes) {
        if let Some(flow) = self.flow(now, link, connection) {
            self.series.on_received(now, flow, size);
        }
    }

    /// The flow whose data crosses in the direction of the packet.
    fn flow(&self, now: Instant, link: usize, connection: u64) -> Option<usize> {
        let &(flow, data) = self.connections.get(usize::try_from(connection).ok()?)?;
        (data[link] && now < self.until).then_some(flow)
    }

    /// The series of a finished trial; `capacity` returns the bytes that a link could transmit between two times.
    pub(crate) fn close(
        mut self,
        now: Instant,
        links: usize,
        capacity: impl FnMut(usize, Instant, Instant) -> Bytes,
    ) -> Series {
        self.series.close(now.min(self.until), links, capacity);
        self.series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_counted_in_its_direction_by_flow_and_until_the_limit() {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        // Two connections of flow 0 whose data takes link 0, one of flow 1 whose data takes link 1, and one of flow 2, a call
        // whose media take both.
        let [down, up, both] = [[true, false], [false, true], [true, true]];
        let connections = vec![(0, down), (0, down), (1, up), (2, both)];
        let mut binned = Binned::new(
            Duration::from_millis(10),
            Duration::from_millis(30),
            3,
            connections,
        );
        binned.on_sent(at(1), 0, 0, Bytes::new(100));
        binned.on_sent(at(2), 0, 1, Bytes::new(10));
        binned.on_sent(at(3), 1, 1, Bytes::new(40)); // an acknowledgement
        binned.on_sent(at(4), 0, 3, Bytes::new(5));
        binned.on_sent(at(5), 1, 3, Bytes::new(6));
        binned.on_sent(at(3), 0, 77, Bytes::new(40)); // not our connection
        binned.on_received(at(12), 0, 0, Bytes::new(100));
        binned.on_received(at(25), 1, 2, Bytes::new(7));
        binned.on_received(at(31), 1, 2, Bytes::new(7)); // too late
        let series = binned.close(at(33), 2, |link, from, to| {
            Bytes::new((to - from).as_millis() + link as u64)
        });
        assert_eq!(series.flows[0].sent, [110, 0, 0]);
        assert_eq!(series.flows[0].received, [0, 100, 0]);
        assert_eq!(series.flows[1].received, [0, 0, 7]);
        assert_eq!(series.flows[2].sent, [11, 0, 0]);
        assert_eq!(series.capacity, [[10, 10, 10], [11, 11, 11]]);
    }
}
