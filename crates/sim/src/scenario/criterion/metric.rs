//! The metrics that criteria bound: their names, units and meanings.

/// Declares the metrics: variant, name in scenario files, and meaning of each.
macro_rules! metrics {
    ($($variant:ident $name:literal $meaning:literal,)*) => {
        /// A metric of a flow, of a stream of media, of a controller, or of a link.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $(#[doc = $meaning] $variant,)*
        }
        impl Metric {
            /// All of them.
            pub const ALL: &[Metric] = &[$(Metric::$variant,)*];

            /// The name in scenario files.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }
            /// What it measures, in a line.
            pub fn meaning(self) -> &'static str {
                match self { $(Metric::$variant => $meaning,)* }
            }
        }
    };
}

metrics! {
    Completion "completion" "from the start of the trial to the last byte delivered",
    Closed "closed" "completion and the close exchange that follows",
    Rate "rate" "mean rate of delivery, from the start of the flow to its completion or the end",
    Loss "loss" "packets that the sender declared lost, of those that it sent",
    Rtt "rtt" "mean of the RTT samples of the sender of data",
    QueueDelay "queue-delay" "mean time that the packets of data waited in queues",
    Share "share" "of what all flows got, while all were active",
    EventRtt "event-rtt" "mean RTT, a sample counted once and for each packet sent until the next one",
    EventRttHigh "event-rtt-high" "event-rtt and its standard deviation",
    Load "load" "sent by the flow, of the capacity of the path, while all flows were active",
    Starvation "starvation" "longest time with less than a tenth of an equal share, next to other flows",
    Convergence "convergence" "from when all flows are active until they share equally for 5 s (Jain's index 0.9)",
    Oscillation "oscillation" "standard deviation of the rate over its mean, by seconds, in the second half of the flow",
    Utilisation "utilisation" "how much the busiest link of the data was used, from the first flow to the end",
    Drops "drops" "packets of data that queues dropped, of those that the sender sent",
    Marks "marks" "packets of data that queues marked, of those that the sender sent",
    SpuriousLoss "spurious-loss" "packets that the sender declared lost wrongly, of those that it sent",
    MaxRtt "max-rtt" "largest RTT sample of the sender of data",
    Limited "limited" "share of the life of the flow in which what the criterion names limited its sender of data",
    Trips "trips" "how often the circuit breaker of the flow trips: 0 or 1",
    ProbeBytes "probe-bytes" "bytes that the senders of a call sent beyond their media to learn the capacity",
    FrameDelay "frame-delay" "mean delay of frames of the worst stream that skips none",
    MaxFrameDelay "max-frame-delay" "largest delay of a frame of the streams that skip none",
    MeanDelay "mean-delay" "mean delay of the counted frames",
    P50Delay "p50-delay" "median of their delays",
    P95Delay "p95-delay" "95th percentile of their delays",
    P99Delay "p99-delay" "99th percentile of their delays",
    MaxDelay "max-delay" "largest of their delays",
    MeanDelayFromStart "mean-delay-from-start" "mean delay of all frames, including those before the start of measurement",
    MaxDelayFromStart "max-delay-from-start" "largest delay of all frames",
    Entered "entered" "when the controller first enters a state",
    Entries "entries" "how often the controller enters a state",
    Stay "stay" "longest time that the controller stays in a state",
    Variable "variable" "largest or smallest value of a variable of the controller, whichever the bound is on",
    ToldRateError "told-rate-error" "share of the time in which what a sender is told of the rate of its path is off by more than a fifth",
    TimeToNotice "time-to-notice" "longest time from a change of the capacity until what the sender is told is less than a fifth off",
    P95QueueDelay "p95-queue-delay" "95th percentile of the time that packets of data waited in a queue",
    P99QueueDelay "p99-queue-delay" "99th percentile of the time that packets of data waited in a queue",
    Frozen "frozen" "time in freezes, as WebRTC counts them",
    Freezes "freezes" "number of freezes, as WebRTC counts them",
    Late "late" "counted frames that came after their deadline",
    Skipped "skipped" "frames that the sender gave up",
    Undelivered "undelivered" "counted frames that were due and not delivered: lost, given up, or on their way at the end",
    Repaired "repaired" "packets of media that retransmission or error correction delivered",
    RepairBytes "repair-bytes" "bytes sent again or as error correction, of the counted frames",
    FirstFrame "first-frame" "from the start of the flow to the first frame received",
    MediaRate "media-rate" "bytes of the counted frames delivered, over the time of all frames that were due",
    Mos "mos" "mean opinion score: of audio by ITU-T G.107, of video by ITU-T G.1070",
    EncoderRate "encoder-rate" "mean rate of the encoder of the stream",
    EncoderShare "encoder-share" "mean rate of the encoder over the most that it can have",
    EncoderOscillation "encoder-oscillation" "standard deviation of the rate of the encoder over its mean, by frames",
    LinkUtilisation "link-utilisation" "of the time, while it transmitted",
    LinkMeanQueueDelay "link-mean-queue-delay" "time of packets in its queue",
    LinkDropped "link-dropped" "packets that its queue or policer dropped, of those offered",
    LinkLost "link-lost" "packets that it lost at random, of those offered",
    LinkPoliced "link-policed" "packets that its policer dropped, of those offered",
    LinkAirtime "link-airtime" "of the time, in which only its station is in the air of a Wi-Fi medium",
    LinkAirtimeOfNeighbours "link-airtime-of-neighbours" "of the time, in which only a neighbour is in the air",
    LinkAirtimeOfSeveral "link-airtime-of-several" "of the time, in which several stations are in the air",
    LinkAirtimeIdle "link-airtime-idle" "of the time, in which nobody is in the air",
    LinkFailedAttempts "link-failed-attempts" "frames of its station that failed, of those that it sent",
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
    /// A mean opinion score, from 1 to 5.
    Score,
}

