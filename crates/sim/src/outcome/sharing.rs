//! How flows share over time, from series: starvation, convergence and oscillation.
//!
//! Bytes are those that leave the last link of a route, as in [`Series`]. Time is in bins of 100 ms from the start of the
//! trial; only bins that lie wholly in the time in question count. Fairness by Jain's index (Jain, Chiu and Hawe 1984).
//!
//! Limits: a bin is shorter than the round trip of a long path, where a flow whose ACKs come in bursts seems to starve for
//! up to a round trip. Virtual time only.

use super::series::Series;
use std::ops::Range;
use thalweg_units::{Duration, Instant};

/// Length of a bin. A shorter `sample` must divide it.
pub(crate) const BIN: Duration = Duration::from_millis(100);
/// A flow starves that gets less than one in so many of its fair share.
const STARVED: u64 = 10;
/// Bins of a second.
const SECOND: usize = 10;
/// Flows have converged when Jain's index is at least this,
const FAIR: f64 = 0.9;
/// for so many seconds in a row.
const LASTING: usize = 5;

/// The bytes of each flow in each bin, and when flows were active.
pub(crate) struct Sharing {
    bytes: Vec<Vec<u64>>,
    active: Vec<Range<usize>>,
}

impl Sharing {
    /// From series whose bins divide [`BIN`]; `active` has the time from start to end of each flow.
    pub(crate) fn new(series: &Series, active: &[Range<Instant>]) -> Self {
        let each = (BIN.as_nanos() / series.every.as_nanos()).max(1) as usize;
        let sum = |bins: &[u64]| bins.iter().sum();
        let bytes: Vec<Vec<u64>> = (series.flows.iter())
            .map(|flow| flow.received.chunks(each).map(sum).collect())
            .collect();
        let bin = |time: Instant| (time - Instant::START).as_nanos();
        let whole = |time: &Range<Instant>| {
            let first = bin(time.start).div_ceil(BIN.as_nanos()) as usize;
            first..(bin(time.end) / BIN.as_nanos()) as usize
        };
        Sharing {
            bytes,
            active: active.iter().map(whole).collect(),
        }
    }

