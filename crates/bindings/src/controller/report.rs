//! Reports: what happened since the last one, for controllers that need not hear of every ACK (the shape that CCP has,
//! Narayan et al., "Restructuring Endpoint Congestion Control", SIGCOMM 2018). Sums are kept without the interpreter.

use pyo3::prelude::*;
use thalweg_control::Context;
use thalweg_control::event;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// How often a controller wants a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Every {
    /// In smoothed round-trip times.
    Rtts(f64),
    /// In time.
    Time(Duration),
}

impl Every {
    /// Reads "1 rtt", "0.5 rtt" or "10 ms".
    pub(super) fn read(text: &str) -> Result<Every, String> {
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

    fn span(self, cx: &Context<'_>) -> Duration {
        match self {
            Every::Rtts(number) => {
                Duration::from_secs_f64(cx.path.smoothed_rtt.as_secs_f64() * number)
            }
            Every::Time(time) => time,
        }
    }
}

/// Sums since the last report.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    delivered: Bytes,
    sent: Bytes,
    lost: Bytes,
    timeouts: u32,
    samples: u32,
    rtts: Duration,
    min_rtt: Option<Duration>,
    max_rtt: Option<Duration>,
    max_rate: Rate,
    app_limited: bool,
}

/// Sums up events, and says when a report is due.
pub(super) struct Reporter {
    every: Every,
    since: Instant,
    marked: u64,
    sums: Sums,
}

impl Reporter {
    pub(super) fn new(every: Every, now: Instant) -> Self {
        Reporter {
            every,
            since: now,
            marked: 0,
            sums: Sums::default(),
        }
    }

    pub(super) fn on_sent(&mut self, event: &event::Sent) {
        self.sums.sent += event.size;
    }

    pub(super) fn on_lost(&mut self, event: &event::Lost) {
        self.sums.lost += event.size;
    }

    pub(super) fn on_timeout(&mut self) {
        self.sums.timeouts += 1;
    }

    pub(super) fn on_rtt(&mut self, event: &event::RttSample) {
        let (sums, rtt) = (&mut self.sums, event.rtt);
        sums.samples += 1;
        sums.rtts += rtt;
        sums.min_rtt = Some(sums.min_rtt.map_or(rtt, |least| least.min(rtt)));
        sums.max_rtt = Some(sums.max_rtt.map_or(rtt, |most| most.max(rtt)));
    }

    pub(super) fn on_ack(&mut self, event: &event::Ack) {
        self.sums.delivered += event.newly_acked;
        self.sums.app_limited |= event.snapshot.app_limited;
        if let Some(sample) = &event.rate {
            self.sums.max_rate = self.sums.max_rate.max(sample.rate);
        }
    }

    /// The report that is due now, if one is.
    pub(super) fn due(&mut self, cx: &Context<'_>) -> Option<Report> {
        let elapsed = cx.now.since(self.since);
        if elapsed < self.every.span(cx) || elapsed.is_zero() {
            return None;
        }
        let ce = cx.path.ecn.ce;
        let report = Report {
            elapsed,
            marked: ce.saturating_sub(self.marked),
            sums: self.sums,
        };
        self.since = cx.now;
        self.marked = ce;
        self.sums = Sums::default();
        Some(report)
    }
}

/// What happened since the last report.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Report {
    elapsed: Duration,
    marked: u64,
    sums: Sums,
}

#[pymethods]
impl Report {
    #[getter]
    fn elapsed(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.sums.delivered.as_u64()
    }
    #[getter]
    fn sent(&self) -> u64 {
        self.sums.sent.as_u64()
    }
    #[getter]
    fn lost(&self) -> u64 {
        self.sums.lost.as_u64()
    }
    #[getter]
    fn marked(&self) -> u64 {
        self.marked
    }
    #[getter]
    fn timeouts(&self) -> u32 {
        self.sums.timeouts
    }
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.sums.min_rtt.map(Duration::as_secs_f64)
    }
    #[getter]
    fn mean_rtt(&self) -> Option<f64> {
        let samples = f64::from(self.sums.samples);
        (samples > 0.0).then(|| self.sums.rtts.as_secs_f64() / samples)
    }
    #[getter]
    fn max_rtt(&self) -> Option<f64> {
        self.sums.max_rtt.map(Duration::as_secs_f64)
    }
    #[getter]
    fn delivery_rate(&self) -> f64 {
        Rate::over(self.sums.delivered, self.elapsed).as_bits_per_sec() as f64
    }
    #[getter]
    fn send_rate(&self) -> f64 {
        Rate::over(self.sums.sent, self.elapsed).as_bits_per_sec() as f64
    }
    #[getter]
    fn max_delivery_rate(&self) -> f64 {
        self.sums.max_rate.as_bits_per_sec() as f64
    }
    #[getter]
    fn app_limited(&self) -> bool {
        self.sums.app_limited
    }
}
