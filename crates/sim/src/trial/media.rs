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
//! Frames have fixed sizes, and no codec reacts to the delay.

use crate::scenario::media::MediaSpec;
use crate::scenario::schema::Carriage;
use crate::trial::stack::Endpoint;
use std::collections::VecDeque;
use thalweg_transport::Role;
use thalweg_units::{Duration, Instant};

/// Bytes of a request for media.
const REQUEST: u64 = 16;
/// How long to wait for a datagram stream after its last nominal time: datagrams may be lost.
const GRACE: Duration = Duration::from_secs(1);

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
}

/// The state of one call.
#[derive(Debug)]
pub(crate) struct Call {
    start: Option<Instant>,
    tracks: Vec<Track>,
}

impl Call {
    pub(crate) fn new(specs: &[MediaSpec]) -> Self {
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
        };
        Call {
            start: None,
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
            let sender = match track.spec.from {
                Role::Client => &mut *client,
                Role::Server => &mut *server,
            };
            track.generate(now, index as u32, count, sender);
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

    /// For each stream of the call: its specification, the delivered frames in order of arrival, and
    /// how many frames were cancelled.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&MediaSpec, &[FrameRecord], u32)> {
        self.tracks
            .iter()
            .map(|track| (&track.spec, track.records.as_slice(), track.skipped))
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
        let waits = !self.gave_up && self.datagrams_received < self.spec.frames;
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
        });
    }

    fn generate(&mut self, now: Instant, index: u32, count: u32, sender: &mut Endpoint) {
        let spec = &self.spec;
        for outgoing in &mut self.outgoing {
            let frames = match spec.carriage {
                Carriage::Datagrams => spec.frames,
                Carriage::Streams => spec.group_frames(outgoing.group),
            };
            while outgoing.next_frame < frames
                && outgoing.start + spec.span(outgoing.next_frame) <= now
            {
                let position = outgoing.next_frame;
                outgoing.next_frame += 1;
                match spec.carriage {
                    Carriage::Datagrams => {
                        let tag = u64::from(index) << 32 | u64::from(position);
                        sender.send_datagram(spec.frame_size(position) as u32, tag, spec.priority);
                    }
                    Carriage::Streams => {
                        let (id, last) = (outgoing.group * count + index, position + 1 == frames);
                        let turns = takes_turns(spec.priority);
                        sender.write(id, spec.frame_size(position), last, spec.priority, turns);
                    }
                }
            }
        }
        let done = |outgoing: &Outgoing| match spec.carriage {
            Carriage::Datagrams => outgoing.next_frame == spec.frames,
            Carriage::Streams => outgoing.next_frame == spec.group_frames(outgoing.group),
        };
        self.outgoing.retain(|outgoing| !done(outgoing));
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
        let incoming = &mut self.incoming[position];
        let mut skip = false;
        while incoming.received < frames
            && self.spec.bytes_until(incoming.received + 1) <= contiguous
        {
            let frame = incoming.received;
            incoming.received += 1;
            self.records.push(FrameRecord {
                nominal: group_start + self.spec.span(frame),
                generated: incoming.generated + self.spec.span(frame),
                received: now,
            });
            let next_due = group_start + self.spec.span(incoming.received);
            skip = incoming.received < frames
                && self
                    .spec
                    .skip_after
                    .is_some_and(|limit| now > next_due + limit);
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
            .map(|frame| self.nominal(start, frame))
            .take_while(|nominal| *nominal <= end)
            .map(|nominal| (nominal, received(nominal)))
            .collect()
    }

    fn is_over(&self, now: Instant, start: Instant) -> bool {
        match self.spec.carriage {
            Carriage::Streams => self.finished_groups == self.spec.groups(),
            Carriage::Datagrams => {
                self.datagrams_received >= self.spec.frames || now >= self.gives_up_at(start)
            }
        }
    }
}

/// Streams of an even priority are served in round robin, those of an odd one in order, as in the reference.
fn takes_turns(priority: u8) -> bool {
    priority.is_multiple_of(2)
}
