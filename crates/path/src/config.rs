//! What a link is made of, as plain data.

use crate::{
    DeliveryTrace, JitterConfig, Limit, LossConfig, NoiseConfig, PolicerConfig, QueueConfig,
};
use thalweg_units::{Duration, Rate};

/// One direction of one hop.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Capacity at the start. Zero suspends the link: it keeps its queue and accepts packets.
    pub rate: Rate,
    /// Capacity opportunity by opportunity. In place of `rate` and the rates in `changes`, which then mean
    /// nothing; everything else in `changes`, and `repeat`, hold as before. Its own period is that of the
    /// trace.
    pub trace: Option<DeliveryTrace>,
    /// Noise on the capacity and the delay that the schedule or the trace gives.
    pub noise: Option<NoiseConfig>,
    /// Propagation delay at the start, one way, without jitter.
    pub delay: Duration,
    /// What is dropped or marked before it reaches the queue.
    pub policer: Option<PolicerConfig>,
    /// Which packet leaves next, and which ones the queue drops or marks on purpose.
    pub queue: QueueConfig,
    /// How much the queue holds at the start.
    pub limit: Limit,
    /// Loss after transmission.
    pub loss: LossConfig,
    /// Extra delay of each packet at the start.
    pub jitter: JitterConfig,
    /// Whether a packet with little jitter may overtake one with much. In order by default.
    pub reorder: bool,
    /// What changes and when; need not be sorted. Later entries win over earlier ones of the same time.
    pub changes: Vec<Change>,
    /// After this time the link returns to its first settings and the changes happen again, for ever.
    /// Changes at or after the end of the period never happen; a period of zero means no repetition.
    pub repeat: Option<Duration>,
}

impl LinkConfig {
    /// A constant link that neither drops, loses nor delays unevenly.
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
            reorder: false,
            changes: Vec::new(),
            repeat: None,
        }
    }
}

/// New settings from a given time on. What is `None` stays as it was.
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
}
