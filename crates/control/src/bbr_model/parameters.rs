//! Constants of BBRv3 (draft-ietf-ccwg-bbr-06 section 2).

use super::Gain;
use thalweg_units::{Bytes, Duration};

/// StartupPacingGain, 4 ln 2 (section 2.5).
pub const STARTUP_PACING_GAIN: Gain = Gain::percent(277);
/// DrainPacingGain (section 2.5).
pub const DRAIN_PACING_GAIN: Gain = Gain::percent(50);
/// Pacing gain of ProbeBW_DOWN (section 5.6.1).
pub const DOWN_PACING_GAIN: Gain = Gain::percent(90);
/// Pacing gain of ProbeBW_UP (section 5.6.1).
pub const UP_PACING_GAIN: Gain = Gain::percent(125);
/// DefaultCwndGain (section 2.6).
pub const DEFAULT_CWND_GAIN: Gain = Gain::percent(200);
/// Window gain of ProbeBW_UP (section 5.6.1).
pub const UP_CWND_GAIN: Gain = Gain::percent(225);
/// ProbeRTTCwndGain (section 2.16.2).
pub const PROBE_RTT_CWND_GAIN: Gain = Gain::percent(50);
/// One less PacingMarginPercent (section 2.5).
pub const PACING_MARGIN: Gain = Gain::percent(99);
/// Beta, the multiplicative decrease of the bounds (section 2.8).
pub const BETA: Gain = Gain::percent(70);
/// Headroom, the part of `inflight_longterm` that is left to others (section 2.8). The option `headroom` has it as its
/// default, which tests compare.
#[cfg(test)]
pub const HEADROOM: Gain = Gain::percent(15);
/// LossThresh, the tolerated loss of a round trip (section 2.8).
pub const LOSS_THRESH: Gain = Gain::percent(2);
/// BBRStartupFullLossCnt, the runs of lost packets that end Startup (section 5.3.1.3).
pub const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// ExtraAckedFilterLen in round trips (section 2.12).
pub const EXTRA_ACKED_FILTER_LEN: u64 = 10;
/// MinRTTFilterLen (section 2.16.1).
pub const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// ProbeRTTInterval (section 2.16.2).
pub const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// ProbeRTTDuration (section 2.16.2), of BBRv1 too.
pub const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// Longest time in Drain, in round trips (section 5.3.2).
pub const DRAIN_MAX_ROUNDS: u64 = 3;
/// The largest send quantum (section 5.6.3).
pub const MAX_SEND_QUANTUM: Bytes = Bytes::new(65_536);
