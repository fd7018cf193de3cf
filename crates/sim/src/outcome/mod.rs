//! The outcome of a trial.

pub(crate) mod frames;
mod freezes;
mod link;
pub(crate) mod media;
pub(crate) mod passages;
pub(crate) mod senders;
pub(crate) mod series;
pub(crate) mod sharing;
pub(crate) mod summary;
pub(crate) mod told;
pub(crate) mod trace;
mod video;
mod voice;
pub(crate) mod watching;

use crate::trial::breaker::Rule;
pub use link::MediumOutcome;
use media::MediaOutcome;
use serde::{Deserialize, Serialize};
use series::Series;
use thalweg_units::{Bytes, Duration, Rate};
use trace::Trace;

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// Simulated time at which it ended.
    pub end: Duration,
    /// Events processed.
    pub events: u64,
    /// Data packets sent by all flows.
    pub packets: u64,
    /// Time during which all flows were active: from the start of the last to the first completion.
    pub overlap: Duration,
    /// Jain's index of the flows' mean rates during the overlap; absent for a single flow, and if a flow has none.
    pub jain: Option<f64>,
    /// Hash over every arrival (time, flow, packet number, size): equal hashes mean equal trials.
    /// Real-time trials have none.
    pub trace_hash: Option<u64>,
    /// One for each flow.
    pub flows: Vec<FlowOutcome>,
    /// One for each link.
    pub links: Vec<LinkOutcome>,
    /// One for each request of flows that are made of requests.
    pub requests: Vec<RequestOutcome>,
    /// Series in bins, if the scenario asks for them.
    pub series: Option<Series>,
}

/// The result of a trial in real time, as passed between processes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Measured {
    /// Its numbers.
    pub outcome: Outcome,
    /// Its time series, if requested.
    pub trace: Option<Trace>,
}

/// The outcome of one request of many; it has its own connection.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RequestOutcome {
    /// Index of its flow.
    pub flow: usize,
    /// Its number within the flow, from 0 on.
    pub request: usize,
    /// Its start, from the start of the trial.
    pub start: Duration,
    /// Its length.
    pub bytes: Bytes,
    /// When its last byte was delivered to the application, from the start of the trial; absent if the
    /// trial ended before.
    pub completion: Option<Duration>,
    /// Numbered packets that its server sent.
    pub packets_sent: u64,
    /// Packets that its server declared lost.
    pub packets_lost: u64,
    /// Mean of the RTT samples of its server.
    pub mean_rtt: Option<Duration>,
}

