//! Measurements and decisions of an endpoint: possible and consistent round-trip times,
//! counts that only grow, and a plausible window, pacing rate and quantum.

use super::finding::{Verdict, hold};
use thalweg_control::{Control, PathState};
use thalweg_transport::Counters;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// No window, quantum or rate is finite beyond this. A flow without pacing has a quantum of a packet for each
/// nanosecond of its RTT, 1.4e14 bytes for 100 s.
const FINITE: u64 = 1 << 60;

/// The state of an endpoint at one time.
pub(super) struct Shown<'a> {
    pub(super) path: &'a PathState,
    pub(super) control: &'a Control,
    pub(super) pacing: Option<Rate>,
    pub(super) counters: &'a Counters,
}

/// The state of an endpoint so far, and the bounds of its path.
pub(super) struct Estimates {
    /// When its connection began.
    began: Instant,
    /// Least time of a packet and its acknowledgement.
    least_rtt: Duration,
    /// How far a sample may be below that because it is derived from a smoothed value.
    rounding: Duration,
    /// The least minimum RTT so far.
    least_seen: Duration,
    /// Stream bytes that it will receive; `None` if the workload does not determine them.
    expected: Option<u64>,
    pub(super) wire_sent: Bytes,
    pub(super) wire_received: Bytes,
    samples: u64,
    received: u64,
    delivered: Bytes,
    next_packet: u64,
    largest_acked: Option<u64>,
}

impl Estimates {
    pub(super) fn new(
        began: Instant,
        least_rtt: Duration,
        rounding: Duration,
        expected: Option<u64>,
    ) -> Self {
        Estimates {
            began,
            least_rtt,
            rounding,
            least_seen: Duration::MAX,
            expected,
            wire_sent: Bytes::ZERO,
            wire_received: Bytes::ZERO,
            samples: 0,
            received: 0,
            delivered: Bytes::ZERO,
            next_packet: 0,
            largest_acked: None,
        }
    }

    /// The estimates of a sender whose peer acknowledges what has not arrived.
    pub(super) fn told_lies(self) -> Self {
        Estimates {
            least_rtt: Duration::ZERO,
            ..self
        }
    }

    /// The connection, which waited for another, begins at `start`.
    pub(super) fn note_start(&mut self, start: Instant) {
        self.began = start;
    }

    pub(super) fn check(&mut self, now: Instant, shown: &Shown<'_>) -> Verdict {
        self.check_rtt(now, shown)?;
        self.check_growth(now, shown)?;
        self.check_data(shown)?;
        check_control(shown)
    }

    fn check_rtt(&mut self, now: Instant, shown: &Shown<'_>) -> Verdict {
        let (path, counters) = (shown.path, shown.counters);
        hold(counters.rtt_samples >= self.samples, || {
            "has taken fewer RTT samples than before".to_owned()
        })?;
        self.samples = counters.rtt_samples;
        if counters.rtt_samples == 0 {
            return Ok(());
        }
        let (min, max) = (path.min_rtt, counters.rtt_max);
        let (smoothed, latest) = (path.smoothed_rtt, path.latest_rtt);
        let least = self.least_rtt - self.rounding;
        hold(min >= least, || {
            format!("measured an RTT of {min}; the path has none below {least}")
        })?;
        let most = now - self.began;
        hold(max <= most + self.rounding, || {
            format!("measured an RTT of {max}, {most} after it began")
        })?;
        // The minimum is refreshed after persistent congestion (RFC 9002 section 5.2).
        let min = self.least_seen.min(min);
        self.least_seen = min;
        // The latest RTT is as measured, the others are less the ACK delay (RFC 9002 sections 5.1 and 5.3).
        for (name, value, most) in [("smoothed", smoothed, max), ("latest", latest, most)] {
            hold(
                value + self.rounding >= min && value <= most + self.rounding,
                || format!("has a {name} RTT of {value}, out of samples from {min} to {most}"),
            )?;
        }
        let samples = counters.rtt_samples;
        let (sum, slack) = (counters.rtt_sum, self.rounding * samples);
        hold(sum + slack >= min * samples && sum <= max * samples, || {
            format!("has {samples} RTT samples from {min} to {max} that sum up to {sum}")
        })
    }

