//! Constants of the early C4; factors are written in 1/1024.

use thalweg_control::coefficient::Coefficient;
use thalweg_units::{Bytes, Duration};

/// Window in Initial: twice the nominal window.
pub(super) const ALPHA_INITIAL: Coefficient = Coefficient::new(2048);
/// Window in Cruising, in Checking, and in a recovery that follows no strong push.
pub(super) const ALPHA_NEUTRAL: Coefficient = Coefficient::new(1024);
/// Window in the recovery from congestion that a strong push has met: 90 %.
pub(super) const ALPHA_RECOVER: Coefficient = Coefficient::new(921);
/// The strong push: 125 %.
pub(super) const ALPHA_PUSH: Coefficient = Coefficient::new(1280);
/// The light push that follows a failed push: 106.25 %.
pub(super) const ALPHA_PUSH_LOW: Coefficient = Coefficient::new(1088);
/// Window in Slowdown: one half.
pub(super) const ALPHA_SLOWDOWN: Coefficient = Coefficient::new(512);

/// Decrease on loss or on a CE mark; it also caps the delay decrease of v2 and v3.
pub(super) const BETA: Coefficient = Coefficient::new(256);
/// Decrease of v1 on delay when the newest sample is not above the minimum RTT.
pub(super) const BETA_DELAY_DEFAULT: Coefficient = Coefficient::new(128);
/// Cap of the decrease of v1 on delay.
pub(super) const BETA_DELAY_MAX: Coefficient = Coefficient::new(768);

/// ACKs plus losses that Initial must have seen before a loss or a CE mark ends it.
pub(super) const STARTUP_EVENTS: u64 = 20;
/// Eras without growth that end Initial.
pub(super) const ERAS_WITHOUT_GROWTH: u64 = 3;
/// Successful pushes in a row that restart Initial.
pub(super) const GOOD_PUSHES: u64 = 4;
/// Eras with delay before a pig war is suspected.
pub(super) const DELAY_ERAS: u64 = 4;

/// Longest time between two measurements of the minimum RTT.
pub(super) const SLOWDOWN_PERIOD: Duration = Duration::from_secs(5);
/// Shortest time between two measurements of the minimum RTT, in units of it.
pub(super) const SLOWDOWN_MIN_RTTS: u64 = 5;

/// Cap of the delay threshold, which is one eighth of the minimum RTT below it.
pub(super) const DELAY_THRESHOLD_MAX: Duration = Duration::from_millis(25);
/// RTT samples that the filter looks back on.
pub(super) const RTT_SAMPLES: usize = 7;
/// Margin over the minimum RTT within which deliveries are not corrected: 5 %.
pub(super) const RTT_MARGIN: Coefficient = Coefficient::new(1075);

/// Least nominal window after a decrease.
pub(super) const WINDOW_MINIMUM: Bytes = Bytes::new(3072);
/// Largest burst of v2 and v3 while they pace by rate.
pub(super) const QUANTUM_MAX: Bytes = Bytes::new(65_536);

/// Loss rate above which losses are congestion.
pub(super) const LOSS_THRESHOLD: f64 = 0.15;

/// Whether a successful push is followed by the next one without cruising (option letter K of the
/// original).
pub(super) const CASCADE: bool = true;
/// Whether the push after a failed push is a light one (option letter O of the original).
pub(super) const LIGHT_PUSH: bool = true;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficients_are_the_percentages_of_the_papers() {
        let w = Bytes::new(102_400);
        assert_eq!(ALPHA_INITIAL.of_size(w).as_u64(), 204_800); // 200 %
        assert_eq!(ALPHA_PUSH.of_size(w).as_u64(), 128_000); // 125 %
        assert_eq!(ALPHA_PUSH_LOW.of_size(w).as_u64(), 108_800); // 106.25 %
        assert_eq!(ALPHA_RECOVER.of_size(w).as_u64(), 92_100); // 89.94 %, "90 %"
        assert_eq!(ALPHA_SLOWDOWN.of_size(w).as_u64(), 51_200); // 50 %
        assert_eq!(BETA.of_size(w).as_u64(), 25_600); // 1/4
        assert_eq!(BETA_DELAY_DEFAULT.of_size(w).as_u64(), 12_800); // 1/8
        assert_eq!(BETA_DELAY_MAX.of_size(w).as_u64(), 76_800); // 3/4
    }

    #[test]
    fn products_truncate_as_the_shift_does() {
        // 223 278 * 1088 = 242 926 464 ; / 1024 = 237 232.875 (c4-history.md section 7, alone, v1)
        assert_eq!(
            ALPHA_PUSH_LOW.of_size(Bytes::new(223_278)).as_u64(),
            237_232
        );
        // 216 083 * 1280 / 1024 = 270 103.75
        assert_eq!(ALPHA_PUSH.of_size(Bytes::new(216_083)).as_u64(), 270_103);
    }

    #[test]
    fn a_ratio_truncates_to_a_1024th() {
        let ms = Duration::from_millis;
        assert_eq!(
            Coefficient::of_spans(ms(84), ms(100)),
            Coefficient::new(860)
        ); // 860.16
        assert_eq!(Coefficient::of_spans(ms(100), ms(100)), Coefficient::ONE);
        assert_eq!(
            Coefficient::of_spans(Duration::ZERO, Duration::ZERO),
            Coefficient::new(0)
        );
    }
}
