//! A media call: audio as datagrams, video as groups of frames, each group a stream.
//!
//! # Model
//! A stream of media has `per_second` frames; frame `k` has the nominal time `start + k / per_second`, where
//! `start` is when the client's connection is ready. Video consists of groups whose first frame
//! (an I-frame) is larger. The client requests the media of the server: one request for a datagram stream, one
//! for each group of video, sent at the nominal time of the group; the server generates frame `k` of a request
//! at `arrival of the request + k / per_second`. Media of the client needs no
//! request. With `skip_after`, a receiver that falls behind by more cancels the group with STOP_SENDING,
//! and continues with the next group.
//!
//! Frames have fixed sizes, or those of an encoder that follows the rate which congestion control allows ([`encoder`]). That
//! is, at the time of each frame:
//!
//! - what the controller determines as the rate of media, or else the pacing rate, or the window over the smoothed RTT if
//!   that is less (`Control::rate`),
//! - of which headers take what they take of a full packet,
//! - less the mean rates of the streams of the same sender whose frames have fixed sizes,
//! - shared equally by its other streams, each of which uses the part of it that `uses` says.
//!
//! A frame of an encoder that is carried by datagrams is split into datagrams of at most 1150 bytes, as RTP would split it,
//! and arrives when all of them have; one that is lost is not sent again. During a pause a stream has no frames, and a group without frames is not
//! requested.
//!
//! The *delay* of a frame is from its nominal time to the arrival of its last byte. For media from the
//! server it includes the request, so it is at least one RTT. The *one-way delay* is from
//! generation.
//!
//! # Source
//! draft-huitema-ccwg-c4-test, "Handling of Multimedia Applications", with the definitions of the reference
//! simulator. It has groups of 30 frames and an I-frame with 149 P-frames, a contradiction; 30 matches
//! its groups of one second at 30 frames per second. The reference's timer bug, which delays a third of its audio
//! frames in the application, is not reproduced.
//!
//! # Limits
//! A sender drops no frame that waits: what a rate that falls leaves behind is sent late. Of RTP and RTCP nothing is
//! modelled but what QUIC does in their place: there are no reports, retransmissions (NACK), requests of key frames
//! (PLI, FIR) and no error correction. The receiver shows a frame when it arrives, without a jitter buffer.
//!
//! [`encoder`]: crate::trial::encoder

use crate::scenario::media::MediaSpec;
use crate::scenario::schema::Carriage;
use crate::trial::encoder::{Encoded, Encoder};
use crate::trial::stack::Endpoint;
use std::collections::VecDeque;
use thalweg_transport::Role;
use thalweg_transport::packet::full_packet_payload;
use thalweg_units::{Duration, Instant, Rate};

/// Bytes of a request for media.
const REQUEST: u64 = 16;
/// How long to wait for a datagram stream after its last nominal time: datagrams may be lost.
const GRACE: Duration = Duration::from_secs(1);

/// Bytes of a datagram that is a part of a frame: what fits a packet of any path.
const PART: u64 = 1_150;

/// One delivered frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameRecord {
    pub(crate) nominal: Instant,
    pub(crate) generated: Instant,
    pub(crate) received: Instant,
}

/// A group at its sender: when it begins and which frame comes next.
#[derive(Debug)]
struct Outgoing {
    group: u32,
    start: Instant,
    next_frame: u32,
}

/// A group at its receiver.
#[derive(Debug)]
struct Incoming {
    group: u32,
    /// When the sender started it, for the one-way delay.
    generated: Instant,
    received: u32,
    /// Bytes of the frames received.
    bytes: u64,
}

#[derive(Debug)]
struct Track {
    spec: MediaSpec,
    next_request: u32,
    outgoing: VecDeque<Outgoing>,
    incoming: VecDeque<Incoming>,
    /// Finished groups.
    finished_groups: u32,
    datagrams_received: u32,
    /// Missing datagrams are no longer waited for.
    gave_up: bool,
    records: Vec<FrameRecord>,
    skipped: u32,
    /// Frames that it has in all, pauses aside.
    unpaused: u32,
    /// Frames generated from the start of measurement on.
    generated: u32,
    encoder: Option<Encoder>,
    /// Sizes of the frames that an encoder has made, and how many datagrams of each are still to arrive.
    encoded: Vec<(u64, u32)>,
}

