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
//! Frames have fixed sizes, or the sizes of an encoder that follows the rate which congestion control allows
//! ([`encoder`]). That is, at the time of each frame:
//!
//! - what the controller determines as the rate of media, or else the pacing rate, or the window over the smoothed
//!   RTT if that is less (`Control::rate`),
//! - of which headers take what they take of a full packet,
//! - less the mean rates of the streams of the same sender whose frames have fixed sizes,
//! - shared equally by its other streams, each of which uses the part of it that `uses` says.
//!
//! A frame of an encoder that is carried by datagrams is split into datagrams of at most 1150 bytes, as RTP would
//! split it, and arrives when all of them have; one that is lost is not sent again, unless the stream has [`repair`].
//! During a pause a stream has no frames, and a group without frames is not requested.
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
//! modelled but what QUIC does in their place: there are no reports and no requests of key frames (PLI, FIR). The
//! receiver shows a frame when it arrives, without a jitter buffer.

pub(crate) mod encoder;
mod part;
mod prober;
mod repair;
mod share;
mod track;

use crate::scenario::media::{MediaSpec, ProbeSpec};
use crate::trial::stack::Endpoint;
use encoder::Encoded;
use part::Part;
use prober::Prober;
pub(crate) use repair::Repaired;
use share::Share;
use std::collections::BTreeMap;
use thalweg_transport::{AppEvent, Role};
use thalweg_units::{Bytes, Instant, Rate};
use track::{REQUEST, Track};

/// Priority of the requests of a client that sends media too: behind its frames a request would wait for the pacer, and all
/// frames that it asks for would be late by that.
const BEFORE_MEDIA: u8 = 0;

/// One delivered frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameRecord {
    pub(crate) nominal: Instant,
    pub(crate) generated: Instant,
    pub(crate) received: Instant,
    pub(crate) size: Bytes,
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
    /// What repair took and gave, if there is any.
    pub(crate) repaired: Option<Repaired>,
}

/// The state of one call.
#[derive(Debug)]
pub(crate) struct Call {
    start: Option<Instant>,
    tracks: Vec<Track>,
    /// The shares of the client and of the server.
    shares: [Share; 2],
    /// The probers of the client and of the server.
    probers: [Option<Prober>; 2],
    /// Requests that have arrived.
    requests: u64,
    /// Bytes of datagrams that have arrived.
    datagram_bytes: u64,
}

impl Call {
    /// The call of `flow` in a trial.
    pub(crate) fn new(
        specs: &[MediaSpec],
        probe: Option<ProbeSpec>,
        trial: u64,
        flow: &str,
    ) -> Self {
        let is_coded = probe.as_ref().is_some_and(ProbeSpec::is_coded);
        let sends = |role: Role| specs.iter().any(|spec| spec.from == role);
        Call {
            probers: Role::BOTH.map(|role| probe.filter(|_| sends(role)).map(Prober::new)),
            start: None,
            requests: 0,
            datagram_bytes: 0,
            shares: Role::BOTH.map(|role| Share::of(specs, role)),
            tracks: (specs.iter())
                .map(|spec| Track::new(spec, trial, flow, is_coded))
                .collect(),
        }
    }

    /// Its encoders draw from the streams of another seed from now on.
    pub(crate) fn reseed(&mut self, seed: u64, flow: &str) {
        for track in &mut self.tracks {
            if let Some(encoder) = &mut track.encoder {
                encoder.reseed(seed, flow, &track.spec.name);
            }
        }
    }

    /// Its encoders record the rate of each frame.
    pub(crate) fn record_rates(&mut self) {
        for encoder in self
            .tracks
            .iter_mut()
            .filter_map(|track| track.encoder.as_mut())
        {
            encoder.rates = Some(BTreeMap::new());
        }
    }

    /// The rate of the encoder of a stream at a frame, by its number, and what it was allowed.
    pub(crate) fn rates_at(&self, stream: usize, frame: u32) -> (Option<Rate>, Option<Rate>) {
        let encoder = self.tracks[stream].encoder.as_ref();
        let rates = encoder.and_then(|encoder| encoder.rates.as_ref());
        let found = rates.and_then(|rates| rates.get(&frame));
        found.map_or((None, None), |(rate, allowed)| (Some(*rate), *allowed))
    }

    /// An endpoint has an event for the call.
    pub(crate) fn serve(
        &mut self,
        now: Instant,
        side: Role,
        event: AppEvent,
        client: &mut Endpoint,
        server: &mut Endpoint,
    ) {
        if event == AppEvent::Connected && side == Role::Client {
            self.begin(now, client, server);
            self.tick(now, client, server);
            return;
        }
        let own = match side {
            Role::Client => client,
            Role::Server => server,
        };
        match event {
            AppEvent::StreamData {
                id,
                contiguous,
                complete,
            } => {
                if !self.is_request(side, id) {
                    self.on_stream_data(now, id, contiguous, complete, own);
                } else if complete {
                    self.on_request(now, id);
                }
            }
            AppEvent::Datagram { tag, len } => self.on_datagram(now, tag, len),
            AppEvent::DatagramLost { tag, len } => self.on_datagram_lost(now, tag, len, own),
            AppEvent::DatagramExpired { tag, len } => self.on_datagram_expired(tag, len),
            AppEvent::StopSending(id) => self.on_stop_sending(id),
            AppEvent::Connected | AppEvent::StreamReset(_) | AppEvent::Closed => {}
        }
    }

