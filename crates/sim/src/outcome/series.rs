//! Bytes through links in bins of equal length: cheap enough to record in every trial of a study.
//!
//! Bytes are those that links count: UDP payload plus headers, retransmissions included.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Instant};

/// Series of one trial; bin `i` covers the time from `i` to `i + 1` times `every`. All series of a trial
/// are equally long, and the last bin ends with or after the trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Series {
    /// Length of a bin.
    pub every: Duration,
    /// One for each flow.
    pub flows: Vec<FlowSeries>,
    /// For each link, its capacity in each bin, in bytes.
    pub capacity: Vec<Vec<u64>>,
}

/// Bytes of one flow in each bin, in the direction of its data.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct FlowSeries {
    /// Sent into the first link of the route, including later drops.
    pub sent: Vec<u64>,
    /// Out of the last link of the route.
    pub received: Vec<u64>,
}

impl Series {
    /// Empty series of this many flows.
    pub fn new(every: Duration, flows: usize) -> Self {
        Series {
            every,
            flows: vec![FlowSeries::default(); flows],
            capacity: Vec::new(),
        }
    }

    /// Flow `flow` sends a packet into its first link.
    pub fn on_sent(&mut self, now: Instant, flow: usize, size: Bytes) {
        let bin = self.bin(now);
        add(&mut self.flows[flow].sent, bin, size);
    }

    /// A packet of flow `flow` leaves its last link.
    pub fn on_received(&mut self, now: Instant, flow: usize, size: Bytes) {
        let bin = self.bin(now);
        add(&mut self.flows[flow].received, bin, size);
    }

    fn bin(&self, now: Instant) -> usize {
        ((now - Instant::START).as_nanos() / self.every.as_nanos()) as usize
    }

    /// Extends all series to the end of the trial, and fills in the capacity of each link: `capacity` returns it
    /// for a link between two times.
    pub fn close(
        &mut self,
        end: Instant,
        links: usize,
        mut capacity: impl FnMut(usize, Instant, Instant) -> Bytes,
    ) {
        let bins = self.lengthen(end);
        let start = |bin: usize| Instant::START + self.every * bin as u64;
        self.capacity = (0..links)
            .map(|link| {
                let in_bin = |bin| capacity(link, start(bin), start(bin + 1)).as_u64();
                (0..bins).map(in_bin).collect()
            })
            .collect();
    }

    /// Extends the series of the flows to the end of the trial; returns the number of bins.
    pub(crate) fn lengthen(&mut self, end: Instant) -> usize {
        let span = (end - Instant::START).as_nanos();
        let mut bins = span.div_ceil(self.every.as_nanos()) as usize;
        for flow in &self.flows {
            // Something may have happened at the very end of the last bin.
            bins = bins.max(flow.sent.len()).max(flow.received.len());
        }
        for flow in &mut self.flows {
            flow.sent.resize(bins, 0);
            flow.received.resize(bins, 0);
        }
        bins
    }
}

fn add(bins: &mut Vec<u64>, bin: usize, size: Bytes) {
    if bins.len() <= bin {
        bins.resize(bin + 1, 0);
    }
    bins[bin] += size.as_u64();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_filled_by_time_and_all_series_end_together() {
        let mut series = Series::new(Duration::from_millis(10), 2);
        let at = |ms| Instant::START + Duration::from_millis(ms);
        series.on_sent(at(0), 0, Bytes::new(100));
        series.on_sent(at(9), 0, Bytes::new(50));
        series.on_received(at(10), 0, Bytes::new(100));
        series.on_received(at(35), 1, Bytes::new(7));
        series.close(at(35), 1, |_, from, to| Bytes::new((to - from).as_millis()));
        assert_eq!(series.flows[0].sent, [150, 0, 0, 0]);
        assert_eq!(series.flows[0].received, [0, 100, 0, 0]);
        assert_eq!(series.flows[1].received, [0, 0, 0, 7]);
        assert_eq!(series.capacity, [[10, 10, 10, 10]]);
    }
}
