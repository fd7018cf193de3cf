//! Outcome of a stream of media.

use super::video::{self, Video};
use super::{freezes, voice};
use crate::scenario::Scenario;
use crate::scenario::hop::Direction;
use crate::scenario::media::MediaSpec;
use crate::scenario::schema::Carriage;
use crate::trial::connection::Connection;
use crate::trial::media::{FrameRecord, StreamRecords};
use serde::{Deserialize, Serialize};
use thalweg_transport::Role;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Delay counts as back to normal within this of the normal delay.
const NORMAL_MARGIN: Duration = Duration::from_millis(10);

/// Numbers of one stream of media in one trial; delays are of the frames counted, absent if there
/// are none.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
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
    /// Mean delay of all delivered frames, including those before the start of measurement, as the reference
    /// measures audio.
    pub mean_delay_from_start: Option<Duration>,
    /// Largest delay of all frames delivered.
    pub max_delay_from_start: Option<Duration>,
    /// Mean delay from generation.
    pub mean_one_way_delay: Option<Duration>,
    /// From the start of the flow to the first frame received, measured or not; none if no frame came.
    pub first_frame: Option<Duration>,
    /// Bytes of the frames delivered, of those counted, over the time of all frames that were due.
    pub media_rate: Option<Rate>,
    /// Frames that came after their deadline.
    pub late: u64,
    /// Freezes as WebRTC counts them (`freezeCount`), see `outcome/freezes.rs`.
    pub freezes: u64,
    /// What they last together (`totalFreezesDuration`).
    pub frozen: Duration,
    /// Frames that were cancelled.
    pub skipped: u64,
    /// Frames that were due and were not delivered: lost, cancelled, or on their way when the trial ended.
    pub undelivered: u64,
    /// Packets of media that were lost, or late, and repair delivered; none without repair.
    pub repaired: Option<u64>,
    /// Bytes that were sent for repair.
    pub repair_bytes: Option<Bytes>,
    /// Longest time from a change of the path until the delay is back to normal: until every later frame
    /// (up to the next change) is within 10 ms of the median of the second half of that interval.
    pub recovery: Option<Duration>,
    /// Mean rate of the encoder, of a stream that has one.
    pub encoder_rate: Option<Rate>,
    /// That over the most of the encoder.
    pub encoder_share: Option<f64>,
    /// Standard deviation of its rate over its mean.
    pub encoder_oscillation: Option<f64>,
    /// Mean opinion score: of a stream of datagrams of a fixed size, which is audio, see `outcome/voice.rs`; of any other,
    /// which is video, see `outcome/video.rs`.
    pub mos: Option<f64>,
}

/// Summarises the streams of the call of a flow, if it is one, at a time.
pub(crate) fn of_call(
    scenario: &Scenario,
    connection: &Connection,
    now: Instant,
) -> Vec<MediaOutcome> {
    let Some(call) = &connection.call else {
        return Vec::new();
    };
    let changes = |from: Role| scenario.changes(connection.flow, Direction::from(from), now);
    let changes = Role::BOTH.map(changes);
    let mut found: Vec<MediaOutcome> = Vec::new();
    for stream in call.records(connection.start) {
        let changes = &changes[stream.spec.from.index()];
        // A breaker closes a call before the trial ends.
        let cut = connection.tripped.map_or(now, |(at, _)| at);
        let is_cut = connection.completion.is_none() && stream.start < cut;
        let mut outcome = match is_cut {
            false => {
                let ended = connection.completion.map(|_| Instant::NEVER);
                summarise(&stream, changes, &[], ended)
            }
            true => {
                let due = call.due(found.len(), stream.start, cut).into_iter();
                let due: Vec<_> = due.map(|(_, due, received)| (due, received)).collect();
                let missing = missing(&stream, &due, cut);
                summarise(&stream, changes, &missing, Some(cut))
            }
        };
        let first = stream.delivered.iter().map(|record| record.received).min();
        outcome.first_frame = first.map(|first| first - connection.start);
        found.push(outcome);
    }
    found
}

