//! Capacity from a delivery trace, as recorded and replayed by Mahimahi (Netravali et al. 2015; Winstein
//! et al. 2013, from whose Saturator the format comes).
//!
//! # Format
//! One whole number a line: the millisecond of an opportunity to deliver 1500 bytes. Numbers do not
//! decrease; equal lines are several opportunities. The trace repeats with its last number as period.
//!
//! # Model
//! An opportunity at `t` is capacity for 1500 bytes, in the last microsecond before `t`. Compared with
//! `mm-link` (`link_queue.cc`):
//! - an opportunity that finds an empty queue is lost, and so is the rest of one when the queue runs empty;
//! - a waiting packet of 1500 bytes is sent at `t`; one that arrives at `t` or later is too late for it;
//! - the next packet uses the rest of an opportunity, and a packet that does not fit is
//!   continued in the next opportunity;
//! - packets that share the opportunities of a millisecond are sent one after the other within that last
//!   microsecond, where `mm-link` releases all of them at `t`;
//! - `mm-link` gives an opportunity 1504 bytes, its limit for packets of the TUN device, where the format
//!   says 1500, and refuses larger packets. A link has no such limit.
//!
//! An opportunity at millisecond 0 comes once per period, together with the last one: `mm-link` also offers it
//! at the very start, where nothing can use it.
//!
//! # Limits
//! The resolution is the one of the format, a millisecond.

use super::period::Period;
use crate::transmission_time::NANOBITS_PER_BYTE;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use thalweg_random::Fnv1a;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Bytes of an opportunity.
const OPPORTUNITY: Bytes = Bytes::new(1500);
/// Its duration.
const BLINK: Duration = Duration::from_micros(1);
/// The capacity during that time: 1500 bytes in a microsecond.
const BLINK_RATE: u64 = 12_000_000_000;
/// Longest trace: 30 years of milliseconds.
const LONGEST: u64 = 1_000_000_000_000;

/// A delivery trace, checked and ready. Copies share their content.
#[derive(Clone, PartialEq)]
pub struct DeliveryTrace(Arc<Content>);

#[derive(PartialEq)]
struct Content {
    /// In order of time; the last one ends the period.
    blinks: Vec<Blink>,
    period: Period,
    mean: Rate,
}

/// The opportunities of one millisecond.
#[derive(Clone, Copy, PartialEq)]
struct Blink {
    end: Duration,
    count: u64,
    /// Opportunities of the period before them.
    before: u64,
}

/// A stretch of a trace: gap and blink in turn, so that blink `i` has number `2 i + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    number: usize,
    /// Start of the period.
    cycle: Instant,
}

/// Why a text is not a delivery trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {}; accepted: one whole number of milliseconds a line, from 0 to {LONGEST}, none \
             less than the one before, the last one above 0",
            self.line, self.problem
        )
    }
}
impl std::error::Error for TraceError {}

impl fmt::Debug for DeliveryTrace {
    /// A line that two different traces do not share: a store of trials knows them by it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.0.blinks.iter().fold(Fnv1a::EMPTY, |hash, blink| {
            let hash = hash.and(&blink.end.as_nanos().to_le_bytes());
            hash.and(&blink.count.to_le_bytes())
        });
        write!(
            f,
            "DeliveryTrace({} in {}, {:016x})",
            self.opportunities(),
            self.period(),
            digest.value()
        )
    }
}

impl FromStr for DeliveryTrace {
    type Err = TraceError;

    /// Parses a trace. Blanks around a number and `\r` at the end of a line are accepted.
    fn from_str(text: &str) -> Result<Self, TraceError> {
        let mut blinks: Vec<Blink> = Vec::new();
        let (mut opportunities, mut first, mut line) = (0, 0, 0);
        for (index, content) in text.lines().enumerate() {
            line = index + 1;
            let fail = |problem: String| TraceError { line, problem };
            let content = content.trim();
            if content.is_empty() {
                return Err(fail("is empty".to_owned()));
            }
            let ms = content
                .parse::<u64>()
                .ok()
                .filter(|ms| *ms <= LONGEST && !content.starts_with('+'))
                .ok_or_else(|| fail(format!("\"{content}\" is not a time")))?;
            let end = Duration::from_millis(ms);
            opportunities += 1;
            match blinks.last_mut() {
                Some(last) if end < last.end => {
                    let before = last.end.as_millis();
                    return Err(fail(format!("{ms} comes after {before}")));
                }
                Some(last) if end == last.end => last.count += 1,
                _ if ms == 0 => first += 1,
                _ => blinks.push(Blink {
                    end,
                    count: 1,
                    before: opportunities - 1 - first,
                }),
            }
        }
        let Some(last) = blinks.last_mut() else {
            let problem = if first > 0 {
                "the trace has no duration".to_owned()
            } else {
                "there is no line".to_owned()
            };
            return Err(TraceError {
                line: line.max(1),
                problem,
            });
        };
        last.count += first;
        let length = last.end;
        let period = Period {
            length,
            work: u128::from(OPPORTUNITY.as_u64())
                * u128::from(NANOBITS_PER_BYTE)
                * u128::from(opportunities),
            active: BLINK * blinks.len() as u64,
        };
        let mean = Rate::over(OPPORTUNITY * opportunities, length);
        Ok(DeliveryTrace(Arc::new(Content {
            blinks,
            period,
            mean,
        })))
    }
}

