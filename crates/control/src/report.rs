//! Reports: what happened since the last one, for whoever need not hear of every ACK (the shape that CCP has, Narayan et
//! al., "Restructuring Endpoint Congestion Control", SIGCOMM 2018): controllers in Python, and flows that are steered from
//! outside of a trial.
//!
//! A [`Reporter`] is told the events of a controller and says when a report is due. The first one begins with the first
//! packet that leaves.

use crate::event::{Ack, Lost, RttSample, Sent};
use crate::{Context, PathState};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// How often a report is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// In smoothed round-trip times.
    Rtts(f64),
    /// In time.
    Time(Duration),
}

impl Every {
    /// Reads "1 rtt", "0.5 rtt" or "10 ms".
    ///
    /// # Errors
    /// The text, and the accepted forms.
    ///
    /// ```
    /// use thalweg_control::report::Every;
    ///
    /// assert_eq!(Every::read("0.5 rtt"), Ok(Every::Rtts(0.5)));
    /// assert!(Every::read("0 ms").unwrap_err().contains("accepted"));
    /// ```
    pub fn read(text: &str) -> Result<Every, String> {
        let rtts = text.trim().strip_suffix("rtt").map(str::trim);
        let rtts = rtts.and_then(|number| number.parse::<f64>().ok());
        let time = || text.parse::<Duration>().ok().map(Every::Time);
        let read = rtts.map(Every::Rtts).or_else(time);
        let is_positive = |every: &Every| match every {
            Every::Rtts(number) => number.is_finite() && *number > 0.0,
            Every::Time(time) => !time.is_zero(),
        };
        read.filter(is_positive)
            .ok_or_else(|| format!("\"{text}\"; accepted: \"1 rtt\" or a time such as \"10 ms\""))
    }

    /// How long that is on a path.
    pub fn span(self, path: &PathState) -> Duration {
        match self {
            Every::Rtts(number) => {
                Duration::from_secs_f64(path.smoothed_rtt.as_secs_f64() * number)
            }
            Every::Time(time) => time,
        }
    }
}

/// What happened since the last report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Time since then.
    pub elapsed: Duration,
    /// Bytes acknowledged.
    pub delivered: Bytes,
    /// Bytes sent.
    pub sent: Bytes,
    /// Bytes declared lost.
    pub lost: Bytes,
    /// Packets acknowledged with a CE mark.
    pub marked: u64,
    /// Probe timeouts.
    pub timeouts: u32,
    /// Round-trip time samples, and their sum.
    pub samples: u32,
    /// See [`Report::mean_rtt`].
    pub rtts: Duration,
    /// Smallest sample, if there was one.
    pub min_rtt: Option<Duration>,
    /// Largest sample, if there was one.
    pub max_rtt: Option<Duration>,
    /// Largest delivery-rate sample of one ACK; zero without one.
    pub max_rate: Rate,
    /// Whether any of the packets was sent application-limited.
    pub app_limited: bool,
}

impl Report {
    /// Mean of the round-trip time samples in seconds, if there were any.
    pub fn mean_rtt(&self) -> Option<f64> {
        let samples = f64::from(self.samples);
        (self.samples > 0).then(|| self.rtts.as_secs_f64() / samples)
    }

    /// Acknowledged bytes over the time since the last report.
    pub fn delivery_rate(&self) -> Rate {
        Rate::over(self.delivered, self.elapsed)
    }

    /// Sent bytes over the time since the last report.
    pub fn send_rate(&self) -> Rate {
        Rate::over(self.sent, self.elapsed)
    }
}

/// Sums up the events of one controller.
#[derive(Clone, Debug)]
pub struct Reporter {
    every: Every,
    /// When the last report was made, or the first packet left.
    since: Option<Instant>,
    /// When the last packet left or the last ACK came.
    last: Instant,
    /// Marks that reports have counted.
    marked: u64,
    sums: Report,
}

impl Reporter {
    /// One that has heard of nothing.
    pub fn new(every: Every) -> Self {
        Reporter {
            every,
            since: None,
            last: Instant::START,
            marked: 0,
            sums: Report::default(),
        }
    }

