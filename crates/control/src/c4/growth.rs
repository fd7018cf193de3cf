//! The growth test: did the last push or probe find capacity?
//!
//! Reference code; draft-huitema-ccwg-c4-spec describes it in part under "Pushing state" with one
//! threshold of 19/16. With the coefficient of Pushing, 1256/1024, the thresholds come to +5.66 % and +17.0 %.

use super::C4;
use super::constants::ALPHA_PROBING;
use crate::coefficient::Coefficient;
use thalweg_units::Rate;

/// What the nominal rate is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// Nominal rate when the reference was taken.
    pub(super) rate: Rate,
    /// Coefficient that the packets since then were sent with.
    pub(super) alpha: Coefficient,
}

/// How much the nominal rate grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Not enough to call the push a success.
    None,
    /// At least a quarter of what the push could have found.
    Slow,
    /// More than three quarters of it, or anything at all after a small push without congestion.
    Fast,
}

impl C4 {
    /// Compares the nominal rate with the reference.
    pub(super) fn growth(&self) -> Growth {
        let Reference { rate, alpha } = self.reference;
        if alpha <= ALPHA_PROBING {
            return match self.nominal_rate > rate && !self.congestion_seen {
                true => Growth::Fast,
                false => Growth::None,
            };
        }
        let pushed = alpha.of_rate(rate);
        let slow = (rate + rate + rate + pushed).mul_div(1, 4);
        let fast = (rate + pushed + pushed + pushed).mul_div(1, 4);
        match self.nominal_rate {
            reached if reached < slow => Growth::None,
            reached if reached > fast => Growth::Fast,
            _ => Growth::Slow,
        }
    }

    /// Sets the reference of the next growth test to the current state, and clears its flags.
    pub(super) fn mark_reference(&mut self) {
        self.congestion_seen = false;
        self.fully_used = false;
        self.reference = Reference {
            rate: self.nominal_rate,
            alpha: self.alpha,
        };
    }
}