/// What became of the frames of a stream.
pub(crate) struct StreamRecords<'a> {
    pub(crate) spec: &'a MediaSpec,
    /// When the call began.
    pub(crate) start: Instant,
    /// The delivered frames, in order of arrival.
    pub(crate) delivered: &'a [FrameRecord],
    /// Frames that were cancelled.
    pub(crate) skipped: u32,
    /// Frames generated from the start of measurement on.
    pub(crate) generated: u32,
    /// What the encoder did, if there is one.
    pub(crate) encoded: Option<Encoded>,
}

/// What the encoders of one sender are allowed.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// Rates of streams whose frames have fixed sizes.
    fixed: Rate,
    /// Streams with an encoder.
    encoders: u64,
}

impl Share {
    fn of(specs: &[MediaSpec], role: Role) -> Share {
        let mine = || specs.iter().filter(|spec| spec.from == role);
        let rates = mine().filter_map(MediaSpec::fixed_rate);
        let sum = rates
            .map(Rate::as_bits_per_sec)
            .fold(0, u64::saturating_add);
        Share {
            fixed: Rate::from_bits_per_sec(sum),
            encoders: mine().filter(|spec| spec.encoder().is_some()).count() as u64,
        }
    }

    /// What `sender` allows each encoder, if it knows.
    fn allowed(self, sender: &Endpoint) -> Option<Rate> {
        if self.encoders == 0 {
            return None;
        }
        let mtu = sender.path().mtu;
        let payload = full_packet_payload(mtu);
        let rate = sender.media_rate()?;
        let rate = rate
            .mul_div(payload.as_u64(), mtu.as_u64())
            .as_bits_per_sec();
        let left = rate.saturating_sub(self.fixed.as_bits_per_sec());
        Some(Rate::from_bits_per_sec(left / self.encoders))
    }
}

/// The state of one call.
#[derive(Debug)]
pub(crate) struct Call {
    start: Option<Instant>,
    tracks: Vec<Track>,
    /// Of the client and of the server.
    shares: [Share; 2],
}

impl Call {
    /// The call of `flow` in a trial.
    pub(crate) fn new(specs: &[MediaSpec], trial: u64, flow: &str) -> Self {
        let track = |spec: &MediaSpec| Track {
            spec: spec.clone(),
            next_request: 0,
            outgoing: VecDeque::new(),
            incoming: VecDeque::new(),
            finished_groups: 0,
            datagrams_received: 0,
            gave_up: false,
            records: Vec::with_capacity(spec.frames as usize),
            skipped: 0,
            unpaused: spec.unpaused_frames(),
            generated: 0,
            encoder: (spec.encoder()).map(|encoder| Encoder::new(encoder, trial, flow, spec)),
            encoded: match spec.encoder() {
                Some(_) => vec![(0, 0); spec.frames as usize],
                None => Vec::new(),
            },
        };
        Call {
            start: None,
            shares: Role::BOTH.map(|role| Share::of(specs, role)),
            tracks: specs.iter().map(track).collect(),
        }
    }