/// Frames of a call that was cut off which are late already: they have come after what has passed by then at least. A
/// datagram may be lost, and a frame of a stream with `skip_after` given up, if a later one has come.
fn missing(
    stream: &StreamRecords<'_>,
    due: &[(Instant, Option<Instant>)],
    cut: Instant,
) -> Vec<FrameRecord> {
    let spec = stream.spec;
    let newest = stream.delivered.iter().map(|record| record.nominal).max();
    let is_passed = |nominal: Instant| newest.is_some_and(|newest| nominal < newest);
    let may_be_gone = spec.carriage == Carriage::Datagrams || spec.skip_after.is_some();
    let without = due.iter().filter(|(_, received)| received.is_none());
    (without.map(|(nominal, _)| *nominal))
        .filter(|nominal| cut - *nominal > spec.deadline && !(may_be_gone && is_passed(*nominal)))
        .map(|nominal| FrameRecord {
            nominal,
            generated: nominal,
            received: cut,
            size: Bytes::ZERO,
        })
        .collect()
}

/// Summarises the frames of one stream. `changes` are the times at which the path changes in its direction; of a call that
/// the trial cut off, at `until`, frames are `missing`. There is no `until` if the stream never began.
fn summarise(
    stream: &StreamRecords<'_>,
    changes: &[Instant],
    missing: &[FrameRecord],
    until: Option<Instant>,
) -> MediaOutcome {
    let (spec, records, skipped) = (stream.spec, stream.delivered, stream.skipped);
    let from = Instant::START + spec.measure_from;
    let all_records = || records.iter().chain(missing);
    let counted: Vec<&FrameRecord> = all_records().filter(|r| r.nominal >= from).collect();
    let mut delays: Vec<Duration> = counted.iter().map(|r| r.received - r.nominal).collect();
    delays.sort_unstable();
    let count = delays.len() as u64;
    let mean = |sum: Duration| (count > 0).then(|| sum / count.max(1));
    // Nearest rank: the smallest delay that at least this share of the frames keeps.
    let quantile = |percent: u64| {
        let rank = (count * percent).div_ceil(100).max(1);
        delays.get(rank as usize - 1).copied()
    };
    let all = || all_records().map(|r| r.received - r.nominal);
    let shown: Vec<&FrameRecord> = records.iter().filter(|r| r.nominal >= from).collect();
    let freezes = freezes::of(spec, stream.start, &shown);
    let times = freezes.iter().map(|freeze| freeze.duration);
    let open = until.and_then(|until| freezes::open(stream, from, until));
    let times: Vec<Duration> = times.chain(open).collect();
    let is_voice = spec.carriage == Carriage::Datagrams && spec.encoder().is_none();
    let due = spec.frames_between(stream.start, from, until.unwrap_or(Instant::NEVER));
    let bytes: Bytes = shown.iter().map(|record| record.size).sum();
    let encoder_rate = (stream.encoded).and_then(|encoded| encoded.mean_rate(spec.per_second));
    let late = delays.iter().filter(|delay| **delay > spec.deadline);
    let late = late.count() as u64;
    let in_time = count - late;
    MediaOutcome {
        name: spec.name.clone(),
        frames: shown.len() as u64,
        mean_delay: mean(delays.iter().copied().sum()),
        p50_delay: quantile(50),
        p95_delay: quantile(95),
        p99_delay: quantile(99),
        max_delay: delays.last().copied(),
        mean_delay_from_start: all()
            .max()
            .map(|_| all().sum::<Duration>() / (records.len() + missing.len()) as u64),
        max_delay_from_start: all().max(),
        mean_one_way_delay: (!shown.is_empty()).then(|| {
            let all: Duration = shown.iter().map(|r| r.received - r.generated).sum();
            all / shown.len() as u64
        }),
        first_frame: None,
        media_rate: (due > 0).then(|| Rate::over(bytes, spec.span(due))),
        late,
        freezes: times.len() as u64,
        frozen: times.iter().copied().sum(),
        skipped: u64::from(skipped),
        undelivered: u64::from(due).saturating_sub(shown.len() as u64),
        repaired: stream.repaired.map(|repaired| repaired.packets),
        repair_bytes: stream.repaired.map(|repaired| repaired.bytes),
        recovery: longest_recovery(records, changes),
        encoder_rate,
        encoder_share: (spec.encoder().zip(encoder_rate)).map(|(encoder, rate)| {
            rate.as_bits_per_sec() as f64 / encoder.most.as_bits_per_sec() as f64
        }),
        encoder_oscillation: stream.encoded.and_then(|encoded| encoded.oscillation()),
        mos: match encoder_rate.or_else(|| spec.fixed_rate()) {
            _ if is_voice => voice::score(&shown, u64::from(stream.generated)),
            Some(rate) => video::score(Video {
                rate,
                per_second: spec.per_second,
                in_time,
                due: u64::from(due),
            }),
            None => None,
        },
    }
}

