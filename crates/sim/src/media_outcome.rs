//! What a stream of media experienced.

use crate::media::{FrameRecord, MediaSpec};
use thalweg_units::{Duration, Instant};

/// Gaps between delivered frames above this are freezes.
const FREEZE: Duration = Duration::from_millis(150);
/// Delay counts as back to normal within this of the normal delay.
const NORMAL_MARGIN: Duration = Duration::from_millis(10);

/// Numbers of one stream of media in one trial; delays are those of the frames counted, absent if there
/// are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediaOutcome {
    /// Name of the stream.
    pub name: String,
    /// Frames delivered, of those counted.
    pub frames: u64,
    /// Mean delay from the nominal time.
    pub mean_delay: Option<Duration>,
    /// Median delay.
    pub p50_delay: Option<Duration>,
    /// 95th percentile.
    pub p95_delay: Option<Duration>,
    /// 99th percentile.
    pub p99_delay: Option<Duration>,
    /// Largest delay.
    pub max_delay: Option<Duration>,
    /// Mean delay from generation.
    pub mean_one_way_delay: Option<Duration>,
    /// Frames that came after their deadline.
    pub late: u64,
    /// Gaps of more than 150 ms between frames delivered.
    pub freezes: u64,
    /// Frames that were cancelled.
    pub skipped: u64,
    /// Longest time from a change of the path until the delay is back to normal: until every later frame
    /// (up to the next change) is within 10 ms of the median of the second half of that interval.
    pub recovery: Option<Duration>,
}

impl MediaOutcome {
    /// Its numbers and how their columns end, after the name of the stream: times in seconds, not a number for what
    /// is absent.
    pub fn columns(&self) -> [(&'static str, f64); 11] {
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        [
            ("frames", self.frames as f64),
            ("mean_delay_s", seconds(self.mean_delay)),
            ("p50_delay_s", seconds(self.p50_delay)),
            ("p95_delay_s", seconds(self.p95_delay)),
            ("p99_delay_s", seconds(self.p99_delay)),
            ("max_delay_s", seconds(self.max_delay)),
            ("mean_one_way_delay_s", seconds(self.mean_one_way_delay)),
            ("late", self.late as f64),
            ("freezes", self.freezes as f64),
            ("skipped", self.skipped as f64),
            ("recovery_s", seconds(self.recovery)),
        ]
    }
}

/// Summarises the frames of one stream. `changes` are the times at which the path changes.
pub(crate) fn summarise(
    spec: &MediaSpec,
    records: &[FrameRecord],
    skipped: u32,
    changes: &[Instant],
) -> MediaOutcome {
    let from = Instant::START + spec.measure_from;
    let counted: Vec<&FrameRecord> = records.iter().filter(|r| r.nominal >= from).collect();
    let mut delays: Vec<Duration> = counted.iter().map(|r| r.received - r.nominal).collect();
    delays.sort_unstable();
    let count = delays.len() as u64;
    let mean = |sum: Duration| (count > 0).then(|| sum / count.max(1));
    // Nearest rank: the smallest delay that at least this share of the frames keeps.
    let quantile = |percent: u64| {
        let rank = (count * percent).div_ceil(100).max(1);
        delays.get(rank as usize - 1).copied()
    };
    let mut freezes = 0;
    for pair in counted.windows(2) {
        freezes += u64::from(pair[1].received - pair[0].received > FREEZE);
    }
    MediaOutcome {
        name: spec.name.clone(),
        frames: count,
        mean_delay: mean(delays.iter().copied().sum()),
        p50_delay: quantile(50),
        p95_delay: quantile(95),
        p99_delay: quantile(99),
        max_delay: delays.last().copied(),
        mean_one_way_delay: mean(counted.iter().map(|r| r.received - r.generated).sum()),
        late: delays
            .iter()
            .filter(|delay| **delay > spec.deadline)
            .count() as u64,
        freezes,
        skipped: u64::from(skipped),
        recovery: changes
            .iter()
            .enumerate()
            .filter_map(|(i, at)| recovery(records, *at, changes.get(i + 1).copied()))
            .max(),
    }
}

fn recovery(records: &[FrameRecord], at: Instant, until: Option<Instant>) -> Option<Duration> {
    let until = until.unwrap_or(Instant::NEVER);
    let within: Vec<&FrameRecord> = records
        .iter()
        .filter(|r| at <= r.nominal && r.nominal < until)
        .collect();
    let mut settled: Vec<Duration> = within[within.len() / 2..]
        .iter()
        .map(|r| r.received - r.nominal)
        .collect();
    settled.sort_unstable();
    let normal = *settled.get(settled.len() / 2)? + NORMAL_MARGIN;
    let last_bad = within
        .iter()
        .rev()
        .find(|r| r.received - r.nominal > normal);
    Some(last_bad.map_or(Duration::ZERO, |r| r.received - at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::standard_call;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn delays_are_counted_from_the_nominal_time() {
        let spec = &standard_call(Duration::from_secs(5), Duration::ZERO)[1];
        let record = |nominal, received| FrameRecord {
            nominal: at(nominal),
            generated: at(nominal + 15),
            received: at(received),
        };
        // delays 30, 40, 300, 30; the third frame comes 293 ms after the second: a freeze
        let records = [
            record(0, 30),
            record(33, 73),
            record(66, 366),
            record(350, 380),
        ];
        let outcome = summarise(spec, &records, 7, &[at(60)]);
        let ms = Duration::from_millis;
        assert_eq!(outcome.mean_delay, Some(ms(100))); // (30 + 40 + 300 + 30) / 4
        assert_eq!(
            (outcome.p50_delay, outcome.max_delay),
            (Some(ms(30)), Some(ms(300)))
        );
        assert_eq!(outcome.mean_one_way_delay, Some(ms(85)));
        assert_eq!((outcome.late, outcome.freezes, outcome.skipped), (1, 1, 7));
        // normal after the change at 60 ms: 30 ms; the frame at 366 ms is the last bad one
        assert_eq!(outcome.recovery, Some(ms(306)));
    }
}
