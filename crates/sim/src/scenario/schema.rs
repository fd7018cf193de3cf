//! The scenario file: its keys, their meanings and defaults. Unknown keys are refused; the JSON schema
//! that editors use is generated from these types.

use crate::scenario::buffer_size::BufferSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// A scenario: a path, flows and pass criteria.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// What it is called in tables and figures.
    pub(crate) title: String,
    /// The document that it comes from.
    pub(crate) source: Option<String>,
    /// Where it differs from its source, and why.
    pub(crate) note: Option<String>,
    /// Bytes of IP and UDP headers that links add to each UDP payload: "28 B" for IPv4, "48 B" for IPv6.
    #[serde(default = "ipv4")]
    pub(crate) overhead: Bytes,
    /// Simulated time at which a trial ends whatever has finished.
    #[serde(default = "ten_minutes")]
    pub(crate) time_limit: Duration,
    /// What differs from trial to trial besides the randomness of the path.
    #[serde(default)]
    pub(crate) noise: Noise,
    /// Whether flows may have a controller whose random numbers do not come from the seed (`noq:bbr3`): the same
    /// trial then gives another result each time.
    #[serde(default)]
    pub(crate) allow_unseeded: bool,
    /// Bins of this length record what each flow sends and receives, and what each link could carry.
    pub(crate) sample: Option<Duration>,
    /// The path between the clients and the servers: the short form of one hop that all flows take.
    pub(crate) path: Option<Path>,
    /// Several hops, each with a name; flows choose theirs by `route`.
    #[serde(default)]
    pub(crate) link: Vec<Path>,
    /// Transport parameters that differ from the defaults.
    #[serde(default)]
    pub(crate) transport: Transport,
    /// The flows; the first is the main flow.
    #[serde(default)]
    pub(crate) flow: Vec<Flow>,
    /// Pass criteria.
    #[serde(default)]
    pub(crate) pass: Vec<Pass>,
}

fn ipv4() -> Bytes {
    Bytes::new(28)
}
fn ten_minutes() -> Duration {
    Duration::from_secs(600)
}

/// Small random offsets that make trials of a path without randomness differ, as runs of real hosts do.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Noise {
    /// Each flow starts up to this much after its time, drawn uniformly.
    pub(crate) start: Duration,
    /// Each wake-up of a paced sender is late by up to this much, drawn uniformly.
    pub(crate) wakeup: Duration,
    /// One jitter sequence for all trials: reproduces studies whose runs shared it. The other draws of the
    /// links (random loss, queue disciplines) are shared as well. By default, every trial has its own.
    pub(crate) jitter_seed: Option<u64>,
}

impl Default for Noise {
    fn default() -> Self {
        Noise {
            start: Duration::from_millis(1),
            wakeup: Duration::from_micros(20),
            jitter_seed: None,
        }
    }
}

/// A hop, one link in each direction; both are alike unless `up` says otherwise.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    /// Name of a `[[link]]`, unique in the scenario.
    pub(crate) name: Option<String>,
    /// Capacity of each direction; this or `trace`.
    pub(crate) rate: Option<Rate>,
    /// A file with a delivery trace in the format of Mahimahi, in the place of `rate`: one time in
    /// milliseconds on each line, an opportunity for 1500 bytes. Its name is relative to the scenario.
    pub(crate) trace: Option<String>,
    /// Round-trip propagation time; half of it is the delay of each direction.
    pub(crate) rtt: Duration,
    /// How much the queue in front of each direction holds.
    #[serde(default = "one_bdp")]
    pub(crate) buffer: BufferSize,
    /// Which packet leaves next, and which ones are dropped or marked, in each direction.
    pub(crate) queue: Option<Queue>,
    /// Random delay added to each packet, in each direction.
    pub(crate) jitter: Option<Jitter>,
    /// Random loss of packets, in each direction.
    pub(crate) loss: Option<Loss>,
    /// Variation of capacity and delay from one short interval to the next, in each direction.
    pub(crate) noise: Option<PathNoise>,
    /// Drops what comes faster, before it reaches the queue, in each direction.
    pub(crate) policer: Option<Policer>,
    /// Whether packets with less jitter overtake others. In order by default.
    #[serde(default)]
    pub(crate) reorder: bool,
    /// What differs from client to server.
    pub(crate) up: Option<Up>,
    /// Changes at given times.
    #[serde(default)]
    pub(crate) change: Vec<Change>,
    /// The changes repeat with this period, and the path is as at the start at each beginning.
    pub(crate) repeat: Option<Duration>,
}

fn one_bdp() -> BufferSize {
    BufferSize::Bdp(1000)
}