    /// The client is ready: the call starts.
    fn begin(&mut self, now: Instant, client: &mut Endpoint, server: &mut Endpoint) {
        self.start = Some(now);
        for (role, sender) in [(Role::Client, client), (Role::Server, server)] {
            let own =
                || (self.tracks.iter().map(|track| &track.spec)).filter(|spec| spec.from == role);
            if own().any(|spec| spec.repair.retransmit) {
                sender.report_lost_datagrams();
            }
            let prober = self.probers[role.index()].as_ref();
            if prober.is_some_and(Prober::is_coded) || own().any(|spec| !spec.repair.fec.is_zero())
            {
                sender.keep_datagrams_apart();
            }
        }
    }

    /// When [`Call::tick`] has something to do.
    pub(crate) fn next(&self) -> Instant {
        let Some(start) = self.start else {
            return Instant::NEVER;
        };
        let times = self.tracks.iter().map(|track| track.next(start));
        let probes = self.probers.iter().flatten().map(Prober::next);
        times.chain(probes).min().unwrap_or(Instant::NEVER)
    }

    /// Sends the requests and generates the frames that are due.
    pub(crate) fn tick(&mut self, now: Instant, client: &mut Endpoint, server: &mut Endpoint) {
        let Some(start) = self.start else { return };
        let count = self.tracks.len() as u32;
        let is_shared = (self.tracks.iter()).any(|track| track.spec.from == Role::Client);
        for (index, track) in self.tracks.iter_mut().enumerate() {
            track.gave_up |= now >= track.gives_up_at(start);
            let urgency = is_shared.then_some(BEFORE_MEDIA);
            track.request((now, start), (index as u32, count), client, urgency);
            let [of_client, of_server] = self.shares;
            let (sender, share) = match track.spec.from {
                Role::Client => (&mut *client, of_client),
                Role::Server => (&mut *server, of_server),
            };
            track.generate((now, start), (index as u32, count), sender, share);
            let sent = std::mem::take(&mut track.sent);
            if let Some(prober) = &mut self.probers[track.spec.from.index()]
                && sent > 0
            {
                prober.send_media(now, sent);
            }
        }
        for (role, sender) in [(Role::Client, client), (Role::Server, server)] {
            if let Some(prober) = &mut self.probers[role.index()] {
                let tracks = self.tracks.iter_mut();
                let newest = tracks
                    .filter(|track| track.spec.from == role)
                    .max_by_key(|track| track.newest_at());
                prober.probe(now, sender, || newest?.further());
            }
        }
    }

    /// Bytes that both senders have probed with, if they do.
    pub(crate) fn probed(&self) -> Option<Bytes> {
        let sent = self.probers.iter().flatten().map(|prober| prober.sent);
        sent.reduce(|one, other| one + other)
    }

    /// Whether stream `id` brings a request to `side`, and not media.
    fn is_request(&self, side: Role, id: u32) -> bool {
        let track = self.tracks.get(id as usize % self.tracks.len().max(1));
        side == Role::Server && track.is_some_and(|track| track.spec.from == Role::Server)
    }

    /// A request has arrived at the server, which starts to generate.
    fn on_request(&mut self, now: Instant, id: u32) {
        let count = self.tracks.len() as u32;
        let (index, group) = (id % count, id / count);
        self.requests += 1;
        if let Some(track) = self.tracks.get_mut(index as usize) {
            track.begin_group(group, now);
        }
    }

    /// Bytes of the requests that have arrived.
    pub(crate) fn requested(&self) -> u64 {
        self.requests * REQUEST
    }

    /// Bytes of datagrams that have arrived.
    pub(crate) fn datagram_bytes(&self) -> u64 {
        self.datagram_bytes
    }

    /// More of stream `id` can be read by `receiver`.
    fn on_stream_data(
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

    fn on_datagram(&mut self, now: Instant, tag: u64, len: u32) {
        let part = Part::of(tag);
        let track = self.tracks.get_mut(part.stream as usize);
        if let (Some(start), Some(track)) = (self.start, track) {
            self.datagram_bytes += track.take_datagram(now, start, part, len);
        }
    }

    /// The sender has learnt that a datagram is lost.
    fn on_datagram_lost(&mut self, now: Instant, tag: u64, len: u32, sender: &mut Endpoint) {
        let part = Part::of(tag);
        let track = self.tracks.get_mut(part.stream as usize);
        if let (Some(start), Some(track)) = (self.start, track) {
            track.lose_datagram(now, start, (part, len), sender);
        }
    }

    /// A datagram that was to be sent again has not left in time.
    fn on_datagram_expired(&mut self, tag: u64, len: u32) {
        let part = Part::of(tag);
        let track = self.tracks.get_mut(part.stream as usize);
        if let (Some(start), Some(track)) = (self.start, track) {
            track.expire_datagram(start, part, len);
        }
    }

    /// The sender has learnt that a group is cancelled.
    fn on_stop_sending(&mut self, id: u32) {
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

    /// Whether it has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.start.is_some()
    }

    /// The frames of a stream until `end`: their numbers, nominal times, and when they arrived; of a call that begins at `start`.
    pub(crate) fn due(
        &self,
        stream: usize,
        start: Instant,
        end: Instant,
    ) -> Vec<(u32, Instant, Option<Instant>)> {
        self.tracks[stream].frames(start, end)
    }

    /// What became of the frames of each stream. A call that never began should have begun at `start`.
    pub(crate) fn records(&self, start: Instant) -> impl Iterator<Item = StreamRecords<'_>> {
        let start = self.start.unwrap_or(start);
        self.tracks.iter().map(move |track| StreamRecords {
            spec: &track.spec,
            start,
            delivered: track.records.as_slice(),
            skipped: track.skipped,
            generated: track.generated,
            encoded: track.encoder.as_ref().map(|encoder| encoder.measured),
            repaired: track.repaired(),
        })
    }
}
