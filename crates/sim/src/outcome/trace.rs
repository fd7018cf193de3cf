//! The time series of a trial, on request.
//!
//! Flows are sampled at their data sender after every event that its controller was informed of, links with every packet
//! that entered or left and changed what is shown. The fate of each packet is a separate series, so bytes in flight between
//! two samples follow from it. Without a request nothing is recorded, at no cost.

use crate::outcome::Outcome;
use crate::outcome::frames::{FrameRow, frames};
use crate::outcome::passages::{PassageRecorder, Passages, Watch};
use crate::outcome::senders::Senders;
use crate::outcome::watching::Watching;
use crate::scenario::Scenario;
use crate::trial::connection::{self, Connection};
use crate::trial::stack::Endpoint;
use serde::{Deserialize, Serialize};
use thalweg_path::{DropCause, Link};
use thalweg_transport::{LimitedBy, PacketEvent, Role, Sampled, SenderRecorder, SenderTrace};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One sample of a link. They are many: allocating their memory takes as long as taking them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LinkRow {
    /// When.
    pub time: Instant,
    /// Index of the link.
    pub link: u32,
    /// Capacity.
    pub capacity: Rate,
    /// Bytes waiting.
    pub queue_bytes: Bytes,
    /// Packets waiting.
    pub queue_packets: u32,
    /// Time that a packet that arrives now waits.
    pub queue_delay: Duration,
    /// Bytes transmitted so far.
    pub delivered: Bytes,
    /// Packets dropped so far.
    pub dropped: u32,
    /// Packets marked so far.
    pub marked: u32,
}

/// One drop.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct DropRow {
    /// When.
    pub time: Instant,
    /// Index of the link.
    pub link: usize,
    /// Index of the flow.
    pub flow: usize,
    /// Why.
    pub cause: DropCause,
}

/// One packet that came out of a link later than transmission and propagation explain.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct HeldRow {
    /// When it came out.
    pub time: Instant,
    /// Index of the link.
    pub link: usize,
    /// Index of the flow.
    pub flow: usize,
    /// How much later: by its own jitter, or behind a packet that it does not overtake.
    pub held: Duration,
}

/// Time series of one trial.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Trace {
    /// The trace of the data sender of each flow.
    pub senders: SenderTrace,
    /// Samples of links.
    pub links: Vec<LinkRow>,
    /// Drops.
    pub drops: Vec<DropRow>,
    /// Packets that links held back; of trials in virtual time.
    pub held: Vec<HeldRow>,
    /// Frames of calls, delivered or not; of trials in virtual time.
    pub frames: Vec<FrameRow>,
    /// Names of the flows in the series: each request of a flow of requests is one, as
    /// "web/17", and so is each sender of a call whose media both ends send, as "call/client".
    pub flow_names: Vec<String>,
    /// Names of the links.
    pub link_names: Vec<String>,
    /// Passages of packets, if these were asked for; everything above is empty then.
    #[serde(skip)]
    pub passages: Option<Box<Passages>>,
}

/// What a trial records in addition to its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Nothing.
    Nothing,
    /// The time series.
    Series,
    /// The passages of packets.
    Passages(Watch),
}

/// Initial capacity, enough for the longest series of most trials. An unused page of memory costs nothing, but copying a
/// page when a series grows costs as much as its samples.
const ROWS: usize = 1 << 16;

/// What makes a sample of a sender: whether its handshake is complete, events reported to its controller by then, and what
/// limits it.
type Reports = (bool, u64, Option<LimitedBy>);

/// Records the trace of a running trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    senders: SenderRecorder,
    places: Senders,
    trace: Trace,
    /// The news of client and server of each connection at their last sample, of those that send data.
    reports: Vec<[Option<Reports>; 2]>,
    /// Index of the last sample of each link, plus 1; 0 if none.
    last: Vec<usize>,
    /// Whether the series are recorded.
    series: bool,
    /// Records passages of packets instead of the series.
    passages: Option<PassageRecorder>,
    /// Looks at controllers for criteria, in addition to all else.
    watching: Option<Watching>,
}

impl Recorder {
    /// A recorder of a trial; none if nothing is recorded.
    pub(crate) fn new(
        record: Record,
        scenario: &Scenario,
        connections: &[Connection],
    ) -> Option<Self> {
        let watching = Watching::new(scenario, connections);
        let recorder = match record {
            Record::Nothing if watching.is_none() => return None,
            Record::Nothing => Recorder::default(),
            Record::Series => Recorder::of_series(scenario, connections),
            Record::Passages(watch) => Recorder {
                passages: Some(PassageRecorder::new(watch, scenario, connections)),
                ..Recorder::default()
            },
        };
        Some(Recorder {
            reports: vec![[None; 2]; connections.len()],
            watching,
            ..recorder
        })
    }

    /// Whether it records the series, packets included, and not only looks for criteria.
    pub(crate) fn has_series(&self) -> bool {
        self.series
    }

    /// What it looks at for criteria.
    pub(crate) fn watching(&self) -> Option<&Watching> {
        self.watching.as_ref()
    }

    /// Adds what it has seen for criteria to the outcome of a trial that ends now.
    pub(crate) fn conclude<P: thalweg_path::Packet>(
        &mut self,
        now: Instant,
        links: &mut [Link<P>],
        outcome: &mut Outcome,
    ) {
        if let Some(watching) = &self.watching {
            watching.conclude(now, outcome);
        }
        for (index, link) in links.iter_mut().enumerate() {
            self.take_passages(now, index, link);
        }
    }