    /// Counts that only grow, and times in the past.
    fn check_growth(&mut self, now: Instant, shown: &Shown<'_>) -> Verdict {
        let path = shown.path;
        hold(path.delivered >= self.delivered, || {
            format!("has delivered {}, less than before", path.delivered)
        })?;
        hold(path.delivered <= self.wire_sent, || {
            let sent = self.wire_sent;
            format!("has delivered {} of {sent} that were sent", path.delivered)
        })?;
        self.delivered = path.delivered;
        hold(path.next_packet >= self.next_packet, || {
            format!("reuses packet number {}", path.next_packet)
        })?;
        self.next_packet = path.next_packet;
        hold(path.largest_acked >= self.largest_acked, || {
            "knows of fewer acknowledged packets than before".to_owned()
        })?;
        self.largest_acked = path.largest_acked;
        hold(
            path.largest_acked.is_none_or(|n| n < path.next_packet),
            || {
                format!(
                    "counts packet {:?} as acknowledged before it sends it",
                    path.largest_acked
                )
            },
        )?;
        let latest = path.last_idle.max(path.newest_acked_data_sent);
        hold(latest <= now, || {
            format!("knows at {now} what happens at {latest}")
        })
    }

    /// Data is delivered once, and travels in packets.
    fn check_data(&mut self, shown: &Shown<'_>) -> Verdict {
        let received = shown.counters.stream_bytes_received;
        hold(received >= self.received, || {
            format!("has received {received} bytes, less than before")
        })?;
        self.received = received;
        hold(received <= self.wire_received.as_u64(), || {
            let came = self.wire_received;
            format!("has received {received} bytes of streams in packets of {came}")
        })?;
        if let Some(expected) = self.expected {
            hold(received <= expected, || {
                format!("has received {received} bytes of {expected} in all")
            })?;
        }
        let in_flight = shown.path.bytes_in_flight;
        hold(in_flight <= self.wire_sent + ALLOWANCE, || {
            let sent = self.wire_sent;
            format!("has {in_flight} in flight, and has sent {sent}")
        })
    }
}

/// What an endpoint counts as in flight from the handshake on before it is sent.
const ALLOWANCE: Bytes = Bytes::new(3000);

