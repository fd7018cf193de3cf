//! The metrics that criteria bound: their names, units and meanings.

/// A metric of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The last byte is delivered to the application.
    Completion,
    /// The close exchange after that has ended.
    Closed,
    /// Mean rate of delivery.
    Rate,
    /// Packets that the sender declared lost, of those that it sent.
    Loss,
    /// Mean of the RTT samples of the sender of data.
    Rtt,
    /// Mean time that packets waited in queues.
    QueueDelay,
    /// What the flow got of what all flows got while all were active.
    Share,
    /// Mean RTT, weighted by events.
    EventRtt,
    /// That and its standard deviation.
    EventRttHigh,
    /// What the flow sent of what the path could carry while all flows were active.
    Load,
    /// The longest time without a tenth of an equal share.
    Starvation,
    /// The time until flows share equally.
    Convergence,
    /// How uneven the rate of the flow is.
    Oscillation,
    /// How busy the busiest link of the flow was.
    Utilisation,
    /// Packets that queues dropped.
    Drops,
    /// Packets that queues marked.
    Marks,
    /// Packets declared lost that were not.
    SpuriousLoss,
    /// The largest RTT sample.
    MaxRtt,
    /// How often its circuit breaker trips: never or once.
    Trips,
    /// Mean delay of the worst stream of a call.
    FrameDelay,
    /// Largest delay of its streams.
    MaxFrameDelay,
    /// Mean delay of a stream of media.
    MeanDelay,
    /// Its 95th percentile.
    P95Delay,
    /// Its 99th percentile.
    P99Delay,
    /// The largest.
    MaxDelay,
    /// Mean delay with the frames before the start of measurement.
    MeanDelayFromStart,
    /// The largest, with them.
    MaxDelayFromStart,
    /// When the controller enters a state.
    Entered,
    /// How often it does.
    Entries,
    /// How long it stays in a state.
    Stay,
    /// A value of a variable of the controller.
    Variable,
    /// 95th percentile of the waits in queues.
    P95QueueDelay,
    /// 99th percentile of the waits in queues.
    P99QueueDelay,
    /// Time in freezes of a stream of media.
    Frozen,
    /// Their number.
    Freezes,
    /// Frames after their deadline.
    Late,
    /// Frames that its sender gave up.
    Skipped,
    /// Mean rate of its encoder.
    EncoderRate,
    /// How uneven that is.
    EncoderOscillation,
}

/// What a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// Parts of one.
    Share,
    /// Bytes.
    Bytes,
    /// How often.
    Count,
    /// A number without a unit.
    Number,
}

impl Unit {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Time => "s",
            Unit::Rate => "bps",
            Unit::Share => "share",
            Unit::Bytes => "bytes",
            Unit::Count | Unit::Number => "",
        }
    }
}

/// Which end of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A smaller value.
    Lower,
    /// A larger value.
    Higher,
}