    /// The client is ready: the call starts.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.start = Some(now);
    }

    /// When [`Call::tick`] has something to do.
    pub(crate) fn next(&self) -> Instant {
        let Some(start) = self.start else {
            return Instant::NEVER;
        };
        let times = self.tracks.iter().map(|track| track.next(start));
        times.min().unwrap_or(Instant::NEVER)
    }

    /// Sends the requests and generates the frames that are due.
    pub(crate) fn tick(&mut self, now: Instant, client: &mut Endpoint, server: &mut Endpoint) {
        let Some(start) = self.start else { return };
        let count = self.tracks.len() as u32;
        for (index, track) in self.tracks.iter_mut().enumerate() {
            track.gave_up |= now >= track.gives_up_at(start);
            track.request(now, start, index as u32, count, client);
            let [of_client, of_server] = self.shares;
            let (sender, share) = match track.spec.from {
                Role::Client => (&mut *client, of_client),
                Role::Server => (&mut *server, of_server),
            };
            track.generate(now, (index as u32, count), sender, share);
        }
    }

    /// Whether stream `id` brings a request to `side`, and not media.
    pub(crate) fn is_request(&self, side: Role, id: u32) -> bool {
        let track = self.tracks.get(id as usize % self.tracks.len().max(1));
        side == Role::Server && track.is_some_and(|track| track.spec.from == Role::Server)
    }

    /// A request has arrived at the server, which starts to generate.
    pub(crate) fn on_request(&mut self, now: Instant, id: u32) {
        let count = self.tracks.len() as u32;
        let (index, group) = (id % count, id / count);
        if let Some(track) = self.tracks.get_mut(index as usize) {
            track.begin_group(group, now);
        }
    }

    /// More of stream `id` can be read by `receiver`.
    pub(crate) fn on_stream_data(
        &mut self,
        now: Instant,
        id: u32,
        contiguous: u64,
        complete: bool,
        receiver: &mut Endpoint,
    ) {
        let Some(start) = self.start else { return };
        let count = self.tracks.len() as u32;
        let (index, group) = (id % count, id / count);
        let Some(track) = self.tracks.get_mut(index as usize) else {
            return;
        };
        if track.take_stream_data(now, start, group, contiguous, complete) {
            receiver.stop_receiving(id);
        }
    }

    pub(crate) fn on_datagram(&mut self, now: Instant, tag: u64) {
        let (index, frame) = ((tag >> 32) as usize, tag as u32);
        if let (Some(start), Some(track)) = (self.start, self.tracks.get_mut(index)) {
            let begun = track
                .incoming
                .front()
                .map_or(start, |incoming| incoming.generated);
            if let Some((_, parts)) = track.encoded.get_mut(frame as usize) {
                *parts = parts.saturating_sub(1);
                if *parts > 0 {
                    return;
                }
            }
            track.datagrams_received += 1;
            track.records.push(FrameRecord {
                nominal: start + track.spec.span(frame),
                generated: begun + track.spec.span(frame),
                received: now,
            });
        }
    }

    /// The sender has learnt that a group is cancelled.
    pub(crate) fn on_stop_sending(&mut self, id: u32) {
        let count = self.tracks.len() as u32;
        if let Some(track) = self.tracks.get_mut((id % count) as usize) {
            track
                .outgoing
                .retain(|outgoing| outgoing.group != id / count);
        }
    }

    /// Whether all groups have ended, and all datagrams have arrived or count as lost.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.start
            .is_some_and(|start| self.tracks.iter().all(|track| track.is_over(now, start)))
    }

    /// For each stream of the call: its specification, and every frame that was due by `end`, with the time of its
    /// arrival.
    pub(crate) fn frames(
        &self,
        end: Instant,
    ) -> impl Iterator<Item = (&MediaSpec, Vec<(Instant, Option<Instant>)>)> {
        let start = self.start;
        self.tracks.iter().filter_map(move |track| {
            let frames = track.frames(start?, end);
            Some((&track.spec, frames))
        })
    }

    /// What became of the frames of each stream.
    pub(crate) fn records(&self) -> impl Iterator<Item = StreamRecords<'_>> {
        let start = self.start.unwrap_or(Instant::START);
        self.tracks.iter().map(move |track| StreamRecords {
            spec: &track.spec,
            start,
            delivered: track.records.as_slice(),
            skipped: track.skipped,
            generated: track.generated,
            encoded: track.encoder.as_ref().map(|encoder| encoder.measured),
        })
    }
}

