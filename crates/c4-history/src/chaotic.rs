//! Chaotic jitter: the maximum RTT of recent eras, and the flag that delay is meaningless.
//!
//! Source: c4-history.md section 2.3 (`era_end`). The author's paper quotes thresholds of 7 and 2 for
//! the ratio of maximum to minimum; the code has always had 2 and 1.5 (section 1: 16 May).

use super::min_rtt::Jitter;
use thalweg_units::Duration;

/// Nominal maximum RTT and the flag.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chaotic {
    /// Whether the path counts as dominated by jitter.
    pub(super) on: bool,
    /// Average over eras of their largest RTT (`nmax`); zero before the first era after Initial.
    pub(super) max_rtt: Duration,
}

impl Chaotic {
    /// Takes the largest RTT of an era that has ended.
    pub(super) fn end_era(&mut self, era_max: Duration, rtt_min: Option<Duration>) {
        self.max_rtt = if self.max_rtt.is_zero() {
            era_max
        } else {
            (self.max_rtt * 7 + era_max) / 8
        };
        // Without a minimum (2^64-1 us in the original) no maximum is large.
        let rtt_min = rtt_min.unwrap_or(Duration::MAX);
        if !self.on && self.max_rtt > rtt_min * 2 {
            self.on = true;
        }
        if self.on && self.max_rtt * 2 < rtt_min * 3 {
            self.on = false;
        }
    }

    /// The input of the correction of deliveries.
    pub(super) fn jitter(&self) -> Jitter {
        Jitter {
            chaotic: self.on,
            max_rtt: self.max_rtt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn after(on: bool, max: u64, min: u64) -> bool {
        // An average of one value stays there: (7*max + max)/8 = max.
        let mut chaotic = Chaotic {
            on,
            max_rtt: ms(max),
        };
        chaotic.end_era(ms(max), Some(ms(min)));
        assert_eq!(chaotic.max_rtt, ms(max));
        chaotic.on
    }

    #[test]
    fn the_flag_rises_above_twice_the_minimum_and_falls_below_one_and_a_half() {
        assert!(!after(false, 80, 40));
        assert!(after(false, 81, 40));
        assert!(after(true, 60, 40));
        assert!(!after(true, 59, 40));
        assert!(!after(false, 60, 40)); // between the two the flag stays as it is
    }

    #[test]
    fn the_first_era_sets_the_maximum_and_later_ones_move_it_by_an_eighth() {
        let mut chaotic = Chaotic::default();
        chaotic.end_era(ms(80), Some(ms(80)));
        assert_eq!(chaotic.max_rtt, ms(80));
        chaotic.end_era(ms(160), Some(ms(80)));
        assert_eq!(chaotic.max_rtt, ms(90)); // (7*80 + 160)/8
    }

    #[test]
    fn without_a_minimum_there_is_no_chaos() {
        let mut chaotic = Chaotic::default();
        chaotic.end_era(ms(100_000), None);
        assert!(!chaotic.on);
    }

    #[test]
    fn the_first_recovery_of_the_bad_wifi_run_raises_the_flag() {
        // section 7, wifi_bad, v1, at 574179: rtt_min 41223, nmax 144711 > 82446
        let mut chaotic = Chaotic::default();
        chaotic.end_era(
            Duration::from_micros(144_711),
            Some(Duration::from_micros(41_223)),
        );
        assert!(chaotic.on);
    }
}
