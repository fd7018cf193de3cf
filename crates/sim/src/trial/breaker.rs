//! Circuit breakers: what ends a flow that congests its path for long.
//!
//! # Model
//! At the end of each interval the breaker gets what the two ends of the path have metered in it: what the sender has sent,
//! what links have dropped or lost of it, and whether the sender has heard of the receiver.
//!
//! - `transport` (RFC 8084 section 4): it trips when the loss of so many intervals in a row is at least the threshold. An
//!   interval in which nothing is sent ends the row.
//! - `media` (RFC 8083): an interval is one between two reports of the receiver.
//!   - *Timeout* (sections 4.1 and 4.2): the sender has sent in three intervals in a row, and nothing has come back.
//!   - *Congestion* (section 4.3): with more than [`cb_interval`] reports, each of an interval in which it has sent, it has sent
//!     in the last ones more than ten times what TCP would at their mean loss `p` and this RTT, `s / (RTT * sqrt(2 * p / 3))`,
//!     the simplified equation. An interval in which it sends nothing begins them anew.
//!   - *Usability* (section 4.4): over the same intervals the mean loss is at least the `unusable` of the scenario; without it
//!     the rule is off, since what is usable is the application's decision.
//!
//! When a breaker trips, the connection closes at once. The breaker of a source of cross traffic or of a tunnel is a
//! `transport` over all that is in it, meters summed up, and ends all of it (section 4 of RFC 8084, requirement 10); nothing
//! resets it.
//!
//! # Limits
//! Meters and reports are there without delay, and are not lost: QUIC's acknowledgements stand for reports. The time without
//! reports and the time in which reports show no arrival are one rule, since QUIC acknowledges nothing but arrivals: it has the
//! three intervals of section 4.1, not the five of section 4.2. The
//! breaker looks at the direction of the data, of a call whose media both ends send at both. Frames are not coded in groups (G = 1).

use crate::scenario::breaker::BreakerSpec;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_path::Count;
use thalweg_units::{Duration, Instant, Rate};

/// Intervals without anything from the receiver that are too many (RFC 8083 section 4.1).
const SILENT: u32 = 3;
/// How much more than TCP a sender may send (RFC 8083 section 4.3).
const ORDER_OF_MAGNITUDE: f64 = 10.0;

/// What the ends of a path have counted since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meters {
    /// What the sender has sent, in packets and bytes of the first link.
    pub(crate) sent: Count,
    /// Packets of it that are dropped or lost.
    pub(crate) missing: u64,
    /// A number that grows with each acknowledgement.
    pub(crate) heard: u64,
}

impl Meters {
    /// Counts what another sender of the same aggregate has sent.
    pub(crate) fn add(&mut self, other: Meters) {
        self.sent += other.sent;
        self.missing += other.missing;
        self.heard += other.heard;
    }
}

/// One interval.
#[derive(Clone, Copy, Debug)]
struct Report {
    packets: u64,
    bytes: u64,
    missing: u64,
}

impl Report {
    /// Packets that are missing, of those that were sent: more than all is all, since some were sent before.
    fn loss(&self) -> f64 {
        match self.packets {
            0 => 0.0,
            sent => (self.missing as f64 / sent as f64).min(1.0),
        }
    }
}

/// Which rule has tripped a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Rule {
    /// Loss in intervals in a row (RFC 8084).
    Loss,
    /// Nothing came back from the receiver (RFC 8083 section 4.1).
    Timeout,
    /// Much more was sent than TCP would have sent (RFC 8083 section 4.3).
    Congestion,
    /// The media could not be used (RFC 8083 section 4.4).
    Usability,
}

impl Rule {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Loss => "loss",
            Rule::Timeout => "timeout",
            Rule::Congestion => "congestion",
            Rule::Usability => "usability",
        }
    }
}

/// The breaker of a connection.
#[derive(Debug)]
pub(crate) struct Breaker {
    spec: BreakerSpec,
    due: Instant,
    meters: Meters,
    /// Intervals in a row with too much loss, of a transport, or in which nothing was heard, of media.
    row: u32,
    /// The last reports of intervals in a row in which it has sent, the oldest first, and how many there have been.
    reports: VecDeque<Report>,
    received: usize,
}

impl Breaker {
    pub(crate) fn new(spec: BreakerSpec) -> Self {
        Breaker {
            spec,
            due: Instant::NEVER,
            meters: Meters::default(),
            row: 0,
            reports: VecDeque::new(),
            received: 0,
        }
    }

