//! The streams of media of a call.

use super::schema::Carriage;
use thalweg_transport::Role;
use thalweg_units::{Bytes, Duration};

/// One stream of media.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MediaSpec {
    pub(crate) name: String,
    pub(crate) carriage: Carriage,
    /// Who sends it.
    pub(crate) from: Role,
    pub(crate) per_second: u32,
    pub(crate) frames: u32,
    /// Frames of a group; all frames are one group for datagrams.
    pub(crate) group: u32,
    pub(crate) first_frame: Bytes,
    pub(crate) frame: Bytes,
    pub(crate) priority: u8,
    pub(crate) skip_after: Option<Duration>,
    /// Frames later than this count as late.
    pub(crate) deadline: Duration,
    /// Frames with an earlier nominal time are not counted.
    pub(crate) measure_from: Duration,
}

impl MediaSpec {
    pub(crate) fn groups(&self) -> u32 {
        self.frames.div_ceil(self.group)
    }
    pub(crate) fn group_frames(&self, group: u32) -> u32 {
        self.group.min(self.frames - group * self.group)
    }
    /// Whether frames are generated after measurement has begun.
    pub(crate) fn is_measured(&self) -> bool {
        self.measure_from < self.span(self.frames)
    }
    /// Time of `frames` frames.
    pub(crate) fn span(&self, frames: u32) -> Duration {
        Duration::from_nanos(u64::from(frames) * 1_000_000_000 / u64::from(self.per_second))
    }
    pub(crate) fn frame_size(&self, position: u32) -> u64 {
        if position == 0 {
            self.first_frame.as_u64()
        } else {
            self.frame.as_u64()
        }
    }
    /// Bytes of the first `frames` frames of a group.
    pub(crate) fn bytes_until(&self, frames: u32) -> u64 {
        match frames {
            0 => 0,
            n => self.first_frame.as_u64() + u64::from(n - 1) * self.frame.as_u64(),
        }
    }
}

/// The standard call of the C4 tests: audio, compressed video, and a less compressed video that is
/// cancelled when it falls behind.
pub(crate) fn standard_call(duration: Duration, measure_from: Duration) -> Vec<MediaSpec> {
    let frames = |per_second: u32| {
        let nanos = u128::from(duration.as_nanos()) * u128::from(per_second);
        (nanos.div_ceil(1_000_000_000) as u32).max(1)
    };
    let video = |name: &str, first: u64, other: u64, priority, skip_after| MediaSpec {
        name: name.to_owned(),
        carriage: Carriage::Streams,
        from: Role::Server,
        per_second: 30,
        frames: frames(30),
        group: 30,
        first_frame: Bytes::new(first),
        frame: Bytes::new(other),
        priority,
        skip_after,
        deadline: Duration::from_millis(250),
        measure_from,
    };
    let audio = MediaSpec {
        name: "audio".to_owned(),
        carriage: Carriage::Datagrams,
        per_second: 50,
        frames: frames(50),
        group: frames(50),
        first_frame: Bytes::new(80),
        frame: Bytes::new(80),
        ..video("audio", 80, 80, 2, None)
    };
    vec![
        audio,
        video("video", 37_500, 3_750, 4, None),
        video(
            "video-high",
            62_500,
            6_250,
            6,
            Some(Duration::from_millis(250)),
        ),
    ]
}
