//! Delay measurement robust to jitter: minima and maxima over seven samples.
//!
//! At most one sample per millisecond is used. The minimum RTT is the smallest *maximum* of seven
//! consecutive samples, so a few fast packets do not lower it. Delay is excessive when even the *minimum*
//! of seven is above 1.25 times that, so a few slow packets do not cause it.

use super::SHORT_RTT;
use thalweg_control::bbr_model::Gain;
use thalweg_control::bbr_model::parameters::{MIN_RTT_FILTER_LEN, PROBE_RTT_INTERVAL};
use thalweg_units::{Bytes, Duration, Instant, Rate};

const SAMPLES: usize = 7;
/// RTT over the minimum that counts as excess, in addition to the 128 us of clock granularity.
const EXCESS: Gain = Gain::percent(125);
/// RTT that refreshes the minimum: 0.05 % above it. Five percent were intended.
const REFRESH_PER_10000: u64 = 5;
/// The next ProbeRTT on long paths, in round trips.
const LONG_PROBE_RTT_ROUNDS: u64 = 100;

/// The last samples.
#[derive(Clone, Debug, Default)]
struct Window {
    samples: [Duration; SAMPLES],
    count: usize,
    last: Option<Instant>,
}

impl Window {
    /// Takes a sample unless the last is less than a millisecond old; returns whether it did.
    fn push(&mut self, rtt: Duration, now: Instant) -> bool {
        if self
            .last
            .is_some_and(|last| now <= last + Duration::from_millis(1))
        {
            return false;
        }
        self.last = Some(now);
        self.samples[self.count % SAMPLES] = rtt;
        self.count += 1;
        true
    }
    fn is_full(&self) -> bool {
        self.count >= SAMPLES
    }
    fn present(&self) -> &[Duration] {
        &self.samples[..self.count.min(SAMPLES)]
    }
    fn min(&self) -> Duration {
        self.present().iter().copied().min().unwrap_or_default()
    }
    fn max(&self) -> Duration {
        self.present().iter().copied().max().unwrap_or_default()
    }
}

/// How far above the minimum a sample refreshes it.
fn refresh_margin(min_rtt: Duration, max_bw: Rate, mtu: Bytes) -> Duration {
    let packets = if max_bw.is_zero() {
        Duration::ZERO
    } else {
        max_bw.time_for(mtu * 2)
    };
    min_rtt.mul_div(REFRESH_PER_10000, 10_000) + packets
}

/// Minimum RTT, the clock of ProbeRTT, and the count of excess.
#[derive(Clone, Debug)]
pub(super) struct DelaySignals {
    window: Window,
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    probe_rtt_min_delay: Duration,
    probe_rtt_min_stamp: Instant,
    /// Whether ProbeRTT is due.
    pub(super) expired: bool,
    excess: u32,
}

impl DelaySignals {
    pub(super) fn new(now: Instant) -> Self {
        DelaySignals {
            window: Window::default(),
            min_rtt: None,
            min_rtt_stamp: now,
            probe_rtt_min_delay: Duration::MAX,
            probe_rtt_min_stamp: now,
            expired: false,
            excess: 0,
        }
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }
    /// ACKs with an excess of delay, reset by one at the minimum.
    pub(super) fn excess(&self) -> u32 {
        self.excess
    }

    pub(super) fn update(&mut self, rtt: Duration, max_bw: Rate, mtu: Bytes, now: Instant) {
        self.window.push(rtt, now);
        let interval = match self.min_rtt {
            Some(min_rtt) if min_rtt > super::LONG_RTT => min_rtt * LONG_PROBE_RTT_ROUNDS,
            _ => PROBE_RTT_INTERVAL,
        };
        self.expired = now > self.probe_rtt_min_stamp + interval;
        let (least, most) = (self.window.min(), self.window.max());
        if most < self.probe_rtt_min_delay || self.expired || !self.window.is_full() {
            self.probe_rtt_min_delay = most;
            self.probe_rtt_min_stamp = now;
        } else if self
            .min_rtt
            .is_some_and(|min_rtt| least < min_rtt + refresh_margin(min_rtt, max_bw, mtu))
        {
            (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (now, now);
        }
        let forgotten = now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        let filling = !self.window.is_full();
        if forgotten
            || filling
            || self
                .min_rtt
                .is_none_or(|min| self.probe_rtt_min_delay < min)
        {
            self.min_rtt = Some(self.probe_rtt_min_delay);
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
        let Some(min_rtt) = self.min_rtt else { return };
        if least <= min_rtt || min_rtt <= SHORT_RTT {
            self.excess = 0;
        } else if least > EXCESS.of_duration(min_rtt) + SHORT_RTT {
            self.excess += 1;
        }
    }

    /// A phase of probing begins or ends: resets the count.
    pub(super) fn clear_excess(&mut self) {
        self.excess = 0;
    }

    /// Loss recovery is over: postpones ProbeRTT.
    pub(super) fn postpone_probe_rtt(&mut self, now: Instant) {
        (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (now, now);
    }

    /// ProbeRTT begins: the current sample is the minimum, and as old as the one before.
    pub(super) fn restart(&mut self, rtt: Duration) {
        self.min_rtt = Some(rtt);
    }

    /// ProbeRTT is over.
    pub(super) fn probed(&mut self, now: Instant) {
        self.probe_rtt_min_stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(samples_ms: &[u64]) -> DelaySignals {
        let mut signals = DelaySignals::new(Instant::START);
        for (index, ms) in samples_ms.iter().enumerate() {
            let now = Instant::START + Duration::from_millis(5 * (index as u64 + 1));
            let rate = Rate::from_bits_per_sec(20_000_000);
            signals.update(Duration::from_millis(*ms), rate, Bytes::new(1_440), now);
        }
        signals
    }

    #[test]
    fn a_lucky_sample_does_not_lower_the_minimum() {
        let signals = feed(&[80, 80, 80, 80, 80, 80, 80, 40, 80, 80, 80, 80, 80, 80]);
        assert_eq!(signals.min_rtt(), Some(Duration::from_millis(80)));
    }

    #[test]
    fn seven_low_samples_do() {
        let signals = feed(&[80, 80, 80, 80, 80, 80, 80, 40, 40, 40, 40, 40, 40, 40]);
        assert_eq!(signals.min_rtt(), Some(Duration::from_millis(40)));
    }

    #[test]
    fn excess_needs_seven_high_samples_in_the_window() {
        // 101 ms > 1.25 * 80 ms + 128 us
        let mut samples = vec![80; 7];
        samples.extend([101; 6]);
        assert_eq!(feed(&samples).excess(), 0);
        samples.extend([101; 3]);
        assert_eq!(feed(&samples).excess(), 3);
        samples.push(80);
        assert_eq!(feed(&samples).excess(), 0);
    }
}
