//! Measured jitter: a series of delays over time, replayed.
//!
//! # Format
//! A text with two whole numbers of microseconds on each line: a time, later than the one above, and the extra
//! delay of a packet that leaves at this time. The trace repeats, and its last time is the length of the period.
//!
//! # Model
//! The delay of a packet is the delay of its time, interpolated between the two neighbours in the trace; before the
//! first time it is the first delay. Interpolation reproduces an in-order link: after a spike, the
//! delayed probes arrive at one instant, so their delays fall as fast as time passes, and a
//! packet between two of them also arrives at that instant. A trace from such a link is replayed exactly,
//! at any packet rate: the order of arrival in the trace is the order of arrival of everything between.
//!
//! # Limits
//! Nothing is random: every trial has the same delays at the same times. Variations shorter
//! than the interval between probes are missing. A trace covers one direction of one network under
//! the traffic of the probe; heavy traffic might have had other delays.

use std::fmt;
use std::sync::Arc;
use thalweg_units::{Duration, Instant};

/// Longest trace, a day; catches typing mistakes.
const LONGEST: u64 = 86_400_000_000;
const ACCEPTED: &str =
    "accepted: two whole numbers of microseconds, a time and a delay, such as 20000 1350";

/// Delays over time, as they were measured.
#[derive(Debug, PartialEq, Eq)]
pub struct JitterTrace {
    /// Times, counted from the start of the period, and delays; at least two, times rise.
    points: Vec<(Duration, Duration)>,
}

/// Why a text is not a trace of jitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JitterTraceError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and the accepted forms.
    pub problem: String,
}

impl fmt::Display for JitterTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for JitterTraceError {}

impl JitterTrace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is not a time and a delay, or that is not later than the one before; a trace of
    /// fewer than two lines.
    pub fn parse(text: &str) -> Result<Arc<Self>, JitterTraceError> {
        let mut points: Vec<(Duration, Duration)> = Vec::new();
        let mut lines = 0;
        for (index, line) in text.lines().enumerate() {
            lines = index + 1;
            let fail = |problem: String| JitterTraceError {
                line: lines,
                problem,
            };
            if line.trim().is_empty() {
                continue;
            }
            let mut numbers = line.split_whitespace().map(|word| {
                let number = word.parse::<u64>().ok();
                number.filter(|n| *n <= LONGEST).map(Duration::from_micros)
            });
            let point = match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Some(time)), Some(Some(delay)), None) => (time, delay),
                _ => {
                    let line: String = line.trim().chars().take(40).collect();
                    return Err(fail(format!(
                        "\"{line}\" is not a time and a delay; {ACCEPTED}"
                    )));
                }
            };
            if let Some((before, _)) = points.last().filter(|(before, _)| *before >= point.0) {
                let problem = format!("{} is not after {before}; accepted: rising times", point.0);
                return Err(fail(problem));
            }
            points.push(point);
        }
        if points.len() < 2 {
            return Err(JitterTraceError {
                line: lines.max(1),
                problem: format!("a trace has at least two lines; {ACCEPTED}"),
            });
        }
        Ok(Arc::new(JitterTrace { points }))
    }

    /// Period of the trace.
    pub fn period(&self) -> Duration {
        self.points.last().map_or(Duration::ZERO, |last| last.0)
    }

    /// Mean over time.
    pub fn mean(&self) -> Duration {
        let first = self.points[0];
        // Twice the area under the broken line, in square nanoseconds.
        let mut area = 2 * u128::from(first.0.as_nanos()) * u128::from(first.1.as_nanos());
        for pair in self.points.windows(2) {
            let [(from, a), (to, b)] = [pair[0], pair[1]];
            area += u128::from((to - from).as_nanos()) * u128::from((a + b).as_nanos());
        }
        let mean = area / (2 * u128::from(self.period().as_nanos()));
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The delay of a packet that leaves at this time.
    pub(crate) fn delay_at(&self, at: Instant) -> Duration {
        let time = Duration::from_nanos(at.as_nanos() % self.period().as_nanos());
        let next = self.points.partition_point(|(known, _)| *known <= time);
        let Some(&(from, a)) = next.checked_sub(1).and_then(|i| self.points.get(i)) else {
            return self.points[0].1;
        };
        // There is a next point: the last time is the period, which no remainder reaches.
        let Some(&(to, b)) = self.points.get(next) else {
            return a;
        };
        if b >= a {
            a + (b - a).mul_div((time - from).as_nanos(), (to - from).as_nanos())
        } else {
            a - (a - b).mul_div((time - from).as_nanos(), (to - from).as_nanos())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    #[test]
    fn delays_are_interpolated_and_the_trace_repeats() {
        let trace = JitterTrace::parse("0 2000\n20000 100000\n40000 80000\n60000 2000\n").unwrap();
        let delay = |at| trace.delay_at(ms(at)).as_micros();
        assert_eq!(delay(0), 2_000);
        assert_eq!(delay(10), 51_000); // half way from 2 to 100 ms
        assert_eq!(delay(20), 100_000);
        assert_eq!(delay(25), 95_000); // a quarter of the way from 100 to 80 ms
        assert_eq!(delay(60), 2_000); // the first delay again
        assert_eq!(delay(70), 51_000);
        // (51 * 20 + 90 * 20 + 41 * 20) ms^2 / 60 ms = 60.667 ms
        assert_eq!(trace.mean().as_nanos(), 60_666_666);
    }

    #[test]
    fn before_the_first_time_the_first_delay_holds() {
        let trace = JitterTrace::parse("10000 5000\n20000 7000").unwrap();
        assert_eq!(trace.delay_at(ms(0)).as_micros(), 5_000);
        assert_eq!(trace.delay_at(ms(23)).as_micros(), 5_000);
        assert_eq!(trace.delay_at(ms(15)).as_micros(), 6_000);
        // (5 * 10 + 6 * 10) / 20
        assert_eq!(trace.mean().as_micros(), 5_500);
    }

    #[test]
    fn what_was_released_at_one_instant_is_released_at_that_instant_again() {
        // Probes at 0, 20, 40 ms with 100, 80, 60 ms: all arrive at 100 ms. So does everything between.
        let trace = JitterTrace::parse("0 100000\n20000 80000\n40000 60000").unwrap();
        for micros in (0..40_000).step_by(37) {
            let at = Instant::START + Duration::from_micros(micros);
            let arrival = at + trace.delay_at(at);
            // Interpolation rounds the fall of the delay down to a nanosecond.
            assert!(
                [0, 1].contains(&arrival.since(ms(100)).as_nanos()),
                "{micros}"
            );
            assert!(arrival >= ms(100), "{micros}");
        }
    }

    #[test]
    fn a_refusal_names_the_line_and_what_is_accepted() {
        for (text, line, says) in [
            ("0 1\n5 x\n", 2, "\"5 x\" is not a time and a delay"),
            ("0 1\n5\n", 2, "is not a time and a delay"),
            ("0 1\n5 6 7\n", 2, "is not a time and a delay"),
            ("0 1\n\n0 2\n", 3, "0 ns is not after 0 ns"),
            ("0 1\n", 1, "at least two lines"),
            ("", 1, "at least two lines"),
            ("0 1\n-5 2\n", 2, "is not a time and a delay"),
            ("0 1\n90000000000 2\n", 2, "is not a time and a delay"),
        ] {
            let error = JitterTrace::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}");
            assert!(error.problem.contains(says), "{text:?}: {}", error.problem);
            assert!(error.problem.contains("accepted: "), "{text:?}");
        }
    }
}
