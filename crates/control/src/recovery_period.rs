//! The recovery period of RFC 9002 section 7.3.2: at most one reduction of the window for each round
//! trip.
//!
//! RFC 9002 compares send times. Packets are sent in the order of their numbers, so this module compares
//! packet numbers instead, which are exact and also part of ECN events. Numbers belong to
//! the application space.

/// The last recovery period of a flow, current or past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecoveryPeriod {
    /// First packet number that may leave after the period began.
    end: u64,
    open: bool,
}

impl RecoveryPeriod {
    /// Begins a period; `next_packet` is the number of the first packet that the reduced window sends.
    pub(crate) fn begin(&mut self, next_packet: u64) {
        *self = RecoveryPeriod {
            end: next_packet,
            open: true,
        };
    }

    /// Whether `packet` was sent before the period began, so that its loss or mark is not a new signal.
    pub(crate) fn covers(&self, packet: u64) -> bool {
        packet < self.end
    }

    /// First packet number that the period does not cover.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Ends the period once a packet that left during it is acknowledged.
    pub(crate) fn on_ack(&mut self, largest: u64) {
        self.open &= self.covers(largest);
    }

    /// Ends the period at once: persistent congestion restarts from slow start (RFC 9002 appendix B.8).
    /// The packets it covers are still no new signal.
    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    /// Whether the window is constant.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_lasts_until_a_packet_that_left_during_it_is_acknowledged() {
        let mut recovery = RecoveryPeriod::default();
        assert!(!recovery.is_open() && !recovery.covers(0));
        recovery.begin(10);
        recovery.on_ack(9);
        assert!(recovery.is_open() && recovery.covers(9) && !recovery.covers(10));
        recovery.on_ack(10);
        assert!(!recovery.is_open());
        assert!(
            recovery.covers(9),
            "late losses of the same round trip are still covered"
        );
    }
}
