//! One stream of media: what its sender generates, and what its receiver gets.

use super::FrameRecord;
use super::encoder::Encoder;
use super::part::Part;
use super::repair::{Repair, Repaired};
use super::share::Share;
use crate::scenario::media::{MediaSpec, PART};
use crate::scenario::schema::Carriage;
use crate::trial::stack::Endpoint;
use std::collections::VecDeque;
use thalweg_transport::Role;
use thalweg_units::{Bytes, Duration, Instant};

/// Bytes of a request for media.
pub(super) const REQUEST: u64 = 16;
/// How long to wait for a datagram stream after its last nominal time: datagrams may be lost.
const GRACE: Duration = Duration::from_secs(1);

/// A group at its sender: when it begins and which frame comes next.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) group: u32,
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

/// The state of a stream of media.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) spec: MediaSpec,
    next_request: u32,
    pub(super) outgoing: VecDeque<Outgoing>,
    incoming: VecDeque<Incoming>,
    /// Finished groups.
    finished_groups: u32,
    datagrams_received: u32,
    /// Missing datagrams are no longer waited for.
    pub(super) gave_up: bool,
    pub(super) records: Vec<FrameRecord>,
    pub(super) skipped: u32,
    /// Frames that it has in all, pauses aside.
    unpaused: u32,
    /// Frames generated from the start of measurement on.
    pub(super) generated: u32,
    pub(super) encoder: Option<Encoder>,
    /// Sizes of the frames that an encoder has made, and how many datagrams of each are still to arrive.
    encoded: Vec<(u64, u32)>,
    repair: Option<Repair>,
    /// The newest frame that has been sent, and when.
    newest: Option<(Instant, Part)>,
    /// Bytes of media and of its repair that were sent, and that no prober has been told of.
    pub(super) sent: u64,
}

impl Track {
    /// The track of a stream of `flow` in a trial.
    pub(super) fn new(spec: &MediaSpec, trial: u64, flow: &str, is_coded: bool) -> Track {
        let is_coded = is_coded && spec.carriage == Carriage::Datagrams;
        Track {
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
            repair: (is_coded || spec.repair.is_any()).then(|| Repair::new(spec)),
            newest: None,
            sent: 0,
        }
    }

    /// Requests (or, at the client, the beginning of what it sends itself) that there are in all.
    fn requests(&self) -> u32 {
        match self.spec.carriage {
            Carriage::Datagrams => 1,
            Carriage::Streams => self.spec.groups(),
        }
    }

