//! The over-use detector and its threshold (draft-ietf-rmcat-gcc-02 section 5.4).

use super::groups::millis;
use thalweg_units::Instant;

/// overuse_time_th, in milliseconds.
const OVERUSE_TIME: f64 = 10.0;
/// K_u and K_d, a millisecond.
const RISE: f64 = 0.01;
const FALL: f64 = 0.00018;
/// del_var_th(0), and its bounds.
const FIRST_THRESHOLD: f64 = 12.5;
const THRESHOLDS: (f64, f64) = (6.0, 600.0);
/// The threshold does not follow what is further above it.
const FAR: f64 = 15.0;
/// The longest time over which the threshold moves at once, in milliseconds: as in WebRTC, so that it does not jump
/// after a pause. The draft has none.
const LONGEST: f64 = 100.0;

/// What the detector says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Signal {
    Overuse,
    Normal,
    Underuse,
}

/// The detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    threshold: f64,
    /// For how long the estimate has been above the threshold, in milliseconds.
    over: f64,
    before: f64,
    last: Option<Instant>,
}

impl Detector {
    pub(super) fn new() -> Self {
        Detector {
            threshold: FIRST_THRESHOLD,
            over: 0.0,
            before: 0.0,
            last: None,
        }
    }

    /// The threshold, in milliseconds.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The estimate m(i) at the arrival of group i. Over-use is signalled once it has lasted, unless the estimate
    /// falls.
    pub(super) fn detect(&mut self, estimate: f64, arrived: Instant) -> Signal {
        let span = self.last.map_or(0.0, |last| millis(last, arrived).max(0.0));
        self.last = Some(arrived);
        let signal = if estimate > self.threshold {
            self.over += span;
            match self.over >= OVERUSE_TIME && estimate >= self.before {
                true => Signal::Overuse,
                false => Signal::Normal,
            }
        } else {
            self.over = 0.0;
            match estimate < -self.threshold {
                true => Signal::Underuse,
                false => Signal::Normal,
            }
        };
        self.before = estimate;
        self.adapt(estimate.abs(), span.min(LONGEST));
        signal
    }

    fn adapt(&mut self, size: f64, span: f64) {
        if size - self.threshold > FAR {
            return;
        }
        let pace = if size < self.threshold { FALL } else { RISE };
        let next = self.threshold + span * pace * (size - self.threshold);
        self.threshold = next.clamp(THRESHOLDS.0, THRESHOLDS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn overuse_has_to_last_ten_milliseconds_and_not_to_fall() {
        let mut detector = Detector::new();
        assert_eq!(detector.detect(0.0, at(0)), Signal::Normal);
        assert_eq!(detector.detect(40.0, at(5)), Signal::Normal);
        assert_eq!(detector.detect(40.0, at(10)), Signal::Overuse);
        assert_eq!(detector.detect(39.0, at(20)), Signal::Normal, "it falls");
        assert_eq!(detector.detect(-40.0, at(30)), Signal::Underuse);
    }

    #[test]
    fn the_threshold_rises_fast_falls_slowly_and_keeps_its_bounds() {
        let mut detector = Detector::new();
        detector.detect(0.0, at(0));
        detector.detect(22.5, at(10));
        // 12.5 + 10 * 0.01 * (22.5 - 12.5)
        assert!((detector.threshold() - 13.5).abs() < 1e-9);
        detector.detect(3.5, at(20));
        // 13.5 + 10 * 0.00018 * (3.5 - 13.5)
        assert!((detector.threshold() - 13.482).abs() < 1e-9);
        detector.detect(40.0, at(30));
        assert!(
            (detector.threshold() - 13.482).abs() < 1e-9,
            "too far above"
        );
        for n in 1..10_000 {
            assert_eq!(detector.detect(0.0, at(100 * n)), Signal::Normal);
        }
        assert_eq!(detector.threshold(), 6.0);
    }
}
