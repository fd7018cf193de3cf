//! Bytes through links, and what senders see, in bins of equal length: cheap enough to record in every trial of a study.
//!
//! Bytes are those that links count: UDP payload plus headers, retransmissions included.

use serde::{Deserialize, Serialize};
use thalweg_transport::Counters;
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
    /// One for each flow; empty in real time, where links are watched and not senders.
    #[serde(default)]
    pub senders: Vec<SenderSeries>,
}

/// Bytes of one flow in each bin, in the direction of its data.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct FlowSeries {
    /// Sent into the first link of the route, including later drops.
    pub sent: Vec<u64>,
    /// Out of the last link of the route.
    pub received: Vec<u64>,
}

/// What the senders of one flow see in each bin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SenderSeries {
    /// Packets declared lost, those included that were not.
    pub lost: Vec<u64>,
    /// The largest latest RTT sample; zero in a bin without one.
    pub rtt: Vec<Duration>,
}

impl Series {
    /// Empty series of this many flows.
    pub fn new(every: Duration, flows: usize) -> Self {
        Series {
            every,
            flows: vec![FlowSeries::default(); flows],
            capacity: Vec::new(),
            senders: Vec::new(),
        }
    }

    /// The same with what senders see.
    pub(crate) fn with_senders(mut self) -> Self {
        self.senders = vec![SenderSeries::default(); self.flows.len()];
        self
    }

    /// A sender of flow `flow` has heard from its peer, or a timer of it has expired; `before` has its counters
    /// until then.
    pub(crate) fn on_sender(
        &mut self,
        now: Instant,
        flow: usize,
        (before, after): (&Counters, &Counters),
        latest_rtt: Duration,
    ) {
        let bin = self.bin(now);
        let sender = &mut self.senders[flow];
        let lost = after.packets_lost - before.packets_lost;
        if lost > 0 {
            *slot(&mut sender.lost, bin) += lost;
        }
        if after.rtt_samples > before.rtt_samples {
            let rtt = slot(&mut sender.rtt, bin);
            *rtt = latest_rtt.max(*rtt);
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
        for sender in &self.senders {
            bins = bins.max(sender.lost.len()).max(sender.rtt.len());
        }
        for flow in &mut self.flows {
            flow.sent.resize(bins, 0);
            flow.received.resize(bins, 0);
        }
        for sender in &mut self.senders {
            sender.lost.resize(bins, 0);
            sender.rtt.resize(bins, Duration::ZERO);
        }
        bins
    }
}

fn add(bins: &mut Vec<u64>, bin: usize, size: Bytes) {
    *slot(bins, bin) += size.as_u64();
}

/// A bin, which is there from now on.
fn slot<T: Clone + Default>(bins: &mut Vec<T>, bin: usize) -> &mut T {
    if bins.len() <= bin {
        bins.resize(bin + 1, T::default());
    }
    &mut bins[bin]
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

    #[test]
    fn senders_have_losses_and_the_largest_rtt_sample_of_each_bin() {
        let ms = Duration::from_millis;
        let mut series = Series::new(ms(10), 1).with_senders();
        let mut before = Counters::default();
        for (now, lost, samples, rtt) in
            [(1, 0, 1, 40), (2, 3, 2, 30), (9, 5, 2, 90), (21, 5, 3, 70)]
        {
            let mut after = before;
            after.packets_lost = lost;
            after.rtt_samples = samples;
            series.on_sender(Instant::START + ms(now), 0, (&before, &after), ms(rtt));
            before = after;
        }
        series.close(Instant::START + ms(35), 0, |_, _, _| Bytes::ZERO);
        assert_eq!(series.senders[0].lost, [5, 0, 0, 0]);
        // At 9 ms there was no new sample, only the report of losses.
        assert_eq!(series.senders[0].rtt, [ms(40), ms(0), ms(70), ms(0)]);
    }
}
