//! A media call: audio as datagrams and video as groups of frames, each group a stream, both ways.
//!
//! # Model
//! Both ends send 50 audio frames of 80 bytes and 30 video frames in each second: groups of 30 whose first
//! frame has 37 500 bytes and the others 3 750. These are the audio and the compressed video of
//! draft-huitema-ccwg-c4-test, "Handling of Multimedia Applications". A frame carries the time of its
//! generation, by the clock of its sender. Clocks of hosts differ, so the receiver reports the delay of each frame
//! relative to the fastest frame of the call.
//!
//! # Limits
//! Frames have fixed sizes, none are skipped, and nothing adapts. The stack sends datagrams first.

use bytes::{Buf as _, Bytes, BytesMut};
use noq_proto::{Connection, Dir, Event, ReadError, StreamEvent, StreamId, VarInt, WriteError};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const AUDIO_PER_SECOND: u32 = 50;
const AUDIO_FRAME: usize = 80;
const VIDEO_PER_SECOND: u32 = 30;
const VIDEO_GROUP: u32 = 30;
const VIDEO_FIRST_FRAME: usize = 37_500;
const VIDEO_FRAME: usize = 3_750;
/// A frame starts with the time of its generation, in nanoseconds since the start of the sender's call...
const TIME: usize = 8;
/// ... and in a stream with its length, header included.
const HEADER: usize = TIME + 4;
/// Frames slower than the fastest one by this are late.
const DEADLINE: Duration = Duration::from_millis(250);
/// How long after its end a call waits for missing frames.
const GRACE: Duration = Duration::from_secs(3);

/// Reception of the audio and video of the other end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallReport {
    /// Audio.
    pub audio: TrackReport,
    /// Video.
    pub video: TrackReport,
}

/// Frames of one kind. Delays are those beyond the fastest frame of the call, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackReport {
    /// Frames of the whole call.
    pub frames: u64,
    /// Frames that arrived.
    pub received: u64,
    /// How many of these frames are slower than the fastest by 250 ms.
    pub late: u64,
    /// Mean delay; 0 without frames, as the next two.
    pub mean_delay_s: f64,
    /// 95th percentile of the delay.
    pub p95_delay_s: f64,
    /// Largest delay.
    pub max_delay_s: f64,
}

/// Received frames of one kind, each with its arrival minus its generation by two clocks, in nanoseconds.
#[derive(Debug)]
struct Track {
    expected: usize,
    delays: Vec<i64>,
}

/// A group of video to send.
#[derive(Debug)]
struct Outgoing {
    id: Option<StreamId>,
    chunks: VecDeque<Bytes>,
    is_complete: bool,
}

/// A group of video being received.
#[derive(Debug)]
struct Incoming {
    id: StreamId,
    header: BytesMut,
    /// The frame whose header has arrived: its generation time, and the bytes missing.
    frame: Option<(u64, usize)>,
}

/// One end of a call.
#[derive(Debug)]
pub(super) struct Call {
    begin: Instant,
    length: Duration,
    audio_sent: u32,
    video_sent: u32,
    leaving: VecDeque<Outgoing>,
    unacked: usize,
    coming: Vec<Incoming>,
    audio: Track,
    video: Track,
}

/// When frame `number` is generated, from the start of the call.
fn at(number: u32, per_second: u32) -> Duration {
    Duration::from_secs(1) * number / per_second
}

fn frames(length: Duration, per_second: u32) -> u32 {
    let frames = length.as_nanos() * u128::from(per_second) / 1_000_000_000;
    u32::try_from(frames).unwrap_or(u32::MAX)
}

impl Call {
    pub(super) fn new(length: Duration, now: Instant) -> Call {
        let track = |per_second| Track {
            expected: frames(length, per_second) as usize,
            delays: Vec::new(),
        };
        Call {
            begin: now,
            length,
            audio_sent: 0,
            video_sent: 0,
            leaving: VecDeque::new(),
            unacked: 0,
            coming: Vec::new(),
            audio: track(AUDIO_PER_SECOND),
            video: track(VIDEO_PER_SECOND),
        }
    }

    /// When the next frame is generated; at the end, when the call is given up.
    pub(super) fn next(&self) -> Option<Instant> {
        let next = |sent, track: &Track, per_second| {
            (sent < track.expected as u32).then(|| self.begin + at(sent, per_second))
        };
        let audio = next(self.audio_sent, &self.audio, AUDIO_PER_SECOND);
        let video = next(self.video_sent, &self.video, VIDEO_PER_SECOND);
        let end = self.begin + self.length;
        let last = if end < Instant::now() {
            end + GRACE
        } else {
            end
        };
        audio.into_iter().chain(video).min().or(Some(last))
    }