    /// The connection starts.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.due = now + self.spec.interval();
    }

    /// When it looks at the meters; never once it has tripped.
    pub(crate) fn next(&self) -> Instant {
        self.due
    }

    /// An interval ends now: the rule by which the breaker trips, if it does. `rtt` is what the sender takes for its RTT.
    pub(crate) fn look(&mut self, now: Instant, meters: Meters, rtt: Duration) -> Option<Rule> {
        let before = std::mem::replace(&mut self.meters, meters);
        let report = Report {
            packets: meters.sent.packets - before.sent.packets,
            bytes: (meters.sent.bytes - before.sent.bytes).as_u64(),
            missing: meters.missing - before.missing,
        };
        let is_silent = report.packets > 0 && meters.heard == before.heard;
        let rule = match self.spec {
            BreakerSpec::Transport {
                loss, intervals, ..
            } => {
                let is_too_much = report.packets > 0 && report.loss() >= loss.as_f64();
                self.row = if is_too_much { self.row + 1 } else { 0 };
                (self.row >= intervals).then_some(Rule::Loss)
            }
            BreakerSpec::Media {
                interval,
                unusable,
                framing,
            } => {
                self.row = if is_silent { self.row + 1 } else { 0 };
                let most = cb_interval(interval, rtt, framing);
                if !is_silent {
                    self.note(report, most); // otherwise there is no report
                }
                let enough = !is_silent && self.received > most;
                if self.row >= SILENT {
                    Some(Rule::Timeout)
                } else if enough && self.exceeds_tcp(interval, rtt) {
                    Some(Rule::Congestion)
                } else if enough && unusable.is_some_and(|most| self.loss() >= most.as_f64()) {
                    Some(Rule::Usability)
                } else {
                    None
                }
            }
        };
        self.due = match rule {
            Some(_) => Instant::NEVER,
            None => now + self.spec.interval(),
        };
        rule
    }

    /// Keeps the last `most` reports.
    fn note(&mut self, report: Report, most: usize) {
        if report.packets == 0 {
            self.reports.clear();
            self.received = 0;
            return;
        }
        self.received += 1;
        self.reports.push_back(report);
        while self.reports.len() > most {
            self.reports.pop_front();
        }
    }

    /// Mean loss of the reports.
    fn loss(&self) -> f64 {
        let losses = self.reports.iter().map(Report::loss);
        losses.sum::<f64>() / self.reports.len().max(1) as f64
    }

    /// Whether the sender has sent an order of magnitude more than TCP would (RFC 8083 section 4.3).
    fn exceeds_tcp(&self, interval: Duration, rtt: Duration) -> bool {
        let sum = |of: fn(&Report) -> u64| self.reports.iter().map(of).sum::<u64>() as f64;
        let (packets, bytes) = (sum(|report| report.packets), sum(|report| report.bytes));
        let time = interval.as_secs_f64() * self.reports.len() as f64;
        let Some(tcp) = tcp_rate(bytes / packets, rtt, self.loss()) else {
            return false;
        };
        8.0 * bytes / time > ORDER_OF_MAGNITUDE * tcp.as_bits_per_sec() as f64
    }
}

/// CB_INTERVAL (RFC 8083 section 4.3): over how many reports loss and rate are taken. Both ends report at the same interval.
fn cb_interval(interval: Duration, rtt: Duration, framing: Duration) -> usize {
    let [reports, rtt, framing] = [interval, rtt, framing].map(|time| time.as_secs_f64());
    let longest = (10.0 * framing).max(10.0 * rtt).max(3.0 * reports);
    let bounded = longest.min((3.0 * reports).max(15.0));
    (3.0 * bounded / (3.0 * reports)).ceil() as usize
}

