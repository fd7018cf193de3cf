//! What the pacing of BBRv1 begins with, and its quantum (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2).

use super::Gain;
use thalweg_units::{Bytes, Duration, Rate};

/// BBRHighGain, 2 / ln 2 = 2.885 (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.2.1).
pub const HIGH_GAIN: Gain = Gain::permille(2885);
/// Below this rate the quantum is one packet (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2).
const SLOW: Rate = Rate::from_bits_per_sec(1_200_000);
/// Below this rate it is two.
const MODERATE: Rate = Rate::from_bits_per_sec(24_000_000);
const MAX_QUANTUM: Bytes = Bytes::new(65_536);

/// BBRInitPacingRate() (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.1).
pub fn initial_pacing_rate(initial_window: Bytes, rtt: Duration) -> Rate {
    HIGH_GAIN.of_rate(Rate::over(initial_window, rtt))
}

/// BBRSetSendQuantum() (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2).
pub fn send_quantum(rate: Rate, mtu: Bytes) -> Bytes {
    if rate < SLOW {
        mtu
    } else if rate < MODERATE {
        mtu * 2
    } else {
        rate.bytes_in(Duration::from_millis(1))
            .min(MAX_QUANTUM)
            .max(mtu)
    }
}
