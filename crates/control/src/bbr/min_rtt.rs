//! Propagation delay and the clock of ProbeRTT (draft-ietf-ccwg-bbr-06 sections 5.3.4.3 and 5.5.7).
//!
//! Two nested windows: the smallest RTT of the last 5 s, whose expiry triggers ProbeRTT, and the smallest
//! of the last 10 s, which the model uses and which spans two ProbeRTT episodes.

use super::options::Tuning;
use thalweg_units::{Duration, Instant};

/// The minimum filters.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// BBR.min_rtt; `None` stands for infinity.
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    /// BBR.probe_rtt_min_delay.
    probe_rtt_min_delay: Option<Duration>,
    /// BBR.probe_rtt_min_stamp.
    probe_rtt_min_stamp: Instant,
    /// BBR.probe_rtt_expired: ProbeRTT is due.
    pub(super) expired: bool,
    tuning: Tuning,
}

impl MinRtt {
    pub(super) fn new(now: Instant, tuning: Tuning) -> Self {
        MinRtt {
            min_rtt: None,
            min_rtt_stamp: now,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: now,
            expired: false,
            tuning,
        }
    }

    /// BBR.min_rtt, if any RTT is known.
    pub(super) fn get(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// OnInit() of section 5.2.1: the smoothed RTT of the handshake is used until the first sample.
    pub(super) fn seed(&mut self, smoothed_rtt: Duration) {
        self.min_rtt.get_or_insert(smoothed_rtt);
    }

    /// UpdateMinRTT().
    pub(super) fn update(&mut self, rtt: Duration, now: Instant) {
        self.expired = now > self.probe_rtt_min_stamp + self.tuning.probe_rtt_interval;
        if self.expired || self.probe_rtt_min_delay.is_none_or(|least| rtt < least) {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = now;
        }
        let forgotten = now > self.min_rtt_stamp + self.tuning.min_rtt_window;
        if forgotten
            || self
                .min_rtt
                .is_none_or(|least| self.probe_rtt_min_delay < Some(least))
        {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// Schedules the next ProbeRTT from here (CheckProbeRTTDone()).
    pub(super) fn probed(&mut self, now: Instant) {
        self.probe_rtt_min_stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn a_rise_of_the_delay_is_believed_after_ten_seconds() {
        let mut filter = MinRtt::new(at(0), Tuning::DRAFT);
        filter.update(Duration::from_millis(40), at(40));
        for ms in (100..=10_000).step_by(20) {
            filter.update(Duration::from_millis(60), at(ms));
            assert_eq!(filter.get(), Some(Duration::from_millis(40)), "at {ms} ms");
        }
        filter.update(Duration::from_millis(60), at(10_100));
        assert_eq!(filter.get(), Some(Duration::from_millis(60)));
    }

    #[test]
    fn probe_rtt_is_due_five_seconds_after_the_last_lower_sample() {
        let mut filter = MinRtt::new(at(0), Tuning::DRAFT);
        filter.update(Duration::from_millis(40), at(1_000));
        filter.update(Duration::from_millis(40), at(6_000));
        assert!(!filter.expired);
        filter.update(Duration::from_millis(50), at(6_001));
        assert!(filter.expired);
    }
}