/// The delays of a call (draft-huitema-ccwg-c4-test, of the version after -04): the largest mean and the largest maximum over
/// its streams, those apart that skip frames which come too late.
pub(crate) fn worst_delays<'a>(
    streams: impl IntoIterator<Item = (&'a MediaSpec, &'a MediaOutcome)>,
) -> (Option<Duration>, Option<Duration>) {
    let counted = streams
        .into_iter()
        .filter(|(spec, _)| spec.skip_after.is_none());
    counted.fold((None, None), |(mean, most), (_, stream)| {
        (mean.max(stream.mean_delay), most.max(stream.max_delay))
    })
}

/// The longest recovery from one of the changes, which are in the order of time.
fn longest_recovery(records: &[FrameRecord], changes: &[Instant]) -> Option<Duration> {
    // Each frame belongs to the last change at or before its nominal time. Sorted by it, and in the order of
    // arrival within, the frames of a change lie side by side: there may be many more changes than frames.
    let change_of = |record: &FrameRecord| {
        let later = changes.partition_point(|at| *at <= record.nominal);
        later.checked_sub(1)
    };
    let mut frames: Vec<(usize, &FrameRecord)> = (records.iter())
        .filter_map(|record| Some((change_of(record)?, record)))
        .collect();
    frames.sort_by_key(|(change, _)| *change);
    let groups = frames.chunk_by(|(a, _), (b, _)| a == b);
    groups
        .filter_map(|frames| recovery(frames, changes[frames[0].0]))
        .max()
}