impl DeliveryTrace {
    /// Number of opportunities in a period.
    pub fn opportunities(&self) -> u64 {
        self.0.blinks.iter().map(|blink| blink.count).sum()
    }

    /// Period of the trace.
    pub fn period(&self) -> Duration {
        self.0.period.length
    }

    /// Mean capacity over a period.
    pub fn mean_rate(&self) -> Rate {
        self.0.mean
    }

    /// Largest capacity at any time: the capacity of the millisecond with the most opportunities.
    pub fn largest_rate(&self) -> Rate {
        let most = self.0.blinks.iter().map(|blink| blink.count).max();
        Rate::from_bits_per_sec(BLINK_RATE.saturating_mul(most.unwrap_or(0)))
    }

    pub(super) fn whole(&self) -> Period {
        self.0.period
    }

    /// The stretch that holds at `at`.
    pub(super) fn slot_at(&self, at: Instant) -> Slot {
        let offset = Duration::from_nanos(at.as_nanos() % self.period().as_nanos());
        let blink = self.0.blinks.partition_point(|blink| blink.end <= offset);
        // The last blink ends the period: there is one that ends after the offset.
        let lit = self
            .0
            .blinks
            .get(blink)
            .is_some_and(|blink| offset + BLINK >= blink.end);
        Slot {
            number: 2 * blink + usize::from(lit),
            cycle: at - offset,
        }
    }

    /// The stretch after this one.
    pub(super) fn after(&self, slot: Slot) -> Slot {
        if slot.number + 1 < 2 * self.0.blinks.len() {
            Slot {
                number: slot.number + 1,
                ..slot
            }
        } else {
            Slot {
                number: 0,
                cycle: slot.cycle + self.period(),
            }
        }
    }

    /// When the stretch ends.
    pub(super) fn end(&self, slot: Slot) -> Instant {
        let end = slot.cycle + self.0.blinks[slot.number / 2].end;
        if slot.is_gap() { end - BLINK } else { end }
    }

    /// How long the opportunities from `at` on take to carry `work` nanobits, if nothing else is carried: what `Course::depart`
    /// finds stretch by stretch. A trace asks at each event; so, with 2000 packets waiting, it took seven times as long.
    pub(super) fn time_to_carry(&self, at: Instant, work: u128) -> Duration {
        if work == 0 {
            return Duration::ZERO;
        }
        let whole = self.whole();
        let opportunity = whole.work / u128::from(self.opportunities());
        let Slot { number, cycle } = self.slot_at(at);
        let now = &self.0.blinks[number / 2];
        let rate = |blink: &Blink| u128::from(BLINK_RATE) * u128::from(blink.count);
        let lit = match number.is_multiple_of(2) {
            true => Duration::ZERO,
            false => at - (cycle + now.end - BLINK),
        };
        // What the period has offered by then.
        let until_now =
            u128::from(now.before) * opportunity + rate(now) * u128::from(lit.as_nanos());
        let target = until_now + work;
        let periods = (target - 1) / whole.work;
        let rest = target - periods * whole.work;
        let last = self
            .0
            .blinks
            .partition_point(|blink| u128::from(blink.before + blink.count) * opportunity < rest);
        let Some(last) = self.0.blinks.get(last) else {
            return Duration::MAX; // the periods hold all work
        };
        let missing = rest - u128::from(last.before) * opportunity;
        let nanos = missing.div_ceil(rate(last)) as u64;
        let Ok(periods) = u64::try_from(periods) else {
            return Duration::MAX;
        };
        let begin = cycle + whole.length * periods + last.end - BLINK;
        begin + Duration::from_nanos(nanos) - at
    }

    /// Capacity during the stretch.
    pub(super) fn rate(&self, slot: Slot) -> Rate {
        if slot.is_gap() {
            Rate::ZERO
        } else {
            let count = self.0.blinks[slot.number / 2].count;
            Rate::from_bits_per_sec(BLINK_RATE.saturating_mul(count))
        }
    }
}