/// The direction from client to server, where it differs.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Up {
    /// Capacity.
    pub(crate) rate: Option<Rate>,
    /// A delivery trace in the place of the capacity.
    pub(crate) trace: Option<String>,
    /// How much the queue holds.
    pub(crate) buffer: Option<BufferSize>,
    /// Queue discipline.
    pub(crate) queue: Option<Queue>,
    /// Policer.
    pub(crate) policer: Option<Policer>,
    /// Random delay.
    pub(crate) jitter: Option<Jitter>,
    /// Random loss.
    pub(crate) loss: Option<Loss>,
}

/// A change of the path; what is not named stays.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// When, from the start of the trial.
    pub(crate) at: Duration,
    /// New capacity of both directions; "0 bps" suspends the path and keeps its queues.
    pub(crate) rate: Option<Rate>,
    /// New capacity from client to server, where it differs.
    pub(crate) up_rate: Option<Rate>,
    /// New round-trip propagation time.
    pub(crate) rtt: Option<Duration>,
    /// New size of the queues.
    pub(crate) buffer: Option<BufferSize>,
    /// New jitter.
    pub(crate) jitter: Option<Jitter>,
}

/// Queue disciplines; what is not given is as its RFC says.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Queue {
    /// First in, first out; drops what does not fit.
    DropTail {},
    /// Controlled delay (RFC 8289).
    Codel {
        /// Wait that is acceptable for ever; "5 ms".
        target: Option<Duration>,
        /// Time within which the wait must fall below the target; "100 ms".
        interval: Option<Duration>,
        /// Whether ECN-capable packets are marked instead of dropped; true.
        ecn: Option<bool>,
        /// ECN-capable packets that waited longer are marked at once, as `ce_threshold` of `tc-codel`; none.
        ce_threshold: Option<Duration>,
    },
    /// Fair queueing with CoDel (RFC 8290).
    FqCodel {
        /// Wait that is acceptable for ever; "5 ms".
        target: Option<Duration>,
        /// Time within which the wait must fall below the target; "100 ms".
        interval: Option<Duration>,
        /// Whether ECN-capable packets are marked instead of dropped; true.
        ecn: Option<bool>,
        /// ECN-capable packets that waited longer are marked at once, as `ce_threshold` of `tc-codel`; none.
        ce_threshold: Option<Duration>,
        /// Number of queues that flows are hashed to; 1024.
        flows: Option<u32>,
        /// What a queue may send in a round; "1514 B".
        quantum: Option<Bytes>,
    },
    /// Proportional integral controller enhanced (RFC 8033).
    Pie {
        /// Queueing delay that is aimed at; "15 ms".
        target: Option<Duration>,
        /// Time between updates of the probability; "15 ms".
        update: Option<Duration>,
        /// How long a burst into an idle queue passes untouched; "150 ms".
        burst: Option<Duration>,
        /// Whether ECN-capable packets are marked; false, as in Linux.
        ecn: Option<bool>,
        /// Up to this probability; "10 %".
        mark_below: Option<Fraction>,
    },
    /// Dual-queue coupled AQM for L4S (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// Queueing delay that is aimed at for Classic traffic; "15 ms".
        target: Option<Duration>,
        /// Largest round-trip time that the controller is stable for; "100 ms".
        max_rtt: Option<Duration>,
        /// Delay of the low-latency queue at which marking starts; "1 ms".
        step: Option<Duration>,
        /// From there, how much more delay marks all; "0 s" is a step.
        ramp: Option<Duration>,
    },
    /// Random early detection (Floyd and Jacobson 1993).
    Red {
        /// Average queue below which nothing is dropped; "7500 B".
        min: Option<Bytes>,
        /// Average queue at which the chance is `max_probability`; "22500 B".
        max: Option<Bytes>,
        /// "10 %".
        max_probability: Option<Fraction>,
        /// Whether the chance goes on rising linearly above `max`; true.
        gentle: Option<bool>,
        /// Whether ECN-capable packets are marked; false, as in Linux.
        ecn: Option<bool>,
    },
}

/// Normal noise, truncated at three standard deviations, drawn for each interval.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathNoise {
    /// Standard deviation of the capacity.
    #[serde(default)]
    pub(crate) rate_sd: Option<Rate>,
    /// Standard deviation of the delay of each direction.
    #[serde(default)]
    pub(crate) delay_sd: Duration,
    /// Length of an interval.
    #[serde(default = "one_millisecond")]
    pub(crate) every: Duration,
}

fn one_millisecond() -> Duration {
    Duration::from_millis(1)
}

