//! What an agent may see of a flow: numbers out of the report of an interval and the state of the path.
//!
//! # Units
//! Seconds, bytes, bits per second, or none for ratios. What an interval has no sample of is taken from the path.
//!
//! # Limits
//! Every feature is finite. A rate below 1 kbps counts as that in logarithms.

use super::actions::Decision;
use thalweg_control::PathState;
use thalweg_control::report::Report;
use thalweg_units::Duration;

/// What a feature is computed from.
pub(super) struct Seen<'a> {
    pub(super) report: &'a Report,
    pub(super) path: &'a PathState,
    pub(super) decision: &'a Decision,
}

/// One number.
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    /// The least and the most that it can be.
    pub(super) low: f64,
    pub(super) high: f64,
    value: fn(&Seen<'_>) -> f64,
}

impl Feature {
    /// Its value now, within its bounds.
    pub(super) fn of(&self, seen: &Seen<'_>) -> f64 {
        (self.value)(seen).clamp(self.low, self.high)
    }
}

/// Bounds of what has no other: a thousand years, more bytes than an engine counts, and the fastest link of scenarios.
const MOST_SECONDS: f64 = 4e10;
const MOST_BYTES: f64 = 2e19;
const MOST_RATE: f64 = 1e15;
/// Bounds of logarithms: 1 kbps to 1 Pbps in Mbps, and any ratio or number of packets.
const LOG_RATE: (f64, f64) = (-7.0, 21.0);
const MOST_LOG: f64 = 45.0;
/// The least rate in logarithms, in bits per second.
const LEAST_RATE: f64 = 1e3;
/// Ratios end here: a window with a delivery rate of zero, for example.
const MOST: f64 = 1e6;

impl Seen<'_> {
    fn base_rtt(&self) -> f64 {
        self.path.min_rtt.as_secs_f64()
    }
    fn mean_rtt(&self) -> f64 {
        let mean = self.report.mean_rtt();
        mean.unwrap_or_else(|| self.path.smoothed_rtt.as_secs_f64())
    }
    fn rtt_or_smoothed(&self, rtt: Option<Duration>) -> f64 {
        rtt.unwrap_or(self.path.smoothed_rtt).as_secs_f64()
    }
    fn delivered(&self) -> f64 {
        self.report.delivered.as_u64() as f64
    }
    fn lost(&self) -> f64 {
        self.report.lost.as_u64() as f64
    }
    fn delivery_rate(&self) -> f64 {
        self.report.delivery_rate().as_bits_per_sec() as f64
    }
    /// Mean RTT over base RTT, from 1 on.
    fn rtt_ratio(&self) -> f64 {
        ratio(self.mean_rtt(), self.base_rtt()).max(1.0)
    }
}

/// A quotient that is finite: 0 over 0 is 0.
fn ratio(above: f64, below: f64) -> f64 {
    match above {
        0.0 => 0.0,
        above => (above / below).min(MOST),
    }
}