impl Unit {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Time => "s",
            Unit::Rate => "bps",
            Unit::Share => "share",
            Unit::Bytes => "bytes",
            Unit::Count | Unit::Number | Unit::Score => "",
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
    /// Whether it is a number of one stream of media.
    pub fn is_of_media(self) -> bool {
        let of_frames = matches!(
            self,
            Metric::Frozen
                | Metric::Freezes
                | Metric::Late
                | Metric::Skipped
                | Metric::Undelivered
                | Metric::FirstFrame
                | Metric::MediaRate
                | Metric::Mos
        );
        self.is_delay() || of_frames || self.is_of_encoder() || self.is_of_repair()
    }
    /// Whether it is of the repair of a stream that has it.
    pub(crate) fn is_of_repair(self) -> bool {
        matches!(self, Metric::Repaired | Metric::RepairBytes)
    }
    /// Whether it is a delay of the frames of one stream of media.
    pub(crate) fn is_delay(self) -> bool {
        matches!(
            self,
            Metric::MeanDelay
                | Metric::P50Delay
                | Metric::P95Delay
                | Metric::P99Delay
                | Metric::MaxDelay
                | Metric::MeanDelayFromStart
                | Metric::MaxDelayFromStart
        )
    }
    /// Whether it is of the encoder of a stream that follows a rate.
    pub(crate) fn is_of_encoder(self) -> bool {
        matches!(
            self,
            Metric::EncoderRate | Metric::EncoderShare | Metric::EncoderOscillation
        )
    }
    /// Whether it is of the frames of a call, of all its streams.
    pub(crate) fn is_of_call(self) -> bool {
        matches!(self, Metric::FrameDelay | Metric::MaxFrameDelay)
    }
    /// Whether it is of a link.
    pub fn is_of_link(self) -> bool {
        self.is_of_contention()
            || matches!(
                self,
                Metric::LinkUtilisation
                    | Metric::LinkMeanQueueDelay
                    | Metric::LinkDropped
                    | Metric::LinkLost
                    | Metric::LinkPoliced
            )
    }
    /// Whether it is of a link with stations that contend.
    pub(crate) fn is_of_contention(self) -> bool {
        matches!(
            self,
            Metric::LinkAirtime
                | Metric::LinkAirtimeOfNeighbours
                | Metric::LinkAirtimeOfSeveral
                | Metric::LinkAirtimeIdle
                | Metric::LinkFailedAttempts
        )
    }
    /// Whether it is a time from the start of the trial, which a flow that does not finish has not.
    pub fn is_end(self) -> bool {
        matches!(self, Metric::Completion | Metric::Closed)
    }
    /// Whether it needs other flows.
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
            Metric::Entered
                | Metric::Entries
                | Metric::Stay
                | Metric::Variable
                | Metric::ToldRateError
                | Metric::TimeToNotice
        )
    }
    /// Whether a flow that does not finish has it: it is of what happened until the flow or the trial ended.
    pub fn is_until_the_end(self) -> bool {
        self.is_over_time()
            || self.is_of_controller()
            || self.is_of_link()
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
                    | Metric::Limited
                    | Metric::ProbeBytes
            )
    }
    /// Its unit; of a variable, the unit of its bound.
    pub fn unit(self) -> Unit {
        match self {
            Metric::Entries
            | Metric::Trips
            | Metric::Freezes
            | Metric::Late
            | Metric::Skipped
            | Metric::Undelivered
            | Metric::Repaired => Unit::Count,
            Metric::RepairBytes | Metric::ProbeBytes => Unit::Bytes,
            Metric::Variable => Unit::Number,
            Metric::Mos => Unit::Score,
            Metric::Rate | Metric::MediaRate | Metric::EncoderRate => Unit::Rate,
            Metric::Loss
            | Metric::Share
            | Metric::Load
            | Metric::Oscillation
            | Metric::Utilisation
            | Metric::Drops
            | Metric::Marks
            | Metric::SpuriousLoss
            | Metric::Limited
            | Metric::ToldRateError
            | Metric::EncoderShare
            | Metric::EncoderOscillation => Unit::Share,
            Metric::LinkMeanQueueDelay => Unit::Time,
            _ if self.is_of_link() => Unit::Share,
            _ => Unit::Time,
        }
    }
    /// The column of the outcomes that holds it: of the table of streams or of links if it is of one, else of the table
    /// of flows. For a controller, and for what limits a sender, `Criterion::column` says what is looked at.
    pub fn column(self) -> String {
        match self {
            Metric::Limited => String::new(),
            _ if self.is_of_controller() => String::new(),
            Metric::Rate => "mean_rate_bps".to_owned(),
            Metric::MediaRate => "media_rate_bps".to_owned(),
            Metric::EncoderRate => "encoder_rate_bps".to_owned(),
            Metric::Rtt => "mean_rtt_s".to_owned(),
            Metric::QueueDelay => "mean_queue_delay_s".to_owned(),
            _ => {
                let name = self.name().trim_start_matches("link-").replace('-', "_");
                match self.unit() {
                    Unit::Time => format!("{name}_s"),
                    _ => name,
                }
            }
        }
    }
    /// Which end is better; none where that depends on what a criterion asks for.
    pub fn better(self) -> Option<Better> {
        match self {
            Metric::ToldRateError | Metric::TimeToNotice => Some(Better::Lower),
            _ if self.is_of_controller() => None,
            Metric::LinkAirtime | Metric::LinkAirtimeOfNeighbours | Metric::LinkAirtimeIdle => None,
            Metric::LinkUtilisation => Some(Better::Higher),
            Metric::Load | Metric::Share | Metric::Limited | Metric::Repaired => None,
            Metric::Rate
            | Metric::Utilisation
            | Metric::MediaRate
            | Metric::Mos
            | Metric::EncoderRate
            | Metric::EncoderShare => Some(Better::Higher),
            _ => Some(Better::Lower),
        }
    }
    /// Whether only virtual time measures it.
    pub fn is_virtual_only(self) -> bool {
        self.is_over_time()
            || self.is_of_controller()
            || self.is_of_call()
            || self.is_of_link()
            || matches!(
                self,
                Metric::EventRtt
                    | Metric::EventRttHigh
                    | Metric::Load
                    | Metric::Utilisation
                    | Metric::Trips
                    | Metric::Limited
                    | Metric::ProbeBytes
            )
    }
    /// The workloads whose flows are compared by it. A call is compared by its frames and its rate, and not by when it
    /// ends; a breaker by its criteria only.
    pub fn compares(self) -> &'static [&'static str] {
        match self {
            Metric::Closed => &["transfer"],
            Metric::Completion | Metric::Utilisation => &["transfer", "requests"],
            Metric::Frozen | Metric::Freezes | Metric::Undelivered => &["call"],
            _ if self.is_of_call() => &["call"],
            Metric::Trips | Metric::Limited | Metric::ProbeBytes => &[],
            _ if self.is_of_media() || self.is_of_controller() || self.is_of_link() => &[],
            _ => &["transfer", "requests", "call"],
        }
    }
    /// Whether frames before the start of measurement also count.
    pub(crate) fn counts_from_start(self) -> bool {
        matches!(
            self,
            Metric::MeanDelayFromStart | Metric::MaxDelayFromStart | Metric::FirstFrame
        )
    }
    pub(crate) fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL
            .iter()
            .copied()
            .find(|metric| metric.name() == name)
    }
}