    pub(super) fn next(&self, start: Instant) -> Instant {
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
    pub(super) fn gives_up_at(&self, start: Instant) -> Instant {
        match self.spec.carriage {
            Carriage::Datagrams => start + self.spec.span(self.spec.frames) + GRACE,
            Carriage::Streams => Instant::NEVER,
        }
    }

    /// Asks for what is due, with the priority of the media or a more urgent one.
    pub(super) fn request(
        &mut self,
        (now, start): (Instant, Instant),
        (index, count): (u32, u32),
        client: &mut Endpoint,
        urgency: Option<u8>,
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
                    let priority = urgency.unwrap_or(self.spec.priority);
                    let id = group * count + index;
                    client.write(id, REQUEST, true, priority, takes_turns(priority));
                }
            }
        }
    }

    pub(super) fn begin_group(&mut self, group: u32, now: Instant) {
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

    pub(super) fn generate(
        &mut self,
        (now, start): (Instant, Instant),
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
                // As outcomes count: by the nominal time, from the start of the trial.
                let nominal = start + spec.span(frame);
                let is_measured = !is_paused && nominal >= Instant::START + spec.measure_from;
                self.generated += u32::from(is_measured);
                let fixed = spec.fixed_size(position);
                let size = match (&mut self.encoder, fixed) {
                    _ if is_paused => 0,
                    (Some(encoder), None) => {
                        let allowed = share.allowed(sender);
                        let allowed =
                            allowed.map(|rate| spec.repair.without_fec(rate, spec.per_second));
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
                self.sent += size;
                match spec.carriage {
                    Carriage::Datagrams => {
                        let whole = Part {
                            stream: index,
                            frame: position,
                            number: 0,
                            is_repeat: false,
                        };
                        for part in 0..parts {
                            let len = PART.min(size - part * PART);
                            let number = if self.repair.is_some() { part } else { 0 };
                            let number = number as u32;
                            let tag = Part { number, ..whole }.tag();
                            sender.send_datagram(len as u32, tag, spec.priority);
                        }
                        if let Some(repair) = &mut self.repair {
                            let urgency = (size, spec.priority);
                            self.sent += repair.protect(whole, urgency, is_measured, sender);
                            if !is_paused {
                                self.newest = Some((now, whole));
                            }
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

    /// A datagram of a frame has arrived: how many bytes of media can be used now.
    pub(super) fn take_datagram(
        &mut self,
        now: Instant,
        start: Instant,
        part: Part,
        len: u32,
    ) -> u64 {
        let frame = part.frame;
        let is_counted = self.is_counted(start, frame);
        let sent = self.sent_size(frame);
        let arrival = (self.repair.as_mut()).map(|repair| repair.take(part, sent, is_counted));
        match arrival {
            None => self.take_part(now, start, frame),
            Some(arrival) if arrival.completes => self.complete(now, start, frame, sent),
            Some(_) => {}
        }
        arrival.map_or(u64::from(len), |arrival| arrival.bytes)
    }

    /// The size of a frame that has been sent, of a stream of datagrams.
    fn sent_size(&self, frame: u32) -> u64 {
        match self.encoded.get(frame as usize) {
            Some((size, _)) => *size,
            None => self.spec.fixed_size(frame).unwrap_or(0),
        }
    }

    /// Whether outcomes count a frame of a stream of datagrams.
    fn is_counted(&self, start: Instant, frame: u32) -> bool {
        start + self.spec.span(frame) >= Instant::START + self.spec.measure_from
    }

    /// A datagram of a frame is lost.
    pub(super) fn lose_datagram(
        &mut self,
        now: Instant,
        start: Instant,
        (part, len): (Part, u32),
        sender: &mut Endpoint,
    ) {
        let is_counted = self.is_counted(start, part.frame);
        let sent = (self.sent_size(part.frame), self.spec.priority, len);
        let (spec, Some(repair)) = (&self.spec, &mut self.repair) else {
            return;
        };
        let until = start + spec.span(part.frame) + spec.deadline;
        self.sent += repair.lose(part, sent, (now, until), is_counted, sender);
        let passed = now.since(start + spec.deadline).as_nanos() / spec.span(1).as_nanos();
        repair.forget_before(u32::try_from(passed).unwrap_or(u32::MAX));
    }

    /// A datagram that was to be sent again has not left in time.
    pub(super) fn expire_datagram(&mut self, start: Instant, part: Part, len: u32) {
        let is_counted = self.is_counted(start, part.frame);
        if let Some(repair) = &mut self.repair {
            repair.expire(len, is_counted);
        }
    }

    /// When its newest frame was sent, of a stream that probes are packets of repair of.
    pub(super) fn newest_at(&self) -> Option<Instant> {
        self.newest.map(|(at, _)| at)
    }

    /// A packet of repair of its newest frame, and its size.
    pub(super) fn further(&mut self) -> Option<(Part, u64)> {
        let (_, frame) = self.newest?;
        let size = self.sent_size(frame.frame);
        self.repair.as_mut()?.further(frame, size)
    }

    /// What repair took and gave.
    pub(super) fn repaired(&self) -> Option<Repaired> {
        self.repair.as_ref().map(|repair| repair.counted)
    }

    /// A datagram of a frame of a stream without repair has arrived.
    fn take_part(&mut self, now: Instant, start: Instant, frame: u32) {
        let size = match self.encoded.get_mut(frame as usize) {
            None => self.spec.fixed_size(frame).unwrap_or(0),
            Some((size, parts)) => {
                *parts = parts.saturating_sub(1);
                if *parts > 0 {
                    return;
                }
                *size
            }
        };
        self.complete(now, start, frame, size);
    }

    /// All of a frame of a stream of datagrams has arrived.
    fn complete(&mut self, now: Instant, start: Instant, frame: u32, size: u64) {
        let begun = self
            .incoming
            .front()
            .map_or(start, |incoming| incoming.generated);
        self.datagrams_received += 1;
        self.records.push(FrameRecord {
            nominal: start + self.spec.span(frame),
            generated: begun + self.spec.span(frame),
            received: now,
            size: Bytes::new(size),
        });
    }

    /// Counts the frames that are now complete; true if the rest of the group is to be cancelled.
    pub(super) fn take_stream_data(
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
                size: Bytes::new(size),
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

    /// Numbers of frames, nominal times until `end`, and when the frames arrived.
    pub(super) fn frames(
        &self,
        start: Instant,
        end: Instant,
    ) -> Vec<(u32, Instant, Option<Instant>)> {
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
            .map(|frame| (frame, self.nominal(start, frame)))
            .take_while(|(_, nominal)| *nominal <= end)
            .map(|(frame, nominal)| (frame, nominal, received(nominal)))
            .collect()
    }

    pub(super) fn is_over(&self, now: Instant, start: Instant) -> bool {
        match self.spec.carriage {
            Carriage::Streams => self.finished_groups == self.spec.groups(),
            Carriage::Datagrams => {
                self.datagrams_received >= self.unpaused || now >= self.gives_up_at(start)
            }
        }
    }
}

/// Streams of an even priority are served in round robin, streams of an odd one in order, as in the reference.
fn takes_turns(priority: u8) -> bool {
    priority.is_multiple_of(2)
}
