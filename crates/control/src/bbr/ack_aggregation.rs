//! Degree of aggregation in the path, BBR.extra_acked (draft-ietf-ccwg-bbr-06 section 5.5.9).
//!
//! The data acknowledged beyond the estimated bandwidth since ACKs last kept pace with it. The window
//! grows by the largest such excess of the last ten round trips (one in Startup),
//! so that the flow can keep sending while ACKs are delayed.

use crate::bbr_model::WindowedMax;
use crate::bbr_model::parameters::EXTRA_ACKED_FILTER_LEN;
use thalweg_units::{Bytes, Instant, Rate};

/// The excess and its maximum filter.
#[derive(Clone, Debug)]
pub(super) struct AckAggregation {
    filter: WindowedMax,
    interval_start: Instant,
    delivered: Bytes,
}

impl AckAggregation {
    pub(super) fn new(now: Instant) -> Self {
        AckAggregation {
            filter: WindowedMax::default(),
            interval_start: now,
            delivered: Bytes::ZERO,
        }
    }

    /// BBR.extra_acked.
    pub(super) fn extra_acked(&self) -> Bytes {
        Bytes::new(self.filter.get())
    }

    /// An idle period says nothing about aggregation (section 5.4.1).
    pub(super) fn on_idle_restart(&mut self, now: Instant) {
        self.interval_start = now;
    }

    /// UpdateACKAggregation(), for `newly_acked` at the bandwidth `bw`.
    pub(super) fn update(
        &mut self,
        newly_acked: Bytes,
        bw: Rate,
        cwnd: Bytes,
        round: u64,
        full_bw_reached: bool,
        now: Instant,
    ) {
        let mut expected = bw.bytes_in(now - self.interval_start);
        if self.delivered <= expected {
            (self.delivered, self.interval_start, expected) = (Bytes::ZERO, now, Bytes::ZERO);
        }
        self.delivered += newly_acked;
        let extra = (self.delivered - expected).min(cwnd);
        let window = if full_bw_reached {
            EXTRA_ACKED_FILTER_LEN
        } else {
            1
        };
        self.filter.update(extra.as_u64(), round, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    /// 1 MB/s in ACKs of 20 kB every 20 ms: the excess counts one ACK, not their sum.
    #[test]
    fn batched_acks_raise_the_estimate_to_one_batch() {
        let bw = Rate::from_bytes_per_sec(1_000_000);
        let mut aggregation = AckAggregation::new(Instant::START);
        for round in 1..50 {
            let now = Instant::START + Duration::from_millis(20 * round);
            aggregation.update(
                Bytes::new(20_000),
                bw,
                Bytes::new(100_000),
                round,
                true,
                now,
            );
            assert_eq!(aggregation.extra_acked(), Bytes::new(20_000));
        }
    }

    #[test]
    fn the_excess_never_exceeds_the_window() {
        let mut aggregation = AckAggregation::new(Instant::START);
        let (newly_acked, cwnd) = (Bytes::new(50_000), Bytes::new(30_000));
        aggregation.update(newly_acked, Rate::ZERO, cwnd, 1, true, Instant::START);
        assert_eq!(aggregation.extra_acked(), cwnd);
    }
}