const fn feature(
    name: &'static str,
    meaning: &'static str,
    (low, high): (f64, f64),
    value: fn(&Seen<'_>) -> f64,
) -> Feature {
    Feature {
        name,
        meaning,
        low,
        high,
        value,
    }
}

/// All of them, in the order of lists.
pub(super) static FEATURES: &[Feature] = &[
    feature(
        "rtt_ratio",
        "mean RTT of the interval over the smallest RTT of the connection",
        (1.0, MOST),
        |seen| seen.rtt_ratio(),
    ),
    feature(
        "loss_ratio",
        "bytes declared lost over bytes acknowledged or lost",
        (0.0, 1.0),
        |seen| ratio(seen.lost(), seen.lost() + seen.delivered()),
    ),
    feature(
        "mark_ratio",
        "packets with a CE mark over packets acknowledged, by size",
        (0.0, 1.0),
        |seen| {
            let marked = seen.report.marked as f64 * seen.path.mtu.as_u64() as f64;
            ratio(marked, seen.delivered()).min(1.0)
        },
    ),
    feature(
        "window_ratio",
        "window over delivery rate times the smallest RTT: above 1 stands in queues",
        (0.0, MOST),
        |seen| {
            let held = seen.delivery_rate() / 8.0 * seen.base_rtt();
            ratio(seen.decision.window, held)
        },
    ),
    feature(
        "send_ratio",
        "bytes sent over bytes acknowledged",
        (0.0, MOST),
        |seen| ratio(seen.report.sent.as_u64() as f64, seen.delivered()),
    ),
    feature(
        "log_rate",
        "natural logarithm of the delivery rate in Mbps, from 1 kbps on",
        LOG_RATE,
        |seen| libm::log(seen.delivery_rate().max(LEAST_RATE) / 1e6),
    ),
    feature(
        "log_rtt_ratio",
        "natural logarithm of rtt_ratio",
        (0.0, MOST_LOG),
        |seen| libm::log(seen.rtt_ratio()),
    ),
    feature(
        "log_window",
        "natural logarithm of the window in packets",
        (0.0, MOST_LOG),
        |seen| libm::log((seen.decision.window / seen.path.mtu.as_u64() as f64).max(1.0)),
    ),
    feature(
        "elapsed",
        "length of the interval (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.report.elapsed.as_secs_f64(),
    ),
    feature(
        "delivered",
        "bytes acknowledged",
        (0.0, MOST_BYTES),
        |seen| seen.delivered(),
    ),
    feature("sent", "bytes sent", (0.0, MOST_BYTES), |seen| {
        seen.report.sent.as_u64() as f64
    }),
    feature("lost", "bytes declared lost", (0.0, MOST_BYTES), |seen| {
        seen.lost()
    }),
    feature(
        "marked",
        "packets with a CE mark",
        (0.0, MOST_BYTES),
        |seen| seen.report.marked as f64,
    ),
    feature("timeouts", "probe timeouts", (0.0, MOST_BYTES), |seen| {
        f64::from(seen.report.timeouts)
    }),
    feature(
        "app_limited",
        "1 if a packet was sent when there was no more data, else 0",
        (0.0, 1.0),
        |seen| f64::from(u8::from(seen.report.app_limited)),
    ),
    feature(
        "min_rtt",
        "smallest RTT of the interval (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.rtt_or_smoothed(seen.report.min_rtt),
    ),
    feature(
        "mean_rtt",
        "mean RTT of the interval (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.mean_rtt(),
    ),
    feature(
        "max_rtt",
        "largest RTT of the interval (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.rtt_or_smoothed(seen.report.max_rtt),
    ),
    feature(
        "base_rtt",
        "smallest RTT of the connection (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.base_rtt(),
    ),
    feature(
        "smoothed_rtt",
        "smoothed RTT (s)",
        (0.0, MOST_SECONDS),
        |seen| seen.path.smoothed_rtt.as_secs_f64(),
    ),
    feature(
        "delivery_rate",
        "bytes acknowledged over the interval (bps)",
        (0.0, MOST_RATE),
        |seen| seen.delivery_rate(),
    ),
    feature(
        "send_rate",
        "bytes sent over the interval (bps)",
        (0.0, MOST_RATE),
        |seen| seen.report.send_rate().as_bits_per_sec() as f64,
    ),
    feature(
        "max_delivery_rate",
        "largest delivery-rate sample of an ACK (bps)",
        (0.0, MOST_RATE),
        |seen| seen.report.max_rate.as_bits_per_sec() as f64,
    ),
    feature(
        "bytes_in_flight",
        "bytes in flight",
        (0.0, MOST_BYTES),
        |seen| seen.path.bytes_in_flight.as_u64() as f64,
    ),
    feature(
        "window",
        "window in force (bytes)",
        (0.0, MOST_BYTES),
        |seen| seen.decision.window,
    ),
    feature(
        "pacing",
        "pacing rate in force (bps); 0 if the transport paces",
        (0.0, MOST_RATE),
        |seen| seen.decision.pacing.unwrap_or(0.0),
    ),
];

/// The feature of a name.
pub(super) fn find(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.name == name)
}