impl Track {
    /// Requests (or, at the client, the beginning of what it sends itself) that there are in all.
    fn requests(&self) -> u32 {
        match self.spec.carriage {
            Carriage::Datagrams => 1,
            Carriage::Streams => self.spec.groups(),
        }
    }

    fn next(&self, start: Instant) -> Instant {
        let request = if self.next_request < self.requests() {
            start + self.spec.span(self.next_request * self.spec.group)
        } else {
            Instant::NEVER
        };
        let frames = self
            .outgoing
            .iter()
            .map(|o| o.start + self.spec.span(o.next_frame));
        let waits = !self.gave_up && self.datagrams_received < self.unpaused;
        let give_up = if waits {
            self.gives_up_at(start)
        } else {
            Instant::NEVER
        };
        frames.fold(request.min(give_up), Instant::min)
    }

    /// When the wait for missing datagrams ends; never on streams.
    fn gives_up_at(&self, start: Instant) -> Instant {
        match self.spec.carriage {
            Carriage::Datagrams => start + self.spec.span(self.spec.frames) + GRACE,
            Carriage::Streams => Instant::NEVER,
        }
    }

    fn request(
        &mut self,
        now: Instant,
        start: Instant,
        index: u32,
        count: u32,
        client: &mut Endpoint,
    ) {
        while self.next_request < self.requests() {
            let group = self.next_request;
            let nominal = start + self.spec.span(group * self.spec.group);
            if nominal > now {
                break;
            }
            self.next_request += 1;
            if self.is_without_frames(group) {
                self.finished_groups += 1;
                continue;
            }
            match self.spec.from {
                Role::Client => self.begin_group(group, nominal),
                Role::Server => {
                    let (id, priority) = (group * count + index, self.spec.priority);
                    client.write(id, REQUEST, true, priority, takes_turns(priority));
                }
            }
        }
    }

    fn begin_group(&mut self, group: u32, now: Instant) {
        self.outgoing.push_back(Outgoing {
            group,
            start: now,
            next_frame: 0,
        });
        self.incoming.push_back(Incoming {
            group,
            generated: now,
            received: 0,
            bytes: 0,
        });
    }

    /// Whether the stream pauses for a whole group.
    fn is_without_frames(&self, group: u32) -> bool {
        let first = group * self.spec.group;
        let mut frames = first..first + self.spec.group_frames(group);
        self.spec.carriage == Carriage::Streams && frames.all(|frame| self.spec.is_paused(frame))
    }

    fn generate(
        &mut self,
        now: Instant,
        (index, count): (u32, u32),
        sender: &mut Endpoint,
        share: Share,
    ) {
        let spec = &self.spec;
        let frames_of = |outgoing: &Outgoing| match spec.carriage {
            Carriage::Datagrams => spec.frames,
            Carriage::Streams => spec.group_frames(outgoing.group),
        };
        for outgoing in &mut self.outgoing {
            let frames = frames_of(outgoing);
            while outgoing.next_frame < frames
                && outgoing.start + spec.span(outgoing.next_frame) <= now
            {
                let position = outgoing.next_frame;
                outgoing.next_frame += 1;
                let frame = outgoing.group * spec.group + position;
                let is_paused = spec.is_paused(frame);
                let is_measured = !is_paused && spec.span(frame) >= spec.measure_from;
                self.generated += u32::from(is_measured);
                let fixed = spec.fixed_size(position);
                let size = match (&mut self.encoder, fixed) {
                    _ if is_paused => 0,
                    (Some(encoder), None) => {
                        let allowed = share.allowed(sender);
                        encoder.encode(now, frame, allowed, is_measured)
                    }
                    (_, fixed) => fixed.unwrap_or(0),
                };
                let parts = match spec.carriage {
                    Carriage::Datagrams => size.div_ceil(PART),
                    Carriage::Streams => 0,
                };
                if let Some(encoded) = self.encoded.get_mut(frame as usize) {
                    *encoded = (size, parts as u32);
                }
                match spec.carriage {
                    Carriage::Datagrams => {
                        let tag = u64::from(index) << 32 | u64::from(position);
                        for part in 0..parts {
                            let len = PART.min(size - part * PART);
                            sender.send_datagram(len as u32, tag, spec.priority);
                        }
                    }
                    Carriage::Streams => {
                        let (id, last) = (outgoing.group * count + index, position + 1 == frames);
                        let turns = takes_turns(spec.priority);
                        if size > 0 || last {
                            sender.write(id, size, last, spec.priority, turns);
                        }
                    }
                }
            }
        }
        self.outgoing
            .retain(|outgoing| outgoing.next_frame < frames_of(outgoing));
    }