    /// Whether the call has ended: everything has arrived in both directions, or will not.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let elapsed = now - self.begin;
        let video = self.video.delays.len() >= self.video.expected;
        let is_through = self.leaving.is_empty() && self.unacked == 0 && video;
        elapsed >= self.length + GRACE || elapsed >= self.length && is_through
    }

    /// Generates the frames that are due and passes them to the stack.
    pub(super) fn advance(&mut self, connection: &mut Connection, now: Instant) {
        let elapsed = now - self.begin;
        while self.audio_sent < self.audio.expected as u32
            && at(self.audio_sent, AUDIO_PER_SECOND) <= elapsed
        {
            let frame = stamped(AUDIO_FRAME, elapsed);
            // Datagrams are unreliable: one that does not fit is lost.
            let _ = connection.datagrams().send(frame.freeze(), true);
            self.audio_sent += 1;
        }
        while self.video_sent < self.video.expected as u32
            && at(self.video_sent, VIDEO_PER_SECOND) <= elapsed
        {
            self.generate_video(elapsed);
        }
        self.write(connection);
    }

    fn generate_video(&mut self, elapsed: Duration) {
        let first = self.video_sent.is_multiple_of(VIDEO_GROUP);
        if first {
            self.leaving.push_back(Outgoing {
                id: None,
                chunks: VecDeque::new(),
                is_complete: false,
            });
        }
        let size = if first {
            VIDEO_FIRST_FRAME
        } else {
            VIDEO_FRAME
        };
        let mut frame = stamped(size, elapsed);
        frame[TIME..HEADER].copy_from_slice(&(size as u32).to_be_bytes());
        self.video_sent += 1;
        let ended = self.video_sent.is_multiple_of(VIDEO_GROUP)
            || self.video_sent == self.video.expected as u32;
        if let Some(group) = self.leaving.back_mut() {
            group.chunks.push_back(frame.freeze());
            group.is_complete = ended;
        }
    }

    /// Writes the groups in their order.
    fn write(&mut self, connection: &mut Connection) {
        for group in &mut self.leaving {
            let id = match group.id {
                Some(id) => id,
                None => match connection.streams().open(Dir::Uni) {
                    Some(id) => *group.id.insert(id),
                    None => return,
                },
            };
            let mut stream = connection.send_stream(id);
            while let Some(chunk) = group.chunks.front_mut() {
                match stream.write_chunks(&mut &mut [chunk.clone()][..]) {
                    Ok(written) if written < chunk.len() => chunk.advance(written),
                    Ok(_) => drop(group.chunks.pop_front()),
                    Err(WriteError::Blocked) => return,
                    Err(_) => group.chunks.clear(),
                }
            }
            if group.is_complete {
                // Fails if the peer has stopped the stream, which is then never acknowledged.
                self.unacked += usize::from(stream.finish().is_ok());
            }
        }
        self.leaving
            .retain(|group| !group.is_complete || !group.chunks.is_empty());
    }

    pub(super) fn on_event(&mut self, event: &Event, connection: &mut Connection, now: Instant) {
        match event {
            Event::Stream(StreamEvent::Finished { .. }) => {
                self.unacked = self.unacked.saturating_sub(1);
            }
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    self.coming.push(Incoming {
                        id,
                        header: BytesMut::with_capacity(HEADER),
                        frame: None,
                    });
                    self.read(id, connection, now);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(*id, connection, now),
            Event::DatagramReceived => {
                let arrival = nanos(now - self.begin);
                while let Some(mut data) = connection.datagrams().recv() {
                    if let Ok(generated) = data.try_get_u64() {
                        self.audio.note(arrival, generated);
                    }
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, id: StreamId, connection: &mut Connection, now: Instant) {
        let Some(position) = self.coming.iter().position(|group| group.id == id) else {
            return;
        };
        let arrival = nanos(now - self.begin);
        let group = &mut self.coming[position];
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        let (mut is_sound, mut has_ended) = (true, false);
        while is_sound && !has_ended {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => is_sound = group.take(chunk.bytes, arrival, &mut self.video),
                Ok(None) | Err(ReadError::Reset(_)) => has_ended = true,
                Err(ReadError::Blocked) => break,
            }
        }
        let _ = chunks.finalize();
        if !is_sound {
            let _ = stream.stop(VarInt::from_u32(0));
        }
        if has_ended || !is_sound {
            self.coming.swap_remove(position);
        }
    }

    pub(super) fn report(&self) -> CallReport {
        let delays = self.audio.delays.iter().chain(&self.video.delays);
        let fastest = delays.min().copied().unwrap_or(0);
        CallReport {
            audio: self.audio.report(fastest),
            video: self.video.report(fastest),
        }
    }
}

impl Incoming {
    /// Parses bytes of frames; returns whether they are valid.
    fn take(&mut self, mut data: Bytes, arrival: i64, video: &mut Track) -> bool {
        while !data.is_empty() {
            let Some((generated, missing)) = &mut self.frame else {
                let part = data.split_to(data.len().min(HEADER - self.header.len()));
                self.header.extend_from_slice(&part);
                if self.header.len() == HEADER {
                    let generated = self.header.get_u64();
                    let size = self.header.get_u32() as usize;
                    self.header.clear();
                    if !(HEADER + 1..=VIDEO_FIRST_FRAME).contains(&size) {
                        return false;
                    }
                    self.frame = Some((generated, size - HEADER));
                }
                continue;
            };
            let part = data.len().min(*missing);
            data.advance(part);
            *missing -= part;
            if *missing == 0 {
                video.note(arrival, *generated);
                self.frame = None;
            }
        }
        true
    }
}

impl Track {
    fn note(&mut self, arrival: i64, generated: u64) {
        // Frames beyond the frames of a call are ignored.
        if self.delays.len() < self.expected {
            let generated = i64::try_from(generated).unwrap_or(i64::MAX);
            self.delays.push(arrival.saturating_sub(generated));
        }
    }

    fn report(&self, fastest: i64) -> TrackReport {
        let mut delays: Vec<f64> = self
            .delays
            .iter()
            .map(|delay| delay.saturating_sub(fastest) as f64 / 1e9)
            .collect();
        delays.sort_by(f64::total_cmp);
        let received = delays.len();
        let deadline = DEADLINE.as_secs_f64();
        TrackReport {
            frames: self.expected as u64,
            received: received as u64,
            late: delays.iter().filter(|delay| **delay > deadline).count() as u64,
            mean_delay_s: delays.iter().fold(0.0, |sum, delay| sum + delay)
                / received.max(1) as f64,
            p95_delay_s: delays.get(received * 19 / 20).copied().unwrap_or(0.0),
            max_delay_s: delays.last().copied().unwrap_or(0.0),
        }
    }
}

fn stamped(size: usize, elapsed: Duration) -> BytesMut {
    let mut frame = BytesMut::zeroed(size);
    frame[..TIME].copy_from_slice(&nanos(elapsed).to_be_bytes());
    frame
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(expected: usize) -> Track {
        let delays = Vec::new();
        Track { expected, delays }
    }

    fn incoming() -> Incoming {
        Incoming {
            id: StreamId::new(noq_proto::Side::Client, Dir::Uni, 0),
            header: BytesMut::new(),
            frame: None,
        }
    }

    #[test]
    fn frames_are_found_however_the_stream_is_cut() {
        let mut whole = BytesMut::new();
        for (number, size) in [100_u32, 13, 37_500].into_iter().enumerate() {
            let mut frame = stamped(size as usize, Duration::from_nanos(number as u64 * 10));
            frame[TIME..HEADER].copy_from_slice(&size.to_be_bytes());
            whole.unsplit(frame);
        }
        for step in [1, 7, 12, 13, 1200, whole.len()] {
            let (mut group, mut video) = (incoming(), track(5));
            for part in whole.chunks(step) {
                assert!(group.take(Bytes::copy_from_slice(part), 1000, &mut video));
            }
            assert_eq!(video.delays, [1000, 990, 980], "{step}");
        }
    }

    #[test]
    fn a_frame_that_no_call_sends_ends_its_stream() {
        for size in [0_u32, 12, 37_501, u32::MAX] {
            let mut frame = stamped(HEADER, Duration::ZERO);
            frame[TIME..].copy_from_slice(&size.to_be_bytes());
            assert!(!incoming().take(frame.freeze(), 0, &mut track(5)), "{size}");
        }
    }

    #[test]
    fn delays_are_those_beyond_the_fastest_frame_and_more_frames_than_expected_are_not_counted() {
        let mut audio = track(3);
        // The clock of the sender is 5 ms ahead, then frames take 1, 2 and 301 ms.
        for (arrival, generated) in [
            (1_000_000, 5_000_000),
            (2_000_000, 5_000_000),
            (301_000_000, 5_000_000),
        ] {
            audio.note(arrival, generated);
        }
        audio.note(0, 0);
        let report = audio.report(1_000_000 - 5_000_000);
        assert_eq!((report.frames, report.received, report.late), (3, 3, 1));
        assert!((report.max_delay_s - 0.300).abs() < 1e-9, "{report:?}");
        // (0 + 1 + 300) / 3 ms
        assert!(
            (report.mean_delay_s - 0.301 / 3.0).abs() < 1e-9,
            "{report:?}"
        );
    }
}