    /// The longest time in which a flow got less than a tenth of its fair share: of the bytes of all flows that were
    /// active, over their number. `None` if it was never active together with another.
    pub(crate) fn starvation(&self, flow: usize) -> Option<Duration> {
        let (mut longest, mut run, mut beside) = (0, 0, false);
        for bin in self.active[flow].clone() {
            let flows = (0..self.bytes.len()).filter(|other| self.active[*other].contains(&bin));
            let (count, total) = flows.fold((0, 0), |(count, total), other| {
                (count + 1, total + self.in_bin(other, bin))
            });
            beside |= count > 1;
            let starves = count > 1 && self.in_bin(flow, bin) * count * STARVED < total;
            run = if starves { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        beside.then(|| BIN * longest)
    }

    /// The time from when all flows are active until Jain's index over seconds is at least 0.9 for five seconds in a
    /// row, which end while all are; `None` if that never comes.
    pub(crate) fn convergence(&self) -> Option<Duration> {
        let first = self.active.iter().map(|bins| bins.start).max()?;
        let end = self.active.iter().map(|bins| bins.end).min()?;
        let mut lasting = 0;
        for (second, start) in (first..end).step_by(SECOND).enumerate() {
            if start + SECOND > end {
                break;
            }
            let amounts: Vec<f64> = (0..self.bytes.len())
                .map(|flow| self.between(flow, start..start + SECOND))
                .collect();
            let (sum, squares) = (amounts.iter()).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
            let fair = squares > 0.0 && sum * sum >= FAIR * amounts.len() as f64 * squares;
            lasting = if fair { lasting + 1 } else { 0 };
            if lasting == LASTING {
                return Some(Duration::from_secs((second + 1 - LASTING) as u64));
            }
        }
        None
    }

    /// The standard deviation of the rate of a flow over its mean, by seconds, in the second half of the time in which it
    /// was active; `None` if that has less than two seconds, or the flow got nothing in them.
    pub(crate) fn oscillation(&self, flow: usize) -> Option<f64> {
        let Range { start, end } = self.active[flow];
        let half = start + end.saturating_sub(start).div_ceil(2);
        let seconds: Vec<f64> = (half..end)
            .step_by(SECOND)
            .filter(|start| start + SECOND <= end)
            .map(|start| self.between(flow, start..start + SECOND))
            .collect();
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<f64>() / count;
        let variance = seconds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        (seconds.len() > 1 && mean > 0.0).then(|| variance.sqrt() / mean)
    }

    fn in_bin(&self, flow: usize, bin: usize) -> u64 {
        self.bytes[flow].get(bin).copied().unwrap_or(0)
    }

    fn between(&self, flow: usize, bins: Range<usize>) -> f64 {
        bins.map(|bin| self.in_bin(flow, bin)).sum::<u64>() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// Flows with these bytes in each bin of 100 ms, all active from the start to the end.
    fn sharing(bytes: &[Vec<u64>]) -> Sharing {
        let mut series = Series::new(BIN, bytes.len());
        for (flow, bins) in bytes.iter().enumerate() {
            series.flows[flow].received.clone_from(bins);
        }
        let end = bytes[0].len() as u64 * BIN.as_millis();
        Sharing::new(&series, &vec![at(0)..at(end); bytes.len()])
    }

    #[test]
    fn a_flow_starves_while_it_gets_less_than_a_tenth_of_an_equal_share() {
        // An equal share of 100 is 50 for each of two: 5 is a tenth of it, and 4 is less.
        let two = sharing(&[
            vec![50, 4, 4, 4, 5, 4, 50],
            vec![50, 96, 96, 96, 95, 96, 50],
        ]);
        assert_eq!(two.starvation(0), Some(BIN * 3));
        assert_eq!(two.starvation(1), Some(Duration::ZERO));
    }

    #[test]
    fn nobody_starves_while_nobody_gets_anything_or_alone() {
        let outage = sharing(&[vec![5, 0, 0, 0, 5], vec![5, 0, 0, 0, 5]]);
        assert_eq!(outage.starvation(0), Some(Duration::ZERO));
        assert_eq!(sharing(&[vec![0, 0, 0]]).starvation(0), None);
    }

    #[test]
    fn what_a_flow_lacks_before_it_starts_and_after_it_ends_is_no_starvation() {
        let mut series = Series::new(BIN, 2);
        series.flows[0].received = vec![10; 10];
        series.flows[1].received = vec![0, 0, 0, 0, 10, 10, 0, 0, 0, 0];
        // Active from 350 ms to 650 ms: the bins that begin at 400 and 500 ms lie within.
        let some = Sharing::new(&series, &[at(0)..at(1000), at(350)..at(650)]);
        assert_eq!(some.starvation(1), Some(Duration::ZERO));
        let long = Sharing::new(&series, &[at(0)..at(1000), at(350)..at(900)]);
        assert_eq!(long.starvation(1), Some(BIN * 3));
    }

    #[test]
    fn shorter_bins_are_added_up() {
        let mut series = Series::new(Duration::from_millis(20), 2);
        series.flows[0].received = vec![1, 2, 3, 4, 5, 6];
        series.flows[1].received = vec![0; 6];
        let some = Sharing::new(&series, &[at(0)..at(120), at(0)..at(120)]);
        assert_eq!(some.bytes, [[15, 6], [0, 0]]);
    }

    #[test]
    fn flows_converge_with_the_first_of_five_fair_seconds() {
        // Jain's index of 3 to 1 is 16 / 20 = 0.8, of 2 to 1 it is 9 / 10.
        let seconds = |parts: &[u64]| -> Vec<u64> {
            let second = |part: &u64| vec![*part; SECOND];
            parts.iter().flat_map(second).collect()
        };
        let ones = seconds(&[1; 9]);
        let late = sharing(&[seconds(&[3, 2, 2, 3, 2, 2, 2, 2, 2]), ones.clone()]);
        assert_eq!(late.convergence(), Some(Duration::from_secs(4)));
        let never = sharing(&[seconds(&[3, 2, 2, 2, 2, 3, 2, 2, 2]), ones]);
        assert_eq!(never.convergence(), None);
    }

    #[test]
    fn a_steady_rate_does_not_oscillate_and_an_uneven_one_does() {
        let start = vec![0; 2 * SECOND];
        let steady = [start.clone(), vec![7; 2 * SECOND]].concat();
        assert_eq!(sharing(&[steady]).oscillation(0), Some(0.0));
        // Seconds of 10 and 30 bytes: mean 20, deviation 10.
        let uneven = [start, vec![1; SECOND], vec![3; SECOND]].concat();
        assert_eq!(sharing(&[uneven]).oscillation(0), Some(0.5));
        assert_eq!(sharing(&[vec![1; 2 * SECOND]]).oscillation(0), None);
    }
}
