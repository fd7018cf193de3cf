//! The streams of media of a call.

pub(crate) use super::schema::By;
use super::schema::Carriage;
use thalweg_transport::Role;
use thalweg_units::{Bytes, Duration, Fraction, Instant, Rate};

/// Bytes of a datagram that is a part of a frame: what fits a packet of any path.
pub(crate) const PART: u64 = 1_150;

/// Packets of a frame with the packets of repair: the longest code over GF(2^16).
pub(crate) const LONGEST_CODE: u64 = 65_535;

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
    pub(crate) size: FrameSize,
    /// Times of the stream without frames, each from one to another, in order.
    pub(crate) pauses: Vec<(Duration, Duration)>,
    pub(crate) priority: u8,
    pub(crate) skip_after: Option<Duration>,
    pub(crate) repair: RepairSpec,
    /// Frames later than this count as late.
    pub(crate) deadline: Duration,
    /// Frames with an earlier nominal time are not counted.
    pub(crate) measure_from: Duration,
}

/// How lost datagrams of frames are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RepairSpec {
    /// Lost ones are sent again until the deadline of their frame.
    pub(crate) retransmit: bool,
    /// Packets of repair, as a part of the packets of a frame.
    pub(crate) fec: Fraction,
}

impl RepairSpec {
    pub(crate) fn is_any(self) -> bool {
        self.retransmit || !self.fec.is_zero()
    }

    /// What a rate of media is with the packets of repair that follow each of so many frames in a second.
    pub(crate) fn with_fec(self, media: Rate, per_second: u32) -> Rate {
        if self.fec.is_zero() {
            return media;
        }
        let frame = media.as_bits_per_sec().div_ceil(8 * u64::from(per_second));
        let repair = self.fec.of_up(frame.div_ceil(PART)) * PART.min(frame);
        Rate::from_bits_per_sec((frame + repair).saturating_mul(8 * u64::from(per_second)))
    }

    /// The largest rate of media that has no more than this with the packets of repair.
    pub(crate) fn without_fec(self, all: Rate, per_second: u32) -> Rate {
        if self.fec.is_zero() {
            return all;
        }
        let frame = all.as_bits_per_sec() / (8 * u64::from(per_second));
        // A frame of `packets`, all but the last of them full, with packets of repair as long as the first.
        let with = |packets: u64| match packets {
            0 | 1 => (frame / (1 + self.fec.of_up(1))).min(PART),
            _ => frame
                .saturating_sub(self.fec.of_up(packets) * PART)
                .min(packets * PART),
        };
        // Rounding up adds less than a packet of repair.
        let about = (frame.div_ceil(PART) as f64 / (1.0 + self.fec.as_f64())) as u64;
        let media = (about.saturating_sub(1)..=about + 1).map(|packets| {
            let most = with(packets);
            if most.div_ceil(PART) == packets.max(1) {
                most
            } else {
                0
            }
        });
        Rate::from_bits_per_sec(media.max().unwrap_or(0) * 8 * u64::from(per_second))
    }
}

/// What the senders of a call send to learn the capacity of their path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProbeSpec {
    /// The rate of media and probes together.
    pub(crate) target: Rate,
    /// The most of what is sent that are probes.
    pub(crate) budget: Fraction,
    pub(crate) by: By,
}

impl ProbeSpec {
    /// Whether probes repair frames, if there are any.
    pub(crate) fn is_coded(&self) -> bool {
        self.by == By::Redundancy && !self.budget.is_zero()
    }
}

/// What determines the sizes of frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FrameSize {
    /// All have one, but the first of a group.
    Fixed { first: Bytes, other: Bytes },
    /// The rate that congestion control allows.
    Adaptive(EncoderSpec),
}