    /// Counts the frames that are now complete; true if the rest of the group is to be cancelled.
    fn take_stream_data(
        &mut self,
        now: Instant,
        start: Instant,
        group: u32,
        contiguous: u64,
        complete: bool,
    ) -> bool {
        let frames = self.spec.group_frames(group);
        let group_start = start + self.spec.span(group * self.spec.group);
        let Some(position) = self
            .incoming
            .iter()
            .position(|incoming| incoming.group == group)
        else {
            return false;
        };
        let (spec, incoming) = (&self.spec, &mut self.incoming[position]);
        let mut skip = false;
        while incoming.received < frames {
            let frame = group * spec.group + incoming.received;
            let encoded = || {
                self.encoded
                    .get(frame as usize)
                    .map_or(0, |(size, _)| *size)
            };
            let is_paused = spec.is_paused(frame);
            let size = match spec.fixed_size(incoming.received) {
                _ if is_paused => 0,
                Some(fixed) => fixed,
                None => encoded(),
            };
            // A frame of an encoder is not empty, so that it is not made yet.
            let is_there = incoming.bytes + size <= contiguous && (size > 0 || is_paused);
            if !is_there {
                break;
            }
            let position = incoming.received;
            incoming.bytes += size;
            incoming.received += 1;
            if is_paused {
                continue;
            }
            self.records.push(FrameRecord {
                nominal: group_start + spec.span(position),
                generated: incoming.generated + spec.span(position),
                received: now,
            });
            let next_due = group_start + spec.span(incoming.received);
            skip = incoming.received < frames
                && spec.skip_after.is_some_and(|limit| now > next_due + limit);
        }
        if skip {
            self.skipped += frames - incoming.received;
        }
        if skip || complete {
            self.finished_groups += 1;
            self.incoming.remove(position);
        }
        skip
    }

    /// The nominal time of a frame, counted from the first of the call.
    fn nominal(&self, start: Instant, frame: u32) -> Instant {
        let (group, position) = (frame / self.spec.group, frame % self.spec.group);
        start + self.spec.span(group * self.spec.group) + self.spec.span(position)
    }

    /// Nominal times until `end`, and when the frames arrived.
    fn frames(&self, start: Instant, end: Instant) -> Vec<(Instant, Option<Instant>)> {
        let mut came: Vec<(Instant, Instant)> = (self.records.iter())
            .map(|record| (record.nominal, record.received))
            .collect();
        came.sort_unstable();
        let received = |nominal| {
            let position = came.binary_search_by_key(&nominal, |(nominal, _)| *nominal);
            position.ok().map(|position| came[position].1)
        };
        (0..self.spec.frames)
            .filter(|frame| !self.spec.is_paused(*frame))
            .map(|frame| self.nominal(start, frame))
            .take_while(|nominal| *nominal <= end)
            .map(|nominal| (nominal, received(nominal)))
            .collect()
    }

    fn is_over(&self, now: Instant, start: Instant) -> bool {
        match self.spec.carriage {
            Carriage::Streams => self.finished_groups == self.spec.groups(),
            Carriage::Datagrams => {
                self.datagrams_received >= self.unpaused || now >= self.gives_up_at(start)
            }
        }
    }
}

/// Streams of an even priority are served in round robin, those of an odd one in order, as in the reference.
fn takes_turns(priority: u8) -> bool {
    priority.is_multiple_of(2)
}