impl Slot {
    pub(super) fn is_gap(self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// When the period started, if this is its first stretch.
    pub(super) fn cycle_start(self) -> Option<Instant> {
        (self.number == 0).then_some(self.cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapacitySchedule, LinkConfig};

    fn trace(text: &str) -> DeliveryTrace {
        text.parse().expect("a trace")
    }
    fn error(text: &str) -> TraceError {
        text.parse::<DeliveryTrace>().unwrap_err()
    }

    #[test]
    fn equal_lines_are_several_opportunities_and_the_last_line_is_the_period() {
        let trace = trace("1\n1\r\n 4 \n10\n10\n10\n");
        assert_eq!(trace.opportunities(), 6);
        assert_eq!(trace.period(), Duration::from_millis(10));
        // 6 * 12 000 bits in 10 ms.
        assert_eq!(trace.mean_rate(), Rate::from_bits_per_sec(7_200_000));
    }

    #[test]
    fn an_opportunity_at_zero_joins_the_last_one_of_the_period() {
        assert_eq!(trace("0\n5\n10\n"), trace("5\n10\n10\n"));
    }

    #[test]
    fn errors_name_the_line_and_the_accepted_form() {
        for (text, line, problem) in [
            ("", 1, "there is no line"),
            ("1\n\n2\n", 2, "is empty"),
            ("1\n2\nthree\n", 3, "\"three\" is not a time"),
            ("1\n-2\n", 2, "\"-2\" is not a time"),
            ("+1\n", 1, "\"+1\" is not a time"),
            ("1.5\n", 1, "\"1.5\" is not a time"),
            ("99999999999999999999\n", 1, "is not a time"),
            ("1\n1000000000001\n", 2, "is not a time"),
            ("1\n5\n4\n", 3, "4 comes after 5"),
            ("0\n0\n", 2, "the trace has no duration"),
        ] {
            let error = error(text);
            assert_eq!(error.line, line, "{text:?}");
            let printed = error.to_string();
            assert!(printed.contains(problem), "{printed}");
            assert!(printed.contains("one whole number of milliseconds a line"));
        }
    }

    #[test]
    fn walking_and_looking_up_find_the_same_stretches() {
        let trace = trace("1\n3\n3\n7\n");
        let mut slot = trace.slot_at(Instant::START);
        let mut seen = Vec::new();
        for _ in 0..8 {
            let end = trace.end(slot);
            seen.push((
                end.as_nanos() / 1000,
                trace.rate(slot).as_bits_per_sec() / 1_000_000_000,
            ));
            let next = trace.after(slot);
            assert_eq!(trace.slot_at(end), next);
            assert_eq!(trace.slot_at(end - Duration::from_nanos(1)), slot);
            slot = next;
        }
        // (end in us, Gbps): 1500 bytes in the microsecond before 1 ms, 3000 before 3 ms, ...
        let expected = [
            (999, 0),
            (1000, 12),
            (2999, 0),
            (3000, 24),
            (6999, 0),
            (7000, 12),
            (7999, 0),
            (8000, 12),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_time_to_carry_work_is_that_of_a_transmission_of_it() {
        let trace = trace("1\n3\n3\n7\n");
        let mut config = LinkConfig::new(Rate::ZERO, Duration::ZERO);
        config.trace = Some(trace.clone());
        let schedule = CapacitySchedule::new(&config);
        for at in [
            0, 1, 500_000, 999_000, 999_400, 1_000_000, 2_999_999, 6_999_500, 7_000_000, 20_000_001,
        ] {
            let at = Instant::from_nanos(at);
            for bytes in [1, 700, 1500, 1501, 3000, 6000, 6001, 12_000, 100_000] {
                let bytes = Bytes::new(bytes);
                let work = u128::from(bytes.as_u64()) * u128::from(NANOBITS_PER_BYTE);
                let sent = schedule.time_to_send(bytes, at).expect("it ends");
                assert_eq!(trace.time_to_carry(at, work), sent - at, "{bytes} at {at}");
            }
        }
        assert_eq!(trace.time_to_carry(Instant::START, 0), Duration::ZERO);
    }

    #[test]
    fn every_schedule_shares_the_content_of_its_trace() {
        let mut config = LinkConfig::new(Rate::ZERO, Duration::ZERO);
        config.trace = Some(trace("1\n"));
        let contents = [&config, &config.clone()].map(|config| {
            let trace = CapacitySchedule::new(config).trace;
            Arc::as_ptr(&trace.expect("the trace of the link").0)
        });
        assert_eq!(contents[0], contents[1]);
    }

    #[test]
    fn two_traces_of_one_length_and_count_are_told_apart_in_debug_too() {
        let text = |trace: &str| format!("{:?}", trace.parse::<DeliveryTrace>().expect("a trace"));
        assert_ne!(text("1\n2\n100\n"), text("50\n60\n100\n"));
        assert_eq!(text("1\n2\n100\n"), text("1\n2\n100\n"));
    }
}