/// What TCP sends with packets of `size` bytes at this loss, one packet for each acknowledgement (RFC 8083 section 4.3);
/// none without loss.
fn tcp_rate(size: f64, rtt: Duration, loss: f64) -> Option<Rate> {
    let time = rtt.as_secs_f64() * libm::sqrt(2.0 * loss / 3.0);
    (time > 0.0).then(|| Rate::from_bits_per_sec((8.0 * size / time) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Fraction};

    const RTT: Duration = Duration::from_millis(100);

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    /// When and by what a breaker trips, second after second: packets of 1000 bytes sent, of these missing, and whether
    /// something was heard.
    fn trips(spec: BreakerSpec, seconds: &[(u64, u64, bool)]) -> Option<(u64, Rule)> {
        let mut breaker = Breaker::new(spec);
        breaker.begin(at(0));
        let mut meters = Meters::default();
        for (second, (sent, missing, heard)) in (1..).zip(seconds) {
            meters.sent.packets += sent;
            meters.sent.bytes += Bytes::new(1000 * sent);
            meters.missing += missing;
            meters.heard += u64::from(*heard);
            assert_eq!(breaker.next(), at(second));
            if let Some(rule) = breaker.look(at(second), meters, RTT) {
                assert_eq!(breaker.next(), Instant::NEVER);
                return Some((second, rule));
            }
        }
        None
    }

    fn transport() -> BreakerSpec {
        BreakerSpec::Transport {
            loss: Fraction::from_f64(0.1),
            interval: Duration::from_secs(1),
            intervals: 3,
        }
    }

    fn media(unusable: Option<Fraction>) -> BreakerSpec {
        BreakerSpec::Media {
            interval: Duration::from_secs(1),
            unusable,
            framing: Duration::from_millis(33),
        }
    }

    #[test]
    fn too_much_loss_in_three_intervals_in_a_row_trips_and_in_three_of_four_does_not() {
        // RFC 8084 section 4.
        let bad = (100, 10, true);
        assert_eq!(trips(transport(), &[bad, bad, bad]), Some((3, Rule::Loss)));
        for better in [(100, 9, true), (0, 0, true)] {
            let seconds = [bad, bad, better, bad, bad];
            assert_eq!(trips(transport(), &seconds), None);
            let seconds = [bad, bad, better, bad, bad, bad, bad];
            assert_eq!(trips(transport(), &seconds), Some((6, Rule::Loss)));
        }
    }

    #[test]
    fn a_sender_that_hears_nothing_for_three_intervals_trips_and_one_that_sends_nothing_does_not() {
        // RFC 8083 section 4.1.
        let silent = (100, 0, false);
        let seconds = [(100, 0, true), silent, silent, silent];
        assert_eq!(trips(media(None), &seconds), Some((4, Rule::Timeout)));
        assert_eq!(trips(media(None), &[(0, 0, false); 9]), None);
    }

    #[test]
    fn a_sender_above_ten_times_the_rate_of_tcp_trips_and_one_below_does_not() {
        // RFC 8083 section 4.3: packets of 8000 bits, 100 ms and 6 % are 8000 / (0.1 * 0.2) = 400 kbps, ten times that 4 Mbps or
        // 500 packets a second. Reports every second: CB_INTERVAL is ceil(3 * min(max(0.33, 1, 3), 15) / 3) = 3, and more than
        // three must have come.
        assert_eq!(trips(media(None), &[(450, 27, true); 9]), None);
        let above = (550, 33, true);
        assert_eq!(trips(media(None), &[above; 4]), Some((4, Rule::Congestion)));
        // A report without loss counts in the mean: 4 % over three are 490 kbps, more than a tenth of 4.4 Mbps; and of 5.6 not.
        let seconds = |sent, lost| {
            let lossy = (sent, lost, true);
            [lossy, lossy, (sent, 0, true), lossy, lossy]
        };
        assert_eq!(trips(media(None), &seconds(550, 33)), None);
        let second = Some((4, Rule::Congestion));
        assert_eq!(trips(media(None), &seconds(700, 42)), second);
        // One in which nothing is sent begins them anew.
        let seconds = [above, above, (0, 0, true), above, above, above];
        assert_eq!(trips(media(None), &seconds), None);
    }

    #[test]
    fn media_that_cannot_be_used_trips_where_the_application_says_so() {
        // RFC 8083 section 4.4.
        let bad = (10, 3, true);
        assert_eq!(trips(media(None), &[bad; 9]), None);
        let unusable = Some(Fraction::from_f64(0.3));
        assert_eq!(
            trips(media(unusable), &[bad; 9]),
            Some((4, Rule::Usability))
        );
        assert_eq!(trips(media(unusable), &[(10, 2, true); 9]), None);
    }

    #[test]
    fn the_number_of_reports_follows_the_slowest_of_framing_rtt_and_reports() {
        // ceil(3 * min(max(10 G Tf, 10 Tr, 3 Tdr), max(15, 3 Td)) / (3 Tdr))
        let count = |interval: f64, rtt: f64, framing: f64| {
            let time = |seconds: f64| Duration::from_nanos((seconds * 1e9) as u64);
            cb_interval(time(interval), time(rtt), time(framing))
        };
        assert_eq!(count(5.0, 0.1, 0.033), 3);
        assert_eq!(count(0.5, 0.1, 0.033), 3);
        // 10 * 0.6 = 6 s are 12 reports of half a second; 10 * 2 = 20 s are cut to 15, which are 30.
        assert_eq!(count(0.5, 0.6, 0.033), 12);
        assert_eq!(count(0.5, 0.1, 2.0), 30);
    }
}