fn check_control(shown: &Shown<'_>) -> Verdict {
    let (control, mtu) = (shown.control, shown.path.mtu);
    let window = control.window;
    hold(window >= mtu, || {
        format!("has a window of {window}, less than a packet of {mtu}")
    })?;
    hold(window.as_u64() <= FINITE, || {
        format!("has a window of {window}")
    })?;
    if let Some(rate) = shown.pacing {
        hold((1..=FINITE).contains(&rate.as_bits_per_sec()), || {
            format!("is paced at {rate}")
        })?;
    }
    let quantum = control.quantum;
    let needs = control.pacing.is_some();
    hold(!needs || (1..=FINITE).contains(&quantum.as_u64()), || {
        format!("may send {quantum} at once")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::START + ms(n)
    }

    /// An endpoint after 100 ms on a path of 20 ms, that has sent and received 10 kB.
    struct Endpoint {
        path: PathState,
        control: Control,
        pacing: Option<Rate>,
        counters: Counters,
    }

    fn endpoint() -> Endpoint {
        let mtu = Bytes::new(1200);
        let mut path = PathState::new(mtu, Instant::START);
        path.min_rtt = ms(20);
        path.latest_rtt = ms(30);
        path.smoothed_rtt = ms(25);
        path.delivered = Bytes::new(5000);
        path.next_packet = 9;
        path.largest_acked = Some(8);
        path.last_idle = at(90);
        let control = Control {
            window: Bytes::new(1200),
            pacing: Some(Rate::from_bits_per_sec(1)),
            quantum: Bytes::new(1200),
            startup_done: false,
        };
        let mut counters = Counters::default();
        counters.stream_bytes_received = 4000;
        counters.rtt_samples = 2;
        counters.rtt_sum = ms(50);
        counters.rtt_max = ms(30);
        Endpoint {
            pacing: control.pacing,
            path,
            control,
            counters,
        }
    }

    fn check(estimates: &mut Estimates, endpoint: &Endpoint) -> Verdict {
        let shown = Shown {
            path: &endpoint.path,
            control: &endpoint.control,
            pacing: endpoint.pacing,
            counters: &endpoint.counters,
        };
        estimates.check(at(100), &shown)
    }

    fn estimates() -> Estimates {
        let mut estimates = Estimates::new(at(0), ms(20), Duration::ZERO, Some(4000));
        estimates.wire_sent = Bytes::new(10_000);
        estimates.wire_received = Bytes::new(10_000);
        estimates
    }

    #[test]
    fn a_sound_endpoint_passes() {
        assert_eq!(check(&mut estimates(), &endpoint()), Ok(()));
    }

    #[test]
    fn each_wrong_value_is_found() {
        type Change = fn(&mut Endpoint);
        let changes: [(Change, &str); 18] = [
            (|e| e.path.min_rtt = ms(19), "none below 20 ms"),
            (|e| e.counters.rtt_max = ms(101), "after it began"),
            (|e| e.path.smoothed_rtt = ms(19), "a smoothed RTT of 19 ms"),
            (|e| e.path.smoothed_rtt = ms(31), "a smoothed RTT of 31 ms"),
            (|e| e.path.latest_rtt = ms(19), "a latest RTT of 19 ms"),
            (|e| e.path.latest_rtt = ms(101), "a latest RTT of 101 ms"),
            (|e| e.counters.rtt_sum = ms(39), "sum up to 39 ms"),
            (|e| e.counters.rtt_sum = ms(61), "sum up to 61 ms"),
            (|e| e.path.delivered = Bytes::new(10_001), "that were sent"),
            (|e| e.path.largest_acked = Some(9), "before it sends it"),
            (|e| e.path.last_idle = at(101), "knows at 100 ms"),
            (
                |e| e.counters.stream_bytes_received = 4001,
                "of 4000 in all",
            ),
            (|e| e.path.bytes_in_flight = Bytes::new(13_001), "in flight"),
            (
                |e| e.control.window = Bytes::new(1199),
                "less than a packet",
            ),
            (|e| e.control.window = Bytes::MAX, "has a window of"),
            (|e| e.pacing = Some(Rate::ZERO), "is paced at"),
            (
                |e| e.pacing = Some(Rate::from_bits_per_sec(u64::MAX)),
                "is paced at",
            ),
            (|e| e.control.quantum = Bytes::ZERO, "at once"),
        ];
        for (change, says) in changes {
            let mut endpoint = endpoint();
            change(&mut endpoint);
            let found = check(&mut estimates(), &endpoint).expect_err(says);
            assert!(found.contains(says), "{found}");
        }
    }

    #[test]
    fn streams_that_need_more_than_the_packets_that_came_are_found() {
        let mut estimates = estimates();
        estimates.wire_received = Bytes::new(3999);
        let found = check(&mut estimates, &endpoint()).unwrap_err();
        assert!(found.contains("in packets of"), "{found}");
    }

    #[test]
    fn a_count_that_falls_is_found() {
        type Change = fn(&mut Endpoint);
        let changes: [Change; 5] = [
            |e| e.counters.rtt_samples = 1,
            |e| e.path.delivered = Bytes::new(4999),
            |e| (e.path.next_packet, e.path.largest_acked) = (8, Some(7)),
            |e| e.path.largest_acked = Some(7),
            |e| e.counters.stream_bytes_received = 3999,
        ];
        for (position, change) in changes.into_iter().enumerate() {
            let (mut estimates, mut endpoint) = (estimates(), endpoint());
            check(&mut estimates, &endpoint).unwrap();
            change(&mut endpoint);
            assert!(check(&mut estimates, &endpoint).is_err(), "{position}");
        }
    }
}
