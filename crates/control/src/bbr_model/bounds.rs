//! Short-term and long-term bounds of the model (draft-ietf-ccwg-bbr-06 sections 2.9 and 5.5.10.3).
//!
//! `inflight_longterm` (inflight_hi in implementations) is the volume that bandwidth probing found to be
//! safe. `bw_shortterm` and `inflight_shortterm` (bw_lo, inflight_lo) follow the delivery of rounds with
//! loss between two probes, and are forgotten at the next probe. Infinity stands for "no bound".

use super::{Gain, min_pipe_cwnd};
use thalweg_units::{Bytes, Rate};

/// No bound on the rate.
const NO_RATE_BOUND: Rate = Rate::from_bits_per_sec(u64::MAX);
/// No bound on the volume.
const NO_VOLUME_BOUND: Bytes = Bytes::MAX;

/// The bounds in force.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// BBR.bw_shortterm.
    pub bw_shortterm: Rate,
    /// BBR.inflight_shortterm.
    pub inflight_shortterm: Bytes,
    /// BBR.inflight_longterm.
    pub inflight_longterm: Bytes,
}

impl Bounds {
    /// No bounds (section 5.2.1).
    pub const NONE: Bounds = Bounds {
        bw_shortterm: NO_RATE_BOUND,
        inflight_shortterm: NO_VOLUME_BOUND,
        inflight_longterm: NO_VOLUME_BOUND,
    };

    /// ResetShortTermModel().
    pub fn reset_short_term(&mut self) {
        self.bw_shortterm = NO_RATE_BOUND;
        self.inflight_shortterm = NO_VOLUME_BOUND;
    }

    /// Whether bandwidth probing has met a limit.
    pub fn has_longterm(&self) -> bool {
        self.inflight_longterm != NO_VOLUME_BOUND
    }

    /// Whether a round with loss has set the short-term bounds.
    pub fn has_shortterm(&self) -> bool {
        self.bw_shortterm != NO_RATE_BOUND
    }

    /// InitLowerBounds() and LossLowerBounds(): after a round with loss the bounds fall towards what
    /// that round delivered, but never by more than Beta in one round.
    pub fn lower(&mut self, latest: &LatestDelivery, max_bw: Rate, cwnd: Bytes, beta: Gain) {
        if self.bw_shortterm == NO_RATE_BOUND {
            self.bw_shortterm = max_bw;
        }
        if self.inflight_shortterm == NO_VOLUME_BOUND {
            self.inflight_shortterm = cwnd;
        }
        self.bw_shortterm = latest.bw.max(beta.of_rate(self.bw_shortterm));
        self.inflight_shortterm = latest.inflight.max(beta.of_bytes(self.inflight_shortterm));
    }

    /// InflightWithHeadroom() (section 5.3.3.9): leaves room for others below the long-term bound.
    pub fn inflight_with_headroom(&self, mtu: Bytes, headroom: Gain) -> Bytes {
        if !self.has_longterm() {
            return NO_VOLUME_BOUND;
        }
        let headroom = headroom.of_bytes(self.inflight_longterm).max(mtu);
        (self.inflight_longterm - headroom).max(min_pipe_cwnd(mtu))
    }

    /// The weaker of two sets of bounds, for an undo (section 5.5.11.2).
    pub fn weaker(&self, other: &Bounds) -> Bounds {
        Bounds {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.max(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.max(other.inflight_longterm),
        }
    }
}

/// What the last round trip delivered (BBR.bw_latest and BBR.inflight_latest).
#[derive(Clone, Copy, Debug, Default)]
pub struct LatestDelivery {
    /// Largest delivery rate.
    pub bw: Rate,
    /// Largest volume that was delivered.
    pub inflight: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr_model::parameters::{BETA, HEADROOM};

    const MTU: Bytes = Bytes::new(1_000);

    #[test]
    fn a_round_with_loss_lowers_the_bounds_to_its_delivery_but_not_below_beta() {
        let (max_bw, cwnd) = (Rate::from_bits_per_sec(1_000_000), Bytes::new(100_000));
        let mut bounds = Bounds::NONE;
        let latest = LatestDelivery {
            bw: Rate::from_bits_per_sec(950_000),
            inflight: Bytes::new(50_000),
        };
        bounds.lower(&latest, max_bw, cwnd, BETA);
        assert_eq!(bounds.bw_shortterm, latest.bw);
        assert_eq!(bounds.inflight_shortterm, Bytes::new(70_000)); // 0.7 * 100 000 > 50 000
        bounds.lower(&LatestDelivery::default(), max_bw, cwnd, BETA);
        assert_eq!(bounds.bw_shortterm, Rate::from_bits_per_sec(665_000)); // 0.7 * 950 000
        assert_eq!(bounds.inflight_shortterm, Bytes::new(49_000)); // 0.7 * 70 000
    }

    #[test]
    fn headroom_is_fifteen_percent_and_at_least_one_packet() {
        let bound = |n| Bounds {
            inflight_longterm: Bytes::new(n),
            ..Bounds::NONE
        };
        assert_eq!(
            bound(100_000).inflight_with_headroom(MTU, HEADROOM),
            Bytes::new(85_000)
        );
        assert_eq!(
            bound(6_000).inflight_with_headroom(MTU, HEADROOM),
            Bytes::new(5_000)
        ); // 900 < 1 packet
        assert_eq!(
            bound(3_000).inflight_with_headroom(MTU, HEADROOM),
            Bytes::new(4_000)
        ); // MinPipeCwnd
        assert_eq!(
            Bounds::NONE.inflight_with_headroom(MTU, HEADROOM),
            Bytes::MAX
        );
    }
}