/// An encoder that follows a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EncoderSpec {
    pub(crate) least: Rate,
    pub(crate) most: Rate,
    pub(crate) start: Rate,
    /// Part of what is allowed that it uses.
    pub(crate) uses: Fraction,
    pub(crate) reaction: Duration,
    /// Scale of the Laplace distribution of sizes.
    pub(crate) variation: f64,
    /// Size of the first frame of a group over the size of others, and frames of such a group.
    pub(crate) key_frame: f64,
    pub(crate) group: u32,
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
    /// The encoder, if the stream follows a rate.
    pub(crate) fn encoder(&self) -> Option<&EncoderSpec> {
        match &self.size {
            FrameSize::Fixed { .. } => None,
            FrameSize::Adaptive(encoder) => Some(encoder),
        }
    }
    /// Size of a frame by its position in its group, if that is fixed.
    pub(crate) fn fixed_size(&self, position: u32) -> Option<u64> {
        match self.size {
            FrameSize::Fixed { first, .. } if position == 0 => Some(first.as_u64()),
            FrameSize::Fixed { other, .. } => Some(other.as_u64()),
            FrameSize::Adaptive(_) => None,
        }
    }
    /// Whether the stream pauses when this frame, counted from the first of the stream, is due.
    pub(crate) fn is_paused(&self, frame: u32) -> bool {
        let time = self.span(frame);
        let begun = self.pauses.partition_point(|(from, _)| *from <= time);
        begun > 0 && time < self.pauses[begun - 1].1
    }
    /// Frames that it has, pauses aside.
    pub(crate) fn unpaused_frames(&self) -> u32 {
        match self.pauses.is_empty() {
            true => self.frames,
            false => (0..self.frames).filter(|n| !self.is_paused(*n)).count() as u32,
        }
    }
    /// Frames whose nominal time, in a stream that begins at `start`, is not before `from` and not after `until`.
    pub(crate) fn frames_between(&self, start: Instant, from: Instant, until: Instant) -> u32 {
        let is_within = |frame: &u32| (from..=until).contains(&(start + self.span(*frame)));
        let frames = (0..self.frames).filter(|frame| !self.is_paused(*frame));
        frames.filter(is_within).count() as u32
    }
    /// The mean rate of a stream of fixed frames, pauses aside.
    pub(crate) fn fixed_rate(&self) -> Option<Rate> {
        let (first, other) = (self.fixed_size(0)?, self.fixed_size(1)?);
        let group = first + u64::from(self.group - 1) * other;
        Some(Rate::over(Bytes::new(group), self.span(self.group)))
    }
    /// The mean rate of a stream of fixed frames with the packets of repair that follow each, pauses aside. Such a frame is
    /// one datagram, if it has any.
    pub(crate) fn fixed_rate_with_fec(&self) -> Option<Rate> {
        let packets = 1 + self.repair.fec.of_up(1);
        Some(self.fixed_rate()?.mul_div(packets, 1))
    }
    /// The most bytes of its frames, and of the packets of repair that follow each.
    pub(crate) fn most_bytes(&self) -> u128 {
        let frames = u128::from(self.frames);
        let bytes = match self.size {
            FrameSize::Fixed { first, other } => frames * u128::from(first.max(other).as_u64()),
            // Over many frames their sizes follow the rate; a frame may be twice as large.
            FrameSize::Adaptive(encoder) => {
                2 * u128::from(encoder.most.bytes_in(self.span(self.frames)).as_u64())
            }
        };
        match self.repair.fec.is_zero() {
            true => bytes,
            // At most as much again, and a packet more of each frame.
            false => 2 * bytes + frames * u128::from(PART),
        }
    }
}

/// The names of the streams of the standard call.
pub(crate) const STANDARD_STREAMS: [&str; 3] = ["audio", "video", "video-high"];

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
        size: FrameSize::Fixed {
            first: Bytes::new(first),
            other: Bytes::new(other),
        },
        pauses: Vec::new(),
        priority,
        skip_after,
        repair: RepairSpec::default(),
        deadline: Duration::from_millis(250),
        measure_from,
    };
    let [audio, compressed, high] = STANDARD_STREAMS;
    let audio = MediaSpec {
        carriage: Carriage::Datagrams,
        per_second: 50,
        frames: frames(50),
        group: frames(50),
        ..video(audio, 80, 80, 2, None)
    };
    vec![
        audio,
        video(compressed, 37_500, 3_750, 4, None),
        video(high, 62_500, 6_250, 6, Some(Duration::from_millis(250))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoder_leaves_room_for_the_packets_of_repair_and_no_more() {
        for share in ["5 %", "20 %", "50 %", "100 %"] {
            let repair = RepairSpec {
                retransmit: false,
                fec: share.parse().unwrap(),
            };
            // Frames of 8 bits a second for each byte: a rate of 8 bps is a frame of one byte.
            let rate = |bytes: u64| Rate::from_bits_per_sec(8 * bytes);
            let bytes = |rate: Rate| rate.as_bits_per_sec() / 8;
            for room in (1..30_000).step_by(37) {
                let media = bytes(repair.without_fec(rate(room), 1));
                let all = |media: u64| bytes(repair.with_fec(rate(media), 1));
                assert!(all(media) <= room, "{share} {room}: {media}");
                assert!(all(media + 1) > room, "{share} {room}: {media}");
            }
        }
    }
}
