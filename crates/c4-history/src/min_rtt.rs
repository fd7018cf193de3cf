//! The nominal minimum RTT, what is derived from it, and the maximum RTT of recent eras.
//!
//! The minimum RTT is lowered by the filter at once and raised only by a measurement of
//! [`slowdown`](super::slowdown) or by the start of a pig war. Source: c4-history.md sections 2.2 and 2.3
//! (`set_min`, `correct`).

use super::constants::{DELAY_THRESHOLD_MAX, RTT_MARGIN};
use thalweg_control::coefficient::Coefficient;
use thalweg_units::{Bytes, Duration, Instant};

/// How long the minimum RTT counts as fresh, for the correction under chaotic jitter.
const FRESH: Duration = Duration::from_secs(1);
/// Replaces the spread of the jitter if the maximum RTT does not exceed the minimum.
const CHAOTIC_MARGIN: Duration = Duration::from_millis(5);

/// Minimum RTT and its measurement.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// Nominal minimum RTT (`rtt_min`); `None` until the filter is ready.
    pub(super) nominal: Option<Duration>,
    /// When it was last set or confirmed (`stamp`).
    pub(super) set_at: Instant,
    /// Minimum since then (`running`).
    pub(super) running: Duration,
    /// `running` at the end of the last check (`last_slow`); zero before the first.
    pub(super) last_check: Duration,
    /// How far the filtered RTT may rise before it is a delay event (`thr`).
    pub(super) threshold: Duration,
}

/// Whether jitter dominates the path, for the correction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jitter {
    /// The [`chaotic`](super::chaotic) flag.
    pub(super) chaotic: bool,
    /// Nominal maximum RTT.
    pub(super) max_rtt: Duration,
}

impl MinRtt {
    pub(super) fn new(now: Instant) -> Self {
        MinRtt {
            nominal: None,
            set_at: now,
            running: Duration::MAX,
            last_check: Duration::ZERO,
            threshold: Duration::ZERO,
        }
    }

    /// Sets or confirms the minimum RTT at `now`; the running minimum starts again from `last`.
    pub(super) fn set(&mut self, rtt: Duration, last: Duration, now: Instant) {
        self.nominal = Some(rtt);
        self.running = last;
        self.set_at = now;
        self.threshold = (rtt / 8).min(DELAY_THRESHOLD_MAX);
    }

    /// Confirms the present minimum RTT, if there is one.
    pub(super) fn confirm(&mut self, last: Duration, now: Instant) {
        if let Some(rtt) = self.nominal {
            self.set(rtt, last, now);
        }
    }

    /// Takes the candidate of the filter: lowers the minimum RTT at once.
    pub(super) fn lower(&mut self, candidate: Duration, last: Duration, now: Instant) {
        if self.nominal.is_none_or(|rtt| candidate < rtt) {
            self.set(candidate, last, now);
        }
        self.running = self.running.min(candidate);
    }

    /// The largest RTT at which a delivery counts in full.
    ///
    /// Slip: while there is no minimum RTT, the original multiplies 2^64-1 by the margin, and the result
    /// after the wrap-around is still huge. `None` is equivalent: no limit, no correction. Another slip:
    /// the wide limit under chaotic jitter applies only in the first second after the minimum RTT was
    /// set; afterwards the margin of 5 % also applies under jitter.
    pub(super) fn limit(&self, jitter: Jitter, now: Instant) -> Option<Duration> {
        let rtt_min = self.nominal?;
        if !(jitter.chaotic && self.set_at + FRESH > now) {
            return Some(RTT_MARGIN.of_span(rtt_min));
        }
        Some(if rtt_min < jitter.max_rtt {
            (rtt_min * 5 + jitter.max_rtt * 3) / 8
        } else {
            RTT_MARGIN.of_span(rtt_min + CHAOTIC_MARGIN)
        })
    }

    /// Scales a delivery down to what the path would have delivered in an RTT near the minimum.
    pub(super) fn correct(
        &self,
        delivered: Bytes,
        sample: Duration,
        jitter: Jitter,
        now: Instant,
    ) -> Bytes {
        match self.limit(jitter, now) {
            Some(limit) if sample > limit => {
                Coefficient::of_spans(limit, sample).of_size(delivered)
            }
            _ => delivered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Jitter = Jitter {
        chaotic: false,
        max_rtt: Duration::ZERO,
    };

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::START + ms(n)
    }
    fn min_rtt(rtt: u64) -> MinRtt {
        let mut min = MinRtt::new(at(0));
        min.set(ms(rtt), ms(rtt), at(0));
        min
    }

    #[test]
    fn the_threshold_is_an_eighth_of_the_minimum_up_to_25_ms() {
        assert_eq!(min_rtt(80).threshold, ms(10));
        assert_eq!(min_rtt(200).threshold, ms(25));
        assert_eq!(min_rtt(600).threshold, ms(25));
    }

    #[test]
    fn without_a_minimum_nothing_is_corrected() {
        // (2^64-1)*1075 mod 2^64 = 2^64-1075 ; >> 10 leaves 2^54-2 us: 570 years
        let unset = MinRtt::new(at(0));
        let b = Bytes::new(100_000);
        assert_eq!(unset.correct(b, Duration::from_secs(3600), CALM, at(9)), b);
        let wrapped = u64::MAX.wrapping_mul(1075) >> 10;
        assert!(wrapped > Duration::from_secs(3600 * 24 * 365 * 100).as_micros());
    }

    #[test]
    fn deliveries_within_five_percent_of_the_minimum_count_in_full() {
        let min = min_rtt(100); // limit 100 ms * 1075/1024 = 104.980 ms
        let b = Bytes::new(100_000);
        assert_eq!(
            min.correct(b, Duration::from_micros(104_980), CALM, at(9)),
            b
        );
        // 104.980/210 = 511.9/1024 -> 511 ; 100 000*511/1024 = 49 902
        assert_eq!(min.correct(b, ms(210), CALM, at(9)).as_u64(), 49_902);
    }

    #[test]
    fn chaotic_jitter_widens_the_limit_for_one_second_after_the_minimum_was_set() {
        let chaos = Jitter {
            chaotic: true,
            max_rtt: ms(90),
        };
        let min = min_rtt(10);
        assert_eq!(min.limit(chaos, at(999)), Some(ms(40))); // (5*10+3*90)/8
        assert_eq!(min.limit(chaos, at(1000)), Some(RTT_MARGIN.of_span(ms(10))));
        let flat = Jitter {
            chaotic: true,
            max_rtt: ms(10),
        };
        assert_eq!(min.limit(flat, at(999)), Some(RTT_MARGIN.of_span(ms(15))));
    }

    #[test]
    fn the_filter_lowers_the_minimum_and_never_raises_it() {
        let mut min = min_rtt(80);
        min.lower(ms(90), ms(95), at(5));
        assert_eq!(
            (min.nominal, min.running, min.set_at),
            (Some(ms(80)), ms(80), at(0))
        );
        min.lower(ms(70), ms(65), at(6));
        // the running minimum restarts from the newest sample, then takes the candidate if lower
        assert_eq!(
            (min.nominal, min.running, min.set_at),
            (Some(ms(70)), ms(65), at(6))
        );
    }
}