/// A token bucket.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policer {
    /// What passes in the long run.
    pub(crate) rate: Rate,
    /// What passes at once.
    pub(crate) burst: Bytes,
    /// Whether ECN-capable packets beyond that are marked and let through.
    #[serde(default)]
    pub(crate) mark: bool,
}

/// Random delay of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Jitter {
    /// No jitter.
    None {},
    /// Uniform between two bounds.
    Uniform {
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        max: Duration,
    },
    /// Normal; negative values count as zero. Without `sd`, a third of the mean.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Option<Duration>,
    },
    /// Normal, drawn again until it lies between two bounds.
    TruncatedNormal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        max: Duration,
    },
    /// The two components of bad Wi-Fi.
    Wifi {
        /// Requested mean of independent draws; a busy flow experiences more, since packets stay in order.
        mean: Duration,
        /// Which published formula.
        #[serde(default)]
        formula: WifiFormula,
    },
    /// The two components of bad Wi-Fi with scales of their own; `thalweg probe analyze` fits them to a trace.
    TwoComponents {
        /// Share of the packets that have a long delay as well.
        fraction: Fraction,
        /// Step of the short component, whose mean is 0.684 steps; "1 ms" in the published model.
        short: Duration,
        /// Step of the long component, whose mean is 11.5 steps; "7.5 ms" in the published model.
        long: Duration,
    },
    /// A measured series of delays, replayed at its times; `thalweg probe export` writes one.
    Trace {
        /// A file with a time and a delay in whole microseconds on each line, relative to this file. The
        /// contents stand here as "us: ..." in a scenario that ran.
        file: String,
    },
}

/// Published forms of the Wi-Fi model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WifiFormula {
    /// As the reference simulator computes it: slope 84 ms, both components smoothed.
    #[default]
    Reference,
    /// As the draft prints it: saturation at 91 ms, long component not smoothed.
    Draft,
}

/// Random loss of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Loss {
    /// Each packet independently.
    Random {
        /// Probability.
        rate: Fraction,
    },
    /// Bursts, by a chain of a good and a bad state.
    GilbertElliott {
        /// Probability of the step from good to bad, for each packet.
        p: Fraction,
        /// Probability of the step from bad to good; its inverse is the mean burst in packets.
        r: Fraction,
        /// Probability of loss in the good state.
        #[serde(default)]
        good_loss: Fraction,
        /// Probability of loss in the bad state.
        #[serde(default = "certain")]
        bad_loss: Fraction,
    },
}

fn certain() -> Fraction {
    Fraction::ONE
}

/// Transport parameters, for all flows.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transport {
    /// Whose rules the modelled endpoint follows: "rfc", or "picoquic" for comparison with results made with it.
    /// They decide whether a packet may exceed the window, what is acknowledged when, and the defaults below.
    #[serde(default)]
    pub(crate) rules: Rules,
    /// Initial congestion window.
    pub(crate) initial_window: Option<Bytes>,
    /// UDP payload of full packets before path MTU discovery.
    pub(crate) initial_mtu: Option<Bytes>,
    /// UDP payload that path MTU discovery finds.
    pub(crate) max_mtu: Option<Bytes>,
    /// Largest delay of an acknowledgement.
    pub(crate) max_ack_delay: Option<Duration>,
    /// Packets for each acknowledgement until the sender asks for another frequency.
    pub(crate) ack_every: Option<u32>,
    /// Whether senders ask for an acknowledgement frequency.
    pub(crate) ack_frequency: Option<bool>,
    /// Connection flow-control window at the start.
    pub(crate) initial_max_data: Option<Bytes>,
    /// Stream flow-control window at the start.
    pub(crate) initial_max_stream_data: Option<Bytes>,
}

/// Whose rules the modelled endpoint follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rules {
    /// RFC 9000 and RFC 9002.
    #[default]
    Rfc,
    /// Those of picoquic.
    Picoquic,
}

/// What stands at both ends of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stack {
    /// The modelled endpoint of `thalweg-transport`.
    #[default]
    Model,
    /// The real QUIC stack of `thalweg-quic`.
    Quic,
}