/// The outcome of one flow; a flow of requests sums up its connections.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct FlowOutcome {
    /// Its actual start, if it started.
    pub start: Option<Duration>,
    /// When the last byte was delivered to the application, from the start of the trial.
    pub completion: Option<Duration>,
    /// When the close exchange ended, from the start of the trial.
    pub closed: Option<Duration>,
    /// When its circuit breaker tripped, from the start of the trial, and by which rule.
    #[serde(default)]
    pub tripped: Option<(Duration, Rule)>,
    /// Bytes delivered in streams and datagrams.
    pub bytes_delivered: Bytes,
    /// Mean rate of delivery from its start to its completion, or to the end of the trial.
    pub mean_rate: Rate,
    /// Bytes delivered while all flows were active.
    pub shared_bytes: Bytes,
    /// Mean rate while all flows were active.
    pub shared_rate: Rate,
    /// Its share of the bytes delivered then; absent if there are none.
    pub share: Option<f64>,
    /// One for each stream of a media call.
    pub media: Vec<MediaOutcome>,
    /// Numbered packets sent by the sender of data or media; of a call whose media both ends send, this and all below are of both.
    pub packets_sent: u64,
    /// Packets that it declared lost.
    pub packets_lost: u64,
    /// Packets of the flow that queues and policers dropped, in the direction of the data.
    pub packets_dropped: u64,
    /// The ones that policers dropped.
    #[serde(default)]
    pub packets_policed: u64,
    /// Packets of the flow that links lost at random, in the direction of the data.
    pub packets_lost_at_random: u64,
    /// Packets of the flow that queues marked, in the direction of the data.
    pub packets_marked: u64,
    /// Losses that proved spurious.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// The share of its life in which each of [`thalweg_transport::LimitedBy::ALL`] limited the sender of data; absent for a
    /// real stack and in real time.
    #[serde(default)]
    pub limited: Option<[f64; 6]>,
    /// RTT samples of the sender of data.
    pub mean_rtt: Option<Duration>,
    /// The smallest.
    pub min_rtt: Option<Duration>,
    /// The largest.
    pub max_rtt: Option<Duration>,
    /// Mean RTT by events: a sample counts once, and once more for each packet sent until the next one. Absent for TCP.
    pub event_rtt: Option<Duration>,
    /// That and its standard deviation.
    pub event_rtt_high: Option<Duration>,
    /// Bytes that its sender of data sent while all flows were active, over the capacity of the path then; absent in
    /// real time.
    pub load: Option<f64>,
    /// The longest time with less than a tenth of an equal share; absent if no criterion is over time, or without
    /// another flow.
    #[serde(default)]
    pub starvation: Option<Duration>,
    /// The time until flows share equally; absent as well if they never do.
    #[serde(default)]
    pub convergence: Option<Duration>,
    /// Standard deviation of its rate over the mean, by seconds.
    #[serde(default)]
    pub oscillation: Option<f64>,
    /// What criteria look at in its controller and in links on its way: the name of each number, and its value if it
    /// has one.
    #[serde(default)]
    pub watched: Vec<(String, Option<f64>)>,
    /// Utilisation of the busiest link of its data from the start of the first flow on; absent in real time.
    #[serde(default)]
    pub utilisation: Option<f64>,
    /// Bytes of probes that the senders of a call sent; none without `probe`.
    #[serde(default)]
    pub probe_bytes: Option<Bytes>,
    /// Mean delay of frames of the worst stream of a call, of those that skip no frames.
    pub frame_delay: Option<Duration>,
    /// The largest delay of a frame of these streams.
    pub max_frame_delay: Option<Duration>,
    /// Mean time that its packets waited in queues, in the direction of the data.
    pub mean_queue_delay: Option<Duration>,
    /// What 95 % of its packets waited at most in the queue where they waited longest.
    #[serde(default)]
    pub p95_queue_delay: Option<Duration>,
    /// What 99 % of them did.
    #[serde(default)]
    pub p99_queue_delay: Option<Duration>,
    /// Mean delay by jitter that its packets experienced, in the direction of the data.
    pub mean_jitter: Option<Duration>,
}

/// The outcome of one link.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LinkOutcome {
    /// Its name.
    pub name: String,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Their bytes, headers included.
    pub delivered_bytes: Bytes,
    /// Packets that the queue and the policer dropped.
    pub dropped_packets: u64,
    /// The ones that the policer dropped.
    #[serde(default)]
    pub policed_packets: u64,
    /// Packets lost at random.
    pub lost_packets: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// Share of the time that the transmitter was busy; of a link with a delivery trace, share of the bits of its opportunities
    /// that it used.
    pub utilisation: f64,
    /// Mean time in the queue.
    pub mean_queue_delay: Duration,
    /// Most packets that waited at once.
    pub max_queue_packets: u64,
    /// Mean jitter that the scenario requests, as of the start.
    pub requested_jitter: Duration,
    /// Mean of the jitter drawn.
    pub drawn_jitter: Duration,
    /// Mean of the jitter that packets experienced, which is larger if they stay in order.
    pub experienced_jitter: Duration,
    /// Loss rate that the scenario requests.
    pub requested_loss: f64,
    /// Loss rate realised.
    pub realised_loss: f64,
    /// Whose the time of its medium was; absent without contention, and in real time.
    #[serde(default)]
    pub medium: Option<MediumOutcome>,
}
