//! RTT estimation (RFC 9002 section 5) and the probe timeout period (section 6.2.1).

use crate::Rules;
use thalweg_control::PathState;
use thalweg_units::Duration;

/// Timer granularity (RFC 9002 section 6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);

/// Takes one sample. `ack_delay` is what the peer reported, already limited to its `max_ack_delay`.
/// Returns the adjusted sample. The latest RTT, from which the time threshold comes, is the raw sample (section
/// 5.1); picoquic has the adjusted one there.
pub(crate) fn take_sample(
    path: &mut PathState,
    raw: Duration,
    ack_delay: Duration,
    rules: Rules,
) -> Duration {
    let adjusted = path.take_rtt(raw, ack_delay);
    if rules == Rules::Picoquic {
        path.latest_rtt = adjusted;
    }
    adjusted
}

/// The probe timeout before back-off (RFC 9002 section 6.2.1).
pub(crate) fn probe_timeout(path: &PathState, max_ack_delay: Duration) -> Duration {
    path.smoothed_rtt + (path.rtt_var * 4).max(GRANULARITY) + max_ack_delay
}

/// How long after sending a packet counts as lost once a later one is acknowledged: 9/8 of the RTT
/// (RFC 9002 section 6.1.2).
pub(crate) fn loss_delay(path: &PathState) -> Duration {
    (path.smoothed_rtt.max(path.latest_rtt) * 9 / 8).max(GRANULARITY)
}

/// How long losses must span for persistent congestion (RFC 9002 section 7.6.1): three probe timeouts.
pub(crate) fn persistent_congestion(path: &PathState, max_ack_delay: Duration) -> Duration {
    probe_timeout(path, max_ack_delay) * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Instant};

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn smoothing_follows_rfc_9002_section_5_3() {
        let mut path = PathState::new(Bytes::new(1200), Instant::START);
        assert_eq!(take_sample(&mut path, ms(80), ms(5), Rules::Rfc), ms(80));
        assert_eq!((path.smoothed_rtt, path.rtt_var), (ms(80), ms(40)));
        // 100 ms less 5 ms of delay = 95; var = (3*40 + 15)/4 = 33.75; srtt = (7*80 + 95)/8 = 81.875
        assert_eq!(take_sample(&mut path, ms(100), ms(5), Rules::Rfc), ms(95));
        assert_eq!(path.latest_rtt, ms(100)); // section 5.1: as measured
        assert_eq!(path.rtt_var, Duration::from_micros(33_750));
        assert_eq!(path.smoothed_rtt, Duration::from_micros(81_875));
        // a delay that would push the sample under the minimum is not believed
        assert_eq!(take_sample(&mut path, ms(82), ms(5), Rules::Rfc), ms(82));
        assert_eq!(path.min_rtt, ms(80));
    }

    #[test]
    fn the_probe_timeout_has_a_floor_on_its_variance_term() {
        let mut path = PathState::new(Bytes::new(1200), Instant::START);
        take_sample(&mut path, ms(10), ms(0), Rules::Rfc);
        path.rtt_var = Duration::ZERO;
        assert_eq!(probe_timeout(&path, ms(25)), ms(36)); // 10 + max(0, 1) + 25
        assert_eq!(persistent_congestion(&path, ms(25)), ms(108));
    }
}