/// One transport connection.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    /// Name, unique in the scenario.
    pub(crate) name: String,
    /// Congestion controller, with options: "c4", "cubic:hystart=off".
    pub(crate) controller: String,
    /// What carries it: the modelled endpoint ("model") or a real QUIC stack ("quic").
    #[serde(default)]
    pub(crate) stack: Stack,
    /// When it starts.
    #[serde(default)]
    pub(crate) start: Duration,
    /// Names of the links that it crosses from server to client; the way back crosses them in reverse.
    pub(crate) route: Option<Vec<String>>,
    /// Whether a trial ends without waiting for it.
    #[serde(default)]
    pub(crate) background: bool,
    /// Bytes that the client downloads.
    pub(crate) download: Option<Bytes>,
    /// Bytes that the client uploads.
    pub(crate) upload: Option<Bytes>,
    /// Many downloads, one connection each, that begin whether or not earlier ones are finished.
    pub(crate) requests: Option<Requests>,
    /// The standard call of the C4 tests, of this length: audio, video and a less compressed video.
    pub(crate) call: Option<Duration>,
    /// Streams of a media call; with `call`, in addition to those of the standard call.
    #[serde(default)]
    pub(crate) media: Vec<Media>,
    /// Frames of `call` with an earlier nominal time are not counted.
    #[serde(default)]
    pub(crate) measure_from: Duration,
    /// How many streams the transfer is split into evenly; they take turns.
    #[serde(default = "one")]
    pub(crate) streams: u32,
    /// Size of the request that starts a download.
    #[serde(default = "request")]
    pub(crate) request: Bytes,
    /// Whether the request travels with the first packet.
    #[serde(default)]
    pub(crate) zero_rtt: bool,
    /// What an earlier connection over the path has found (careful resume).
    pub(crate) seed: Option<Seed>,
}

fn one() -> u32 {
    1
}
fn request() -> Bytes {
    Bytes::new(397)
}

/// Open-loop arrivals of downloads with random lengths.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requests {
    /// How many; the first begins with the flow.
    pub(crate) count: u32,
    /// Mean time between two beginnings.
    pub(crate) mean_gap: Duration,
    /// How the gaps are distributed.
    #[serde(default)]
    pub(crate) gap: Gap,
    /// 5th percentile of the lengths, which are log-normal.
    pub(crate) p5: Bytes,
    /// 95th percentile of the lengths.
    pub(crate) p95: Bytes,
}

/// Distribution of the gaps between requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gap {
    /// Exponential: arrivals are a Poisson process.
    #[default]
    Exponential,
    /// All alike.
    Constant,
}

/// One stream of a media call.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Media {
    /// Name, unique in the flow.
    pub(crate) name: String,
    /// Whether frames travel as datagrams, or each group of frames as a stream.
    #[serde(default)]
    pub(crate) carriage: Carriage,
    /// Who sends it.
    #[serde(default)]
    pub(crate) from: From,
    /// Frames per second.
    pub(crate) per_second: u32,
    /// How long it lasts.
    pub(crate) duration: Duration,
    /// Frames of a group; the whole stream of media without it.
    pub(crate) group: Option<u32>,
    /// Size of the first frame of a group, if it differs.
    pub(crate) first_frame: Option<Bytes>,
    /// Size of a frame.
    pub(crate) frame: Bytes,
    /// Priority; lower is more urgent. Streams of even priority take turns, of odd priority go in order.
    #[serde(default = "media_priority")]
    pub(crate) priority: u8,
    /// A receiver that falls behind by more cancels the rest of the group.
    pub(crate) skip_after: Option<Duration>,
    /// Frames later than this count as late.
    #[serde(default = "media_deadline")]
    pub(crate) deadline: Duration,
    /// Frames with an earlier nominal time are not counted.
    #[serde(default)]
    pub(crate) measure_from: Duration,
}

fn media_priority() -> u8 {
    4
}
fn media_deadline() -> Duration {
    Duration::from_millis(250)
}

/// How frames travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Carriage {
    /// Each group of frames is a stream.
    #[default]
    Streams,
    /// Each frame is a datagram.
    Datagrams,
}

/// Who sends a stream of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum From {
    /// The server.
    #[default]
    Server,
    /// The client.
    Client,
}

/// Memory of an earlier connection.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seed {
    /// Its congestion window.
    pub(crate) window: Bytes,
    /// Its round-trip time.
    pub(crate) rtt: Duration,
}

/// A pass criterion: every trial must keep it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pass {
    /// Which flow.
    pub(crate) flow: String,
    /// Which number: "completion" (last byte delivered) or "closed" (completion and the close exchange),
    /// from the start of the trial; for streams of media "mean-delay", "p95-delay", "p99-delay" or
    /// "max-delay" of the counted frames, "mean-delay-from-start" or "max-delay-from-start" of all.
    pub(crate) metric: String,
    /// Which stream of media, for the delays.
    pub(crate) stream: Option<String>,
    /// The most that it may be.
    pub(crate) at_most: Duration,
    /// Where the bound comes from.
    pub(crate) source: Option<String>,
    /// Whether it is shown without deciding the verdict.
    #[serde(default)]
    pub(crate) informative: bool,
}

/// JSON schema of the scenario file.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(ScenarioFile);
    format!("{:#}", schema.as_value())
}
