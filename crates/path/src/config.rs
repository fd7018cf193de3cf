//! Configuration of a link, as plain data.

use crate::{
    DeliveryTrace, EcnConfig, JitterConfig, Limit, LossConfig, NoiseConfig, PolicerConfig,
    QueueConfig,
};
use thalweg_units::{Duration, Rate};

/// One direction of one hop.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Capacity at the start. Zero suspends the link: it keeps its queue and accepts packets.
    pub rate: Rate,
    /// Delivery trace, instead of `rate` and the rates in `changes`, which are then
    /// ignored; everything else in `changes`, and `repeat`, still apply. Its period is the period of the
    /// trace.
    pub trace: Option<DeliveryTrace>,
    /// Noise on the capacity and the delay of the schedule or the trace.
    pub noise: Option<NoiseConfig>,
    /// Propagation delay at the start, one way, without jitter.
    pub delay: Duration,
    /// Policer before the queue.
    pub policer: Option<PolicerConfig>,
    /// Queue discipline at the start: scheduling and AQM.
    pub queue: QueueConfig,
    /// Limit of the queue at the start.
    pub limit: Limit,
    /// Loss after transmission at the start.
    pub loss: LossConfig,
    /// Extra delay of each packet at the start.
    pub jitter: JitterConfig,
    /// What becomes of ECN codepoints.
    pub ecn: EcnConfig,
    /// Whether a packet with little jitter may overtake one with much. In order by default.
    pub reorder: bool,
    /// Changes, in any order. Later entries override earlier ones of the same time.
    pub changes: Vec<Change>,
    /// Period after which the link returns to its first settings and the changes repeat.
    /// Changes at or after the end of the period never happen; a period of zero means no repetition.
    pub repeat: Option<Duration>,
}

impl LinkConfig {
    /// A constant link without drops, loss and jitter.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        LinkConfig {
            rate,
            trace: None,
            noise: None,
            delay,
            policer: None,
            queue: QueueConfig::DropTail,
            limit: Limit::Unlimited,
            loss: LossConfig::None,
            jitter: JitterConfig::None,
            ecn: EcnConfig::Kept,
            reorder: false,
            changes: Vec::new(),
            repeat: None,
        }
    }

    /// Capacity at the start, without noise; of a delivery trace the mean.
    pub fn rate_at_start(&self) -> Rate {
        let trace = self.trace.as_ref();
        trace.map_or(self.rate, DeliveryTrace::mean_rate)
    }
}

/// New settings from a given time on. `None` means no change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// When, counted from the start of the trial, or of the period if the schedule repeats.
    pub at: Duration,
    /// New capacity.
    pub rate: Option<Rate>,
    /// New propagation delay.
    pub delay: Option<Duration>,
    /// New jitter.
    pub jitter: Option<JitterConfig>,
    /// New limit of the queue.
    pub limit: Option<Limit>,
    /// New loss. Another model than the one in force starts anew, with draws of its own.
    pub loss: Option<LossConfig>,
    /// New queue discipline. Another one than that in force starts anew, and takes over what waits.
    pub queue: Option<QueueConfig>,
    /// Whether all waiting packets are dropped at this time.
    pub flush: bool,
}