    fn of_series(scenario: &Scenario, connections: &[Connection]) -> Self {
        let hops = scenario.hops.iter();
        let mut senders = SenderRecorder::default();
        senders.trace.packets.reserve(ROWS);
        let mut flow_names = connection::names(scenario, connections);
        let indices = 0..connections.len();
        let both =
            indices.filter(|index| Role::BOTH.iter().all(|end| connections[*index].sends(*end)));
        let places = Senders::named(&mut flow_names, both);
        Recorder {
            places,
            trace: Trace {
                links: Vec::with_capacity(ROWS),
                flow_names,
                link_names: hops.flat_map(|hop| hop.names.iter().cloned()).collect(),
                ..Trace::default()
            },
            senders,
            last: vec![0; 2 * scenario.hops.len()],
            series: true,
            ..Recorder::default()
        }
    }

    /// Samples the endpoint at one end of a connection, which sends data.
    pub(crate) fn sample_flow(
        &mut self,
        time: Instant,
        (connection, end): (usize, Role),
        event: &'static str,
        endpoint: &mut Endpoint,
    ) {
        let reports = Some((
            endpoint.path().established,
            endpoint.reports(),
            endpoint.limited_by(),
        ));
        let before = &mut self.reports[connection][end.index()];
        let is_news = std::mem::replace(before, reports) != reports;
        if is_news && let Some(watching) = &mut self.watching {
            watching.sample(time, (connection, end), endpoint);
        }
        if !self.series {
            return;
        }
        let flow = self.places.place(connection, end);
        if is_news {
            sample_sender(&mut self.senders, time, flow, event, endpoint);
        } else {
            take_packets(&mut self.senders, flow, endpoint);
        }
    }

    /// Notes what happened to a packet of one end of a connection, which somebody else has taken from it.
    pub(crate) fn note_packet(&mut self, (connection, end): (usize, Role), event: PacketEvent) {
        let flow = self.places.place(connection, end);
        self.senders.trace.packets.push((flow, event));
    }

    /// Takes the passages that a link has logged, if anybody wants them.
    fn take_passages<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        if let Some(passages) = &mut self.passages {
            link.advance(time);
            let logged = link.take_passages();
            passages.take(time, index, link, logged);
        }
    }

    pub(crate) fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        self.take_passages(time, index, link);
        if !self.series {
            return;
        }
        link.advance(time);
        let last = self.last[index].checked_sub(1);
        let last = last.map(|position| &self.trace.links[position]);
        if last.is_none_or(|row| row.is_outdated(link)) {
            self.trace.sample_link(time, index, link);
            self.last[index] = self.trace.links.len();
        }
    }

    /// Notes the packet that is about to come out of a link, if the link held it back.
    pub(crate) fn note_arrival<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        if self.series
            && let Some((flow, held)) = link.arriving(time)
            && held > Duration::ZERO
        {
            self.trace.held.push(HeldRow {
                time,
                link: index,
                flow: flow as usize,
                held,
            });
        }
    }

    /// The trace of a trial that ended at `end`; none if only criteria wanted to look.
    pub(crate) fn finish<P: thalweg_path::Packet>(
        self,
        connections: &[Connection],
        links: &mut [Link<P>],
        end: Instant,
    ) -> Option<Trace> {
        if let Some(passages) = self.passages {
            return Some(Trace {
                passages: Some(Box::new(passages.finish(end, links))),
                ..Trace::default()
            });
        }
        self.series.then(|| Trace {
            senders: self.senders.trace,
            frames: frames(connections, end),
            ..self.trace
        })
    }
}

impl LinkRow {
    /// Whether a row now would show more than the progress of the packet in transmission.
    fn is_outdated<P: thalweg_path::Packet>(&self, link: &Link<P>) -> bool {
        let (queue, progress) = (link.queue(), link.progress());
        let bytes = (self.delivered, self.queue_bytes, self.capacity);
        bytes != (progress.transmitted, queue.bytes, link.capacity())
            || u64::from(self.dropped) != progress.dropped
            || u64::from(self.marked) != progress.marked
    }
}

impl Trace {
    /// Samples link number `index`.
    pub fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        link.advance(time);
        for dropped in link.take_drops() {
            self.drops.push(DropRow {
                time: dropped.at,
                link: index,
                flow: dropped.flow as usize,
                cause: dropped.cause,
            });
        }
        let (queue, progress) = (link.queue(), link.progress());
        self.links.push(LinkRow {
            time,
            link: index as u32,
            capacity: link.capacity(),
            queue_bytes: queue.bytes,
            queue_packets: queue.packets as u32,
            queue_delay: link.queue_delay(),
            delivered: progress.transmitted,
            dropped: progress.dropped as u32,
            marked: progress.marked as u32,
        });
    }
}

/// Takes the packet events of a sender of data.
fn take_packets(recorder: &mut SenderRecorder, flow: usize, endpoint: &mut Endpoint) {
    let packets = &mut recorder.trace.packets;
    endpoint.take_packets(&mut |event| packets.push((flow, event)));
}

/// Samples a sender of data, and takes its packet events.
pub(crate) fn sample_sender(
    recorder: &mut SenderRecorder,
    time: Instant,
    flow: usize,
    event: &'static str,
    endpoint: &mut Endpoint,
) {
    take_packets(recorder, flow, endpoint);
    let sender = Sampled {
        control: endpoint.control(),
        pacing: endpoint.pacing_rate(),
        path: endpoint.path(),
        in_flight: endpoint.in_flight(),
        limited_by: endpoint.limited_by(),
    };
    recorder.sample(time, flow, event, &sender, |out| endpoint.observe(out));
}
