//! Draining: a deeper Recovery after Initial and after a failed push, to empty the queue that they have made.
//!
//! The draft after draft-huitema-ccwg-c4-spec-04 drains by a flag: Recovery at 7/8 after Initial, and after an
//! era that has lowered the max RTT. Its code also sets the flag when the newest sample is the lowest of the era,
//! which no text mentions and which cannot happen here, where a sample enters the era before the acknowledgement.
//! The code of October 2026 keeps a debt instead, in parts of the data of an era: 1 after Initial, the excess of
//! a push that found little, less what each Recovery leaves out (c4-05-code.md sections 1 and 2).

use super::C4;
use super::constants::{
    ALPHA_DRAINING, ALPHA_DRAINING_DEEPLY, ALPHA_RECOVERY, DRAIN_AT_ALL, DRAIN_DEEPLY,
    MAX_RTT_FLOOR, SUBMILLISECOND,
};
use super::rules::Drain;
use crate::PathState;
use crate::coefficient::Coefficient;
use thalweg_units::Duration;

impl C4 {
    /// The coefficient of a Recovery that begins.
    pub(super) fn recovery_alpha(&self) -> Coefficient {
        match self.tuning.rules.drain {
            Drain::Off => ALPHA_RECOVERY,
            Drain::Flag if self.drain_debt == Coefficient::ZERO => ALPHA_RECOVERY,
            Drain::Flag => ALPHA_DRAINING,
            // A max RTT at its floor says nothing about a queue.
            Drain::Debt if self.nominal_max_rtt <= MAX_RTT_FLOOR => ALPHA_RECOVERY,
            Drain::Debt if self.drain_debt > DRAIN_DEEPLY => ALPHA_DRAINING_DEEPLY,
            Drain::Debt if self.drain_debt > DRAIN_AT_ALL => ALPHA_DRAINING,
            Drain::Debt => ALPHA_RECOVERY,
        }
    }

    /// Initial ends with `max_rtt`, as computed. It has sent a whole era's data too much; below a millisecond
    /// that is not worth a debt.
    pub(super) fn drain_initial(&mut self, max_rtt: Duration, path: &PathState) {
        let is_short = max_rtt < MAX_RTT_FLOOR || path.smoothed_rtt < SUBMILLISECOND;
        self.drain_debt = match self.tuning.rules.drain {
            Drain::Off => Coefficient::ZERO,
            Drain::Debt if is_short => Coefficient::ZERO,
            Drain::Flag | Drain::Debt => Coefficient::ONE,
        };
    }

    /// A push ends that found little: what it sent in excess is queued.
    pub(super) fn drain_push(&mut self) {
        if self.tuning.rules.drain == Drain::Debt {
            self.drain_debt = self.drain_debt + (self.alpha - Coefficient::ONE);
        }
    }

    /// The era that ends has shown a lower RTT: a queue may be left from before.
    pub(super) fn drain_lower_rtt(&mut self) {
        if self.tuning.rules.drain == Drain::Flag {
            self.drain_debt = Coefficient::ONE;
        }
    }

    /// The path has more capacity than the nominal rate: its queue empties by itself.
    pub(super) fn drain_nothing(&mut self) {
        self.drain_debt = Coefficient::ZERO;
    }

    /// CE marks ask for a reduction of their own, and a max RTT at its floor shows no queue.
    pub(super) fn forgive_debt(&mut self) {
        if self.tuning.rules.drain == Drain::Debt {
            self.drain_debt = Coefficient::ZERO;
        }
    }

    /// Recovery ends: it has paid off what it left out, or all that a flag can say.
    pub(super) fn pay_off_drain(&mut self) {
        self.drain_debt = match self.tuning.rules.drain {
            Drain::Off | Drain::Flag => Coefficient::ZERO,
            Drain::Debt => self.drain_debt - (Coefficient::ONE - self.alpha),
        };
    }
}
