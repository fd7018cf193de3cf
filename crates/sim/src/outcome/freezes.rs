//! Freezes of a stream of media, as WebRTC counts them.
//!
//! A freeze is a time between two frames that are shown of at least `max(3 d, d + 150 ms)`, where `d` is the mean of
//! such times of the last 30 frames (Identifiers for WebRTC's Statistics API, `freezeCount` and
//! `totalFreezesDuration`). A frame is shown when it arrives, unless a later one was shown before. A pause of the
//! stream is not a freeze. WebRTC counts a freeze when it ends; here a picture that stands still to the end of its
//! stream is frozen until then, since nothing that never comes may count as nothing.

use crate::scenario::media::MediaSpec;
use crate::trial::media::{FrameRecord, StreamRecords};
use thalweg_units::{Duration, Instant};

/// Frames of the mean.
const MEAN_OF: usize = 30;
const LONGER: Duration = Duration::from_millis(150);
const TIMES: u64 = 3;

/// One freeze.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Freeze {
    /// Nominal time of the frame that ended it.
    pub(super) ended_by: Instant,
    pub(super) duration: Duration,
}

/// The freezes of a stream that began at `start`, between frames in the order of their arrival.
pub(super) fn of(spec: &MediaSpec, start: Instant, frames: &[&FrameRecord]) -> Vec<Freeze> {
    let mut freezes = Vec::new();
    let (mut times, mut known) = ([Duration::ZERO; MEAN_OF], 0_usize);
    let mut shown: Option<&FrameRecord> = None;
    for frame in frames {
        let Some(before) = shown.filter(|before| frame.nominal > before.nominal) else {
            shown = shown.or(Some(frame));
            continue;
        };
        shown = Some(frame);
        if is_paused_between(spec, start, before, frame) {
            continue;
        }
        let time = frame.received - before.received;
        let count = known.min(MEAN_OF) as u64;
        if count > 0 {
            let mean = times[..count as usize].iter().copied().sum::<Duration>() / count;
            if time >= (mean * TIMES).max(mean + LONGER) {
                freezes.push(Freeze {
                    ended_by: frame.nominal,
                    duration: time,
                });
            }
        }
        times[known % MEAN_OF] = time;
        known += 1;
    }
    freezes
}

/// The freeze that lasts when a stream ends, or at `until` if its call is cut off before, if there is one: from the last
/// frame shown, or from `from` if nothing was shown in the measured part. An interval is the nominal one.
pub(super) fn open(stream: &StreamRecords<'_>, from: Instant, until: Instant) -> Option<Duration> {
    let (spec, start) = (stream.spec, stream.start);
    let end = until.min(start + spec.span(spec.frames));
    let begun = spec.pauses.partition_point(|(from, _)| start + *from < end);
    let resumed = (begun.checked_sub(1)).map_or(start, |last| start + spec.pauses[last].1);
    let shown = stream.delivered.iter().map(|record| record.received).max();
    let since = shown.unwrap_or(start).max(start).max(from).max(resumed);
    let interval = spec.span(1);
    (since < end)
        .then(|| end - since)
        .filter(|time| *time >= (interval * TIMES).max(interval + LONGER))
}

/// Whether the stream, which began at `start`, paused between two frames.
fn is_paused_between(
    spec: &MediaSpec,
    start: Instant,
    before: &FrameRecord,
    after: &FrameRecord,
) -> bool {
    let begun = (spec.pauses).partition_point(|(from, _)| start + *from < after.nominal);
    begun > 0 && before.nominal < start + spec.pauses[begun - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::media::standard_call;

    /// The freezes of frames every 33 ms that arrive at these times in milliseconds.
    fn of_arrivals(pauses: &[(u64, u64)], frames: &[(u64, u64)]) -> (u64, u64) {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        let records: Vec<FrameRecord> = frames
            .iter()
            .map(|(nominal, received)| FrameRecord {
                nominal: at(*nominal),
                generated: at(*nominal),
                received: at(*received),
                size: thalweg_units::Bytes::ZERO,
            })
            .collect();
        let mut spec = standard_call(Duration::from_secs(5), Duration::ZERO)[1].clone();
        let ms = Duration::from_millis;
        spec.pauses = pauses.iter().map(|(a, b)| (ms(*a), ms(*b))).collect();
        let freezes = of(&spec, Instant::START, &records.iter().collect::<Vec<_>>());
        let frozen: Duration = freezes.iter().map(|one| one.duration).sum();
        (freezes.len() as u64, frozen.as_millis())
    }

    /// Forty frames, and the next ones at these times.
    fn after_forty(later: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let regular = (0..40).map(|n| (n * 33, n * 33 + 50));
        regular.chain(later.iter().copied()).collect()
    }

    #[test]
    fn a_gap_of_the_mean_and_150_ms_is_a_freeze_and_a_shorter_one_is_none() {
        // The last frame came at 39 * 33 + 50 = 1337 ms; the mean is 33 ms, and 33 + 150 more than 3 * 33.
        assert_eq!(
            of_arrivals(&[], &after_forty(&[(1320, 1337 + 182)])),
            (0, 0)
        );
        assert_eq!(
            of_arrivals(&[], &after_forty(&[(1320, 1337 + 183)])),
            (1, 183)
        );
    }

    #[test]
    fn at_few_frames_a_second_a_freeze_is_three_times_the_mean() {
        // One frame each 100 ms: 300 ms is more than 100 + 150.
        let slow = |gap: u64| {
            (0..40_u64)
                .map(|n| (n * 100, n * 100))
                .chain([(4_000, 3_900 + gap)])
        };
        assert_eq!(of_arrivals(&[], &slow(299).collect::<Vec<_>>()), (0, 0));
        assert_eq!(of_arrivals(&[], &slow(300).collect::<Vec<_>>()), (1, 300));
    }

    #[test]
    fn a_frame_that_comes_after_a_later_one_is_not_shown_and_a_pause_is_no_freeze() {
        let late = after_forty(&[(1353, 1403), (1320, 1500), (1386, 1580)]);
        // 1580 - 1403 = 177: less than the mean of about 34 and 150
        assert_eq!(of_arrivals(&[], &late), (0, 0));
        let later = after_forty(&[(11_320, 11_370)]);
        assert_eq!(of_arrivals(&[], &later).0, 1);
        assert_eq!(of_arrivals(&[(1_320, 11_300)], &later).0, 0);
        let elsewhere = [(500, 600), (12_000, 13_000)];
        assert_eq!(of_arrivals(&elsewhere, &later).0, 1);
    }
}