impl Better {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

impl Metric {
    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Completion => "completion",
            Metric::Closed => "closed",
            Metric::Rate => "rate",
            Metric::Loss => "loss",
            Metric::Rtt => "rtt",
            Metric::QueueDelay => "queue-delay",
            Metric::Share => "share",
            Metric::EventRtt => "event-rtt",
            Metric::EventRttHigh => "event-rtt-high",
            Metric::Load => "load",
            Metric::Starvation => "starvation",
            Metric::Convergence => "convergence",
            Metric::Oscillation => "oscillation",
            Metric::Utilisation => "utilisation",
            Metric::Drops => "drops",
            Metric::Marks => "marks",
            Metric::SpuriousLoss => "spurious-loss",
            Metric::MaxRtt => "max-rtt",
            Metric::Trips => "trips",
            Metric::FrameDelay => "frame-delay",
            Metric::MaxFrameDelay => "max-frame-delay",
            Metric::MeanDelay => "mean-delay",
            Metric::P95Delay => "p95-delay",
            Metric::P99Delay => "p99-delay",
            Metric::MaxDelay => "max-delay",
            Metric::MeanDelayFromStart => "mean-delay-from-start",
            Metric::MaxDelayFromStart => "max-delay-from-start",
            Metric::Entered => "entered",
            Metric::Entries => "entries",
            Metric::Stay => "stay",
            Metric::Variable => "variable",
            Metric::P95QueueDelay => "p95-queue-delay",
            Metric::P99QueueDelay => "p99-queue-delay",
            Metric::Frozen => "frozen",
            Metric::Freezes => "freezes",
            Metric::Late => "late",
            Metric::Skipped => "skipped",
            Metric::EncoderRate => "encoder-rate",
            Metric::EncoderOscillation => "encoder-oscillation",
        }
    }
    /// What it measures, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Metric::Completion => "from the start of the trial to the last byte delivered",
            Metric::Closed => "completion and the close exchange that follows",
            Metric::Rate => {
                "mean rate of delivery, from the start of the flow to its completion or the end"
            }
            Metric::Loss => "packets that the sender declared lost, of those that it sent",
            Metric::Rtt => "mean of the RTT samples of the sender of data",
            Metric::QueueDelay => "mean time that the packets of data waited in queues",
            Metric::Share => "of what all flows got, while all were active",
            Metric::EventRtt => {
                "mean RTT, a sample counted once and for each packet sent until the next one"
            }
            Metric::EventRttHigh => "event-rtt and its standard deviation",
            Metric::Load => {
                "sent by the flow, of the capacity of the path, while all flows were active"
            }
            Metric::Starvation => {
                "longest time with less than a tenth of an equal share, beside other flows"
            }
            Metric::Convergence => {
                "from when all flows are active until they share equally for 5 s (Jain's index 0.9)"
            }
            Metric::Oscillation => {
                "standard deviation of the rate over its mean, by seconds, in the second half of the flow"
            }
            Metric::Utilisation => {
                "how much the busiest link of the data was used, from the first flow to the end"
            }
            Metric::Drops => "packets of data that queues dropped, of those that the sender sent",
            Metric::Marks => "packets of data that queues marked, of those that the sender sent",
            Metric::SpuriousLoss => {
                "packets that the sender declared lost wrongly, of those that it sent"
            }
            Metric::MaxRtt => "largest RTT sample of the sender of data",
            Metric::Trips => "how often the circuit breaker of the flow trips: 0 or 1",
            Metric::FrameDelay => "mean delay of frames of the worst stream that skips none",
            Metric::MaxFrameDelay => "largest delay of a frame of the streams that skip none",
            Metric::MeanDelay => "mean delay of the counted frames",
            Metric::P95Delay => "95th percentile of their delays",
            Metric::P99Delay => "99th percentile of their delays",
            Metric::MaxDelay => "largest of their delays",
            Metric::MeanDelayFromStart => {
                "mean delay of all frames, including those before the start of measurement"
            }
            Metric::MaxDelayFromStart => "largest delay of all frames",
            Metric::Entered => "when the controller first enters a state",
            Metric::Entries => "how often the controller enters a state",
            Metric::Stay => "longest time that the controller stays in a state",
            Metric::Variable => {
                "largest or smallest value of a variable of the controller, whichever the bound is on"
            }
            Metric::P95QueueDelay => {
                "95th percentile of the time that packets of data waited in a queue"
            }
            Metric::P99QueueDelay => {
                "99th percentile of the time that packets of data waited in a queue"
            }
            Metric::Frozen => "time in freezes, as WebRTC counts them",
            Metric::Freezes => "number of freezes, as WebRTC counts them",
            Metric::Late => "counted frames that came after their deadline",
            Metric::Skipped => "frames that the sender gave up",
            Metric::EncoderRate => "mean rate of the encoder of the stream",
            Metric::EncoderOscillation => {
                "standard deviation of the rate of the encoder over its mean, by frames"
            }
        }
    }

    /// All of them.
    pub const ALL: [Metric; 39] = [
        Metric::Completion,
        Metric::Closed,
        Metric::Rate,
        Metric::Loss,
        Metric::Rtt,
        Metric::QueueDelay,
        Metric::Share,
        Metric::EventRtt,
        Metric::EventRttHigh,
        Metric::Load,
        Metric::Starvation,
        Metric::Convergence,
        Metric::Oscillation,
        Metric::Utilisation,
        Metric::Drops,
        Metric::Marks,
        Metric::SpuriousLoss,
        Metric::MaxRtt,
        Metric::Trips,
        Metric::FrameDelay,
        Metric::MaxFrameDelay,
        Metric::MeanDelay,
        Metric::P95Delay,
        Metric::P99Delay,
        Metric::MaxDelay,
        Metric::MeanDelayFromStart,
        Metric::MaxDelayFromStart,
        Metric::Entered,
        Metric::Entries,
        Metric::Stay,
        Metric::Variable,
        Metric::P95QueueDelay,
        Metric::P99QueueDelay,
        Metric::Frozen,
        Metric::Freezes,
        Metric::Late,
        Metric::Skipped,
        Metric::EncoderRate,
        Metric::EncoderOscillation,
    ];
    /// Whether it is a number of one stream of media.
    pub fn is_of_media(self) -> bool {
        let counts = matches!(self, Metric::Freezes | Metric::Late | Metric::Skipped);
        self.is_delay() || self == Metric::Frozen || counts || self.is_of_encoder()
    }
    /// Whether it is a delay of the frames of one stream of media.
    pub(crate) fn is_delay(self) -> bool {
        matches!(
            self,
            Metric::MeanDelay
                | Metric::P95Delay
                | Metric::P99Delay
                | Metric::MaxDelay
                | Metric::MeanDelayFromStart
                | Metric::MaxDelayFromStart
        )
    }
    /// Whether it is of the encoder of a stream that follows a rate.
    pub(crate) fn is_of_encoder(self) -> bool {
        matches!(self, Metric::EncoderRate | Metric::EncoderOscillation)
    }
    /// Whether it is of the frames of a call, of all its streams.
    pub(crate) fn is_of_call(self) -> bool {
        matches!(self, Metric::FrameDelay | Metric::MaxFrameDelay)
    }
    /// Whether it is a time from the start of the trial, which a flow that does not finish has not.
    pub fn is_end(self) -> bool {
        matches!(self, Metric::Completion | Metric::Closed)
    }
    /// Whether it needs other flows beside it.
    pub(crate) fn is_of_several(self) -> bool {
        matches!(
            self,
            Metric::Share | Metric::Starvation | Metric::Convergence
        )
    }
    /// Whether it is of the flow over time, in bins (`outcome/sharing.rs`).
    pub fn is_over_time(self) -> bool {
        matches!(
            self,
            Metric::Starvation | Metric::Convergence | Metric::Oscillation
        )
    }
    /// Whether it is of the states and variables of the controller (`outcome/watching.rs`).
    pub fn is_of_controller(self) -> bool {
        matches!(
            self,
            Metric::Entered | Metric::Entries | Metric::Stay | Metric::Variable
        )
    }
    /// Whether a flow that does not finish has it: it is of what happened until the flow or the trial ended.
    pub fn is_until_the_end(self) -> bool {
        self.is_over_time()
            || self.is_of_controller()
            || matches!(
                self,
                Metric::Rate
                    | Metric::Loss
                    | Metric::Rtt
                    | Metric::QueueDelay
                    | Metric::P95QueueDelay
                    | Metric::P99QueueDelay
                    | Metric::Share
                    | Metric::Utilisation
                    | Metric::Drops
                    | Metric::Marks
                    | Metric::SpuriousLoss
                    | Metric::MaxRtt
                    | Metric::Trips
            )
    }
    /// Its unit; of a variable, that of its bound.
    pub fn unit(self) -> Unit {
        match self {
            Metric::Entries | Metric::Trips | Metric::Freezes | Metric::Late | Metric::Skipped => {
                Unit::Count
            }
            Metric::Variable => Unit::Number,
            Metric::Rate | Metric::EncoderRate => Unit::Rate,
            Metric::Loss
            | Metric::Share
            | Metric::Load
            | Metric::Oscillation
            | Metric::Utilisation
            | Metric::Drops
            | Metric::Marks
            | Metric::SpuriousLoss
            | Metric::EncoderOscillation => Unit::Share,
            _ => Unit::Time,
        }
    }
    /// The column of the outcomes that holds it: of the table of streams if it is of one, else of that of flows. That of
    /// a controller says what is looked at (`Criterion::column`).
    pub fn column(self) -> String {
        match self {
            Metric::Rate => "mean_rate_bps".to_owned(),
            Metric::EncoderRate => "encoder_rate_bps".to_owned(),
            Metric::Rtt => "mean_rtt_s".to_owned(),
            Metric::QueueDelay => "mean_queue_delay_s".to_owned(),
            _ if self.unit() != Unit::Time => self.name().replace('-', "_"),
            _ => format!("{}_s", self.name().replace('-', "_")),
        }
    }
    /// Which end is better; none where that depends on what a criterion asks for.
    pub fn better(self) -> Option<Better> {
        match self {
            _ if self.is_of_controller() => None,
            Metric::Load | Metric::Share => None,
            Metric::Rate | Metric::Utilisation | Metric::EncoderRate => Some(Better::Higher),
            _ => Some(Better::Lower),
        }
    }
    /// Whether only virtual time measures it.
    pub fn is_virtual_only(self) -> bool {
        self.is_over_time()
            || self.is_of_controller()
            || self.is_of_call()
            || matches!(
                self,
                Metric::EventRtt
                    | Metric::EventRttHigh
                    | Metric::Load
                    | Metric::Utilisation
                    | Metric::Trips
            )
    }
    /// The workloads whose flows are compared by it. A call is compared by its frames, and not by when it ends; a breaker
    /// by its criteria only.
    pub fn compares(self) -> &'static [&'static str] {
        match self {
            Metric::Closed => &["transfer"],
            Metric::Completion | Metric::Rate | Metric::Utilisation => &["transfer", "requests"],
            _ if self.is_of_call() => &["call"],
            _ if self.is_of_media() || self.is_of_controller() || self == Metric::Trips => &[],
            _ => &["transfer", "requests", "call"],
        }
    }
    /// Whether frames before the start of measurement also count.
    pub(crate) fn counts_from_start(self) -> bool {
        matches!(self, Metric::MeanDelayFromStart | Metric::MaxDelayFromStart)
    }
    pub(crate) fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}
