//! Delivery and loss of a round trip with losses (draft-ietf-ccwg-bbr-06 section 5.5.10).

use super::{LatestDelivery, Sample};
use thalweg_units::Bytes;

/// Delivery and loss of the current round trip, counted from the first loss (section 5.5.10.3).
#[derive(Clone, Debug, Default)]
pub struct LossRound {
    /// BBR.loss_round_start: whether this ACK ended a loss round.
    pub start: bool,
    /// BBR.is_loss_in_round.
    pub is_loss_in_round: bool,
    /// Separate runs of packets lost in the round (section 5.3.1.3).
    pub ranges: u32,
    /// BBR.bw_latest and BBR.inflight_latest.
    pub latest: LatestDelivery,
    /// BBR.loss_round_delivered.
    delivered: Bytes,
}

impl LossRound {
    /// UpdateLatestDeliverySignals().
    pub fn update(&mut self, sample: &Sample, lost_ranges: u32) {
        self.latest.bw = self.latest.bw.max(sample.delivery_rate.unwrap_or_default());
        self.latest.inflight = self.latest.inflight.max(sample.delivered);
        self.ranges = self.ranges.saturating_add(lost_ranges);
        self.start = sample.prior_delivered >= self.delivered;
        if self.start {
            self.delivered = sample.total_delivered;
        }
    }

    /// AdvanceLatestDeliverySignals().
    pub fn advance(&mut self, sample: &Sample) {
        if self.start {
            self.latest = LatestDelivery {
                bw: sample.delivery_rate.unwrap_or_default(),
                inflight: sample.delivered,
            };
        }
    }

    /// ResetCongestionSignals().
    pub fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.latest = LatestDelivery::default();
    }

    /// NoteLoss(): the first loss starts the round that is judged when it ends.
    pub fn note_loss(&mut self, delivered: Bytes) {
        if !self.is_loss_in_round {
            self.delivered = delivered;
        }
        self.is_loss_in_round = true;
    }
}
