//! Delivery traces: capacity as it was measured, in the format of Mahimahi (Netravali et al., USENIX ATC 2015).
//!
//! # Format
//! A text with a time in whole milliseconds on each line, never falling. Each line is an opportunity to deliver
//! 1500 bytes at that time; several lines with one time are several opportunities. The trace repeats, and its last
//! time is the length of the period.
//!
//! # Model
//! `mm-link` hands over up to 1500 bytes at the instant of an opportunity; what it does not use is lost. Here the
//! opportunities of time `t` are capacity during the millisecond that ends at `t`: `n` of them are `n` times 12 Mbps
//! then, and none is a suspension. A full packet that waits leaves at the same time as in `mm-link`, what
//! an empty queue does not use is lost in both, and a packet that comes within that millisecond may use the rest
//! of it, where `mm-link` would let it wait or fit it into the opportunity: the difference is at most 1 ms.
//! Opportunities at time 0 count for the first millisecond.

use thalweg_units::{Bytes, Duration, Rate};

const OPPORTUNITY: u64 = 1500;
const MILLISECOND: Duration = Duration::from_millis(1);
/// A day: no trace is longer, and a typing mistake is caught.
const LONGEST: u64 = 86_400_000;

/// Capacity as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryTrace {
    /// Milliseconds with opportunities, counted by their end, and how many; ascending.
    opportunities: Vec<(u64, u64)>,
    period: u64,
}

/// Why a text is no delivery trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DeliveryTraceError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and the accepted forms.
    pub problem: String,
}

impl DeliveryTrace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is not a time, or that is earlier than the one before; a trace without a line, or
    /// whose last time is 0.
    pub fn parse(text: &str) -> Result<Self, DeliveryTraceError> {
        let mut opportunities: Vec<(u64, u64)> = Vec::new();
        let mut last = 0;
        let mut lines = 0;
        for (index, line) in text.lines().enumerate() {
            let fail = |problem: String| DeliveryTraceError {
                line: index + 1,
                problem,
            };
            lines = index + 1;
            let word = line.trim();
            if word.is_empty() {
                continue;
            }
            let accepted = "accepted: a time in whole milliseconds, such as 17";
            let Some(time) = word.parse::<u64>().ok().filter(|t| *t <= LONGEST) else {
                return Err(fail(format!("\"{word}\" is no time; {accepted}")));
            };
            if time < last {
                let problem =
                    format!("{time} is before {last} on the line above; accepted: rising times");
                return Err(fail(problem));
            }
            last = time;
            let end = time.max(1);
            match opportunities.last_mut() {
                Some((known, count)) if *known == end => *count += 1,
                _ => opportunities.push((end, 1)),
            }
        }
        if last == 0 {
            let problem =
                "the trace ends at 0 ms and has no period; accepted: at least one later time";
            return Err(DeliveryTraceError {
                line: lines.max(1),
                problem: problem.into(),
            });
        }
        Ok(DeliveryTrace {
            opportunities,
            period: last,
        })
    }

    /// After this time it begins again.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period)
    }

    /// Mean capacity.
    pub fn mean_rate(&self) -> Rate {
        let count: u64 = self.opportunities.iter().map(|(_, count)| count).sum();
        Rate::over(Bytes::new(count * OPPORTUNITY), self.period())
    }

    /// Stretches of equal capacity of one period: start and rate. The first starts at zero.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (Duration, Rate)> + '_ {
        let mut segments: Vec<(Duration, Rate)> = Vec::new();
        let mut push = |start: Duration, rate: Rate| match segments.last() {
            Some((_, before)) if *before == rate => {}
            _ => segments.push((start, rate)),
        };
        let mut done = 0;
        for &(end, count) in &self.opportunities {
            if end - 1 > done || done == 0 && end > 1 {
                push(Duration::from_millis(done), Rate::ZERO);
            }
            let rate = Rate::over(Bytes::new(count * OPPORTUNITY), MILLISECOND);
            push(Duration::from_millis(end - 1), rate);
            done = end;
        }
        segments.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapacitySchedule, LinkConfig};
    use std::sync::Arc;
    use thalweg_units::Instant;

    fn schedule(text: &str) -> CapacitySchedule {
        let trace = DeliveryTrace::parse(text).expect("a trace");
        let mut config = LinkConfig::new(Rate::ZERO, Duration::from_millis(5));
        config.trace = Some(Arc::new(trace));
        CapacitySchedule::new(&config)
    }

    fn ms(at: u64) -> Instant {
        Instant::START + Duration::from_millis(at)
    }

    #[test]
    fn a_full_packet_that_waits_leaves_at_the_time_of_its_opportunity() {
        let schedule = schedule("3\n3\n7\n10\n");
        let leaves = |packets: u64| {
            let end = schedule.time_to_send(Bytes::new(1500 * packets), Instant::START);
            end.map_or(0, |at| (at - Instant::START).as_micros())
        };
        // Two opportunities at 3 ms share the millisecond from 2 to 3; the period of 10 ms begins again.
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(leaves),
            [2_500, 3_000, 7_000, 10_000, 12_500, 13_000]
        );
    }

    #[test]
    fn each_period_carries_what_its_lines_say() {
        let schedule = schedule("0\n1\n5\n5\n5\n20\n");
        // Six lines of 1500 bytes; that of 0 ms counts for the first millisecond.
        assert_eq!(schedule.bytes_between(ms(0), ms(20)), Bytes::new(9_000));
        assert_eq!(schedule.bytes_between(ms(0), ms(1)), Bytes::new(3_000));
        assert_eq!(schedule.bytes_between(ms(20), ms(60)), Bytes::new(18_000));
        let trace = DeliveryTrace::parse("0\n1\n5\n5\n5\n20\n").expect("a trace");
        // 9000 bytes in 20 ms.
        assert_eq!(trace.mean_rate(), Rate::from_bits_per_sec(3_600_000));
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        let refused = ["1\n2\nx\n", "5\n4\n", "", "0\n0\n", "1.5\n", "-1\n"].map(|text| {
            DeliveryTrace::parse(text)
                .expect_err("no trace")
                .to_string()
        });
        insta::assert_snapshot!(refused.join("\n"), @r#"
        line 3: "x" is no time; accepted: a time in whole milliseconds, such as 17
        line 2: 4 is before 5 on the line above; accepted: rising times
        line 1: the trace ends at 0 ms and has no period; accepted: at least one later time
        line 2: the trace ends at 0 ms and has no period; accepted: at least one later time
        line 1: "1.5" is no time; accepted: a time in whole milliseconds, such as 17
        line 1: "-1" is no time; accepted: a time in whole milliseconds, such as 17
        "#);
    }
}