    /// A packet left.
    pub fn on_sent(&mut self, event: &Sent, now: Instant) {
        self.since.get_or_insert(now);
        self.last = now;
        self.sums.sent += event.size;
    }

    /// A packet was declared lost.
    pub fn on_lost(&mut self, event: &Lost) {
        self.sums.lost += event.size;
    }

    /// A probe timeout fired.
    pub fn on_timeout(&mut self) {
        self.sums.timeouts += 1;
    }

    /// A new round-trip time sample.
    pub fn on_rtt(&mut self, event: &RttSample) {
        let (sums, rtt) = (&mut self.sums, event.rtt);
        sums.samples += 1;
        sums.rtts += rtt;
        sums.min_rtt = Some(sums.min_rtt.map_or(rtt, |least| least.min(rtt)));
        sums.max_rtt = Some(sums.max_rtt.map_or(rtt, |most| most.max(rtt)));
    }

    /// An ACK frame acknowledged packets.
    pub fn on_ack(&mut self, event: &Ack, now: Instant) {
        self.last = now;
        self.sums.delivered += event.newly_acked;
        self.sums.app_limited |= event.snapshot.app_limited;
        if let Some(sample) = &event.rate {
            self.sums.max_rate = self.sums.max_rate.max(sample.rate);
        }
    }

    /// The report that is due now, if one is: to ask for after an ACK or a timeout.
    pub fn due(&mut self, cx: &Context<'_>) -> Option<Report> {
        let elapsed = cx.now.since(self.since?);
        if elapsed < self.every.span(cx.path) || elapsed.is_zero() {
            return None;
        }
        let report = Report {
            elapsed,
            ..self.so_far(cx.path)
        };
        self.since = Some(cx.now);
        self.marked = cx.path.ecn.ce;
        self.sums = Report::default();
        Some(report)
    }

    /// What happened since the last report until the last packet left or the last ACK came: after the end of a connection,
    /// time goes on without it.
    pub fn so_far(&self, path: &PathState) -> Report {
        let last = self.last;
        Report {
            elapsed: (self.since).map_or(Duration::ZERO, |since| last.since(since)),
            marked: path.ecn.ce.saturating_sub(self.marked),
            ..self.sums
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use rand_core::SeedableRng as _;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    fn due(reporter: &mut Reporter, ms: u64, ce: u64) -> Option<Report> {
        let mut path = PathState::new(Bytes::new(1440), Instant::START);
        path.ecn.ce = ce;
        let mut rng = Rng::seed_from_u64(1);
        reporter.due(&Context {
            now: at(ms),
            path: &path,
            rng: &mut rng,
        })
    }

    #[test]
    fn the_first_report_counts_from_the_first_packet_and_each_sum_is_reported_once() {
        let mut reporter = Reporter::new(Every::Time(Duration::from_millis(10)));
        assert_eq!(due(&mut reporter, 5000, 0), None, "nothing has been sent");
        let sent = Sent {
            packet: 0,
            size: Bytes::new(1000),
            prior_in_flight: Bytes::ZERO,
            was_idle: true,
        };
        reporter.on_sent(&sent, at(5000));
        assert_eq!(due(&mut reporter, 5009, 0), None);
        let first = due(&mut reporter, 5010, 3).unwrap();
        assert_eq!((first.sent, first.marked), (Bytes::new(1000), 3));
        // 1000 bytes in 10 ms are 800 kbps.
        assert_eq!(first.send_rate(), Rate::from_bits_per_sec(800_000));
        let second = due(&mut reporter, 5025, 4).unwrap();
        assert_eq!((second.sent, second.marked), (Bytes::ZERO, 1));
        assert_eq!(second.elapsed, Duration::from_millis(15));
    }

    #[test]
    fn the_mean_of_samples_is_known_if_there_were_any() {
        let report = |samples, ms| Report {
            samples,
            rtts: Duration::from_millis(ms),
            ..Report::default()
        };
        assert_eq!(report(0, 0).mean_rtt(), None);
        assert_eq!(report(4, 100).mean_rtt(), Some(0.025));
    }
}