/// Time from a change to the last frame whose delay is not normal, of those until the next change.
fn recovery(frames: &[(usize, &FrameRecord)], at: Instant) -> Option<Duration> {
    let mut settled: Vec<Duration> = frames[frames.len() / 2..]
        .iter()
        .map(|(_, r)| r.received - r.nominal)
        .collect();
    settled.sort_unstable();
    let normal = *settled.get(settled.len() / 2)? + NORMAL_MARGIN;
    let late = |(_, r): &&(usize, &FrameRecord)| r.received - r.nominal > normal;
    let last_bad = frames.iter().rev().find(late);
    Some(last_bad.map_or(Duration::ZERO, |(_, r)| r.received - at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::media::standard_call;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn a_call_that_is_cut_off_is_judged_by_what_is_late_and_frozen_by_then() {
        let spec = &standard_call(Duration::from_secs(5), Duration::ZERO)[1];
        // A frame each 33 ms until 660 ms, and then nothing until 1.5 s.
        let came: Vec<(Instant, Option<Instant>)> = (0..45)
            .map(|n| (at(33 * n), (n <= 20).then(|| at(33 * n + 50))))
            .collect();
        let delivered: Vec<FrameRecord> = (came.iter())
            .filter_map(|(nominal, received)| {
                received.map(|received| FrameRecord {
                    nominal: *nominal,
                    generated: *nominal,
                    received,
                    size: Bytes::new(3_750),
                })
            })
            .collect();
        let stream = StreamRecords {
            spec,
            start: at(0),
            delivered: &delivered,
            skipped: 0,
            generated: 45,
            encoded: None,
            repaired: None,
        };
        let missing = missing(&stream, &came, at(1500));
        // Those due from 693 to 1221 ms are more than 250 ms late, the first 807 ms.
        assert_eq!((missing.len(), missing[0].nominal), (17, at(693)));
        let ms = Duration::from_millis;
        let cut = summarise(&stream, &[], &missing, Some(at(1500)));
        assert_eq!((cut.frames, cut.late), (21, 17));
        assert_eq!(cut.max_delay, Some(ms(807)));
        assert_eq!((cut.freezes, cut.frozen), (1, ms(1500 - 710)));
        // Nothing came at all: frozen from the start, or from the start of measurement.
        let dead = StreamRecords {
            delivered: &[],
            ..stream
        };
        let none: Vec<(Instant, Option<Instant>)> =
            came.iter().map(|(due, _)| (*due, None)).collect();
        let missing = super::missing(&dead, &none, at(1500));
        let cut = summarise(&dead, &[], &missing, Some(at(1500)));
        // Those due until 1221 ms: 38 of them.
        assert_eq!(
            (cut.frames, cut.late, cut.max_delay),
            (0, 38, Some(ms(1500)))
        );
        assert_eq!((cut.freezes, cut.frozen), (1, ms(1500)));
    }

    #[test]
    fn a_picture_that_stands_still_to_the_end_of_its_stream_is_frozen_until_then() {
        let spec = &standard_call(Duration::from_secs(5), Duration::ZERO)[1];
        // A frame each 33 ms until 660 ms, after 50 ms each, and then none: the rest was skipped.
        let delivered: Vec<FrameRecord> = (0..=20)
            .map(|n| FrameRecord {
                nominal: at(33 * n),
                generated: at(33 * n),
                received: at(33 * n + 50),
                size: Bytes::new(3_750),
            })
            .collect();
        let stream = StreamRecords {
            spec,
            start: at(0),
            delivered: &delivered,
            skipped: 129,
            generated: 21,
            encoded: None,
            repaired: None,
        };
        let ended = summarise(&stream, &[], &[], Some(Instant::NEVER));
        // From 660 + 50 ms to 5 s.
        let ms = Duration::from_millis;
        assert_eq!((ended.freezes, ended.frozen), (1, ms(5000 - 710)));
        // Nobody waits for a picture of a stream that never began.
        let never = summarise(&stream, &[], &[], None);
        assert_eq!((never.freezes, never.undelivered), (0, 129));
    }

    #[test]
    fn delays_are_counted_from_the_nominal_time() {
        let spec = &standard_call(Duration::from_secs(5), Duration::ZERO)[1];
        let record = |nominal, received| FrameRecord {
            nominal: at(nominal),
            generated: at(nominal + 15),
            received: at(received),
            size: Bytes::new(3_750),
        };
        // delays 30, 40, 300, 30; the third frame comes 293 ms after the second: a freeze
        let records = [
            record(0, 30),
            record(33, 73),
            record(66, 366),
            record(350, 380),
        ];
        let summary = |spec, records| {
            let stream = StreamRecords {
                spec,
                start: at(0),
                delivered: records,
                skipped: 7,
                generated: 4,
                encoded: None,
                repaired: None,
            };
            summarise(&stream, &[at(60)], &[], None)
        };
        let outcome = summary(spec, &records);
        let ms = Duration::from_millis;
        assert_eq!(outcome.mean_delay, Some(ms(100))); // (30 + 40 + 300 + 30) / 4
        assert_eq!(
            (outcome.p50_delay, outcome.max_delay),
            (Some(ms(30)), Some(ms(300)))
        );
        assert_eq!(outcome.mean_one_way_delay, Some(ms(85)));
        assert_eq!((outcome.late, outcome.freezes, outcome.skipped), (1, 1, 7));
        // measured from 50 ms on, the frames at 66 and 350 ms count: delays 300 and 30
        let spec = &standard_call(Duration::from_secs(5), ms(50))[1];
        let outcome = summary(spec, &records);
        assert_eq!((outcome.frames, outcome.mean_delay), (2, Some(ms(165))));
        assert_eq!(
            (outcome.mean_delay_from_start, outcome.max_delay_from_start),
            (Some(ms(100)), Some(ms(300)))
        );
        // normal after the change at 60 ms: 30 ms; the frame at 366 ms is the last bad one
        assert_eq!(outcome.recovery, Some(ms(306)));
    }
}
