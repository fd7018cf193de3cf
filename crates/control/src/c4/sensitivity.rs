//! Sensitivity to congestion signals, and the thresholds that follow from it.
//!
//! A fast flow is more sensitive than a slow one, so that flows which share a bottleneck converge
//! (draft-huitema-ccwg-c4-spec, "Variable Sensitivity"). The curve is piecewise linear in the nominal
//! rate. The reference code has 963/1024 = 0.940 at 1 MB/s, where the text has 0.92.

use crate::coefficient::Coefficient;
use thalweg_units::{Duration, Rate};

const INSENSITIVE_BELOW: u64 = 50_000;
const KNEE: u64 = 1_000_000;
const KNEE_SENSITIVITY: u64 = 963;
const FULL_ABOVE: u64 = 10_000_000;

/// Sensitivity at `rate`: 0 up to 50 kB/s, 963/1024 at 1 MB/s, 1 from 10 MB/s on.
pub(super) fn sensitivity(rate: Rate) -> Coefficient {
    let rate = rate.as_bytes_per_sec();
    let full = Coefficient::ONE.units();
    Coefficient::new(match rate {
        ..INSENSITIVE_BELOW => 0,
        INSENSITIVE_BELOW..KNEE => {
            (rate - INSENSITIVE_BELOW) * KNEE_SENSITIVITY / (KNEE - INSENSITIVE_BELOW)
        }
        KNEE..=FULL_ABOVE => {
            KNEE_SENSITIVITY + (rate - KNEE) * (full - KNEE_SENSITIVITY) / (FULL_ABOVE - KNEE)
        }
        _ => full,
    })
}

/// RTT above the nominal max RTT that means congestion ("Detecting Excessive Delays"): 6.25 % of it when
/// fully sensitive, 25.4 % when insensitive, and `bound` at most (25 ms). The reference code has a slope of 196/1024,
/// where the text has 3/16 (192/1024).
pub(super) fn delay_threshold(
    sensitivity: Coefficient,
    max_rtt: Duration,
    bound: Duration,
) -> Duration {
    let slope = Coefficient::new(196).of(Coefficient::ONE - sensitivity);
    (Coefficient::new(64) + slope).of_span(max_rtt).min(bound)
}

/// Share of CE marks that means congestion ("Detecting Excessive CE Marks"): 18.75 % when insensitive,
/// 9.375 % when fully sensitive.
pub(super) fn ecn_threshold(sensitivity: Coefficient) -> Coefficient {
    Coefficient::new(192) - Coefficient::new(96).of(sensitivity)
}

/// Smoothed loss rate that means congestion ("Detecting Excessive Losses"): 52 % when insensitive, 2 %
/// when fully sensitive.
pub(super) fn loss_threshold(sensitivity: Coefficient) -> f64 {
    0.02 + 0.50 * (1.0 - sensitivity.as_f64())
}

/// Reduction after a loss, if the largest is `most` (1/4): half of it when insensitive, all when fully sensitive. The text has 1/4 throughout
/// ("Rate Reduction on Congestion").
pub(super) fn loss_beta(most: Coefficient, sensitivity: Coefficient) -> Coefficient {
    let twice = most + most.of(sensitivity);
    Coefficient::new(twice.units() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_millis(25);
    const BETA_MAX: Coefficient = Coefficient::new(256);

    fn at(bytes_per_second: u64) -> u64 {
        sensitivity(Rate::from_bytes_per_sec(bytes_per_second)).units()
    }

    /// "Variable Sensitivity".
    #[test]
    fn sensitivity_rises_from_50_kilobytes_to_10_megabytes_per_second() {
        assert_eq!(at(0), 0);
        assert_eq!(at(49_999), 0);
        assert_eq!(at(50_000), 0);
        // (525 000 - 50 000) * 963 / 950 000 = 481.5
        assert_eq!(at(525_000), 481);
        // 949 999 * 963 / 950 000 = 962.998..
        assert_eq!(at(999_999), 962);
        assert_eq!(at(1_000_000), 963);
        // 963 + 4 500 000 * 61 / 9 000 000 = 963 + 30.5
        assert_eq!(at(5_500_000), 993);
        assert_eq!(at(10_000_000), 1024);
        assert_eq!(at(1_000_000_000), 1024);
    }

    /// "Detecting Excessive Delays".
    #[test]
    fn the_delay_threshold_is_a_share_of_the_max_rtt_up_to_25_ms() {
        let max_rtt = Duration::from_micros(51_200);
        // 64/1024 * 51.2 ms = 3.2 ms; (64 + 196)/1024 * 51.2 ms = 13 ms
        assert_eq!(
            delay_threshold(Coefficient::ONE, max_rtt, BOUND),
            Duration::from_micros(3_200)
        );
        assert_eq!(
            delay_threshold(Coefficient::ZERO, max_rtt, BOUND),
            Duration::from_millis(13)
        );
        // at 1 MB/s: 64 + (61 * 196 >> 10) = 64 + 11 = 75; 75/1024 * 51.2 ms = 3.75 ms
        let knee = sensitivity(Rate::from_bytes_per_sec(1_000_000));
        assert_eq!(
            delay_threshold(knee, max_rtt, BOUND),
            Duration::from_micros(3_750)
        );
        // 260/1024 * 200 ms = 50.8 ms, capped
        let capped = delay_threshold(Coefficient::ZERO, Duration::from_millis(200), BOUND);
        assert_eq!(capped, Duration::from_millis(25));
    }

    /// "Detecting Excessive CE Marks".
    #[test]
    fn the_ecn_threshold_halves_with_full_sensitivity() {
        assert_eq!(ecn_threshold(Coefficient::ZERO).units(), 192);
        assert_eq!(ecn_threshold(Coefficient::ONE).units(), 96);
        // 192 - (963 * 96 >> 10) = 192 - 90
        assert_eq!(ecn_threshold(Coefficient::new(963)).units(), 102);
    }

    /// "Detecting Excessive Losses".
    #[test]
    fn the_loss_threshold_falls_from_52_to_2_percent() {
        assert!((loss_threshold(Coefficient::ZERO) - 0.52).abs() < 1e-12);
        assert!((loss_threshold(Coefficient::ONE) - 0.02).abs() < 1e-12);
        // 0.02 + 0.5 * 61/1024 = 0.049785
        assert!((loss_threshold(Coefficient::new(963)) - 0.049_785).abs() < 1e-6);
    }

    /// "Rate Reduction on Congestion", as the reference code scales it.
    #[test]
    fn a_loss_costs_between_an_eighth_and_a_quarter() {
        assert_eq!(loss_beta(BETA_MAX, Coefficient::ZERO).units(), 128);
        assert_eq!(loss_beta(BETA_MAX, Coefficient::ONE).units(), 256);
        // (256 + (963 * 256 >> 10)) / 2 = (256 + 240) / 2
        assert_eq!(loss_beta(BETA_MAX, Coefficient::new(963)).units(), 248);
    }
}
