//! Outputs: pacing rate, window and quantum from the nominal rate, the max RTT and the coefficient.
//!
//! draft-huitema-ccwg-c4-spec, "Setting pacing rate, congestion window and quantum". The pacing rate is
//! `alpha * nominal_rate`, the window that rate times the max RTT plus a margin, and at least two packets:
//! `cwnd = max(..., 2*MTU)` in every version of the draft, as in RFC 9002 section 7.2. The reference code has
//! no such limit; it acts only where the product is less than two packets.

use super::constants::{INITIAL_PACING_FLOOR, QUANTUM_MAX, QUANTUM_SPAN, RTT_MARGIN_MAX};
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use crate::{Control, Init};
use thalweg_units::{Bytes, Rate};

impl C4 {
    /// The decision before the first signal. The reference code sends unpaced until then; leaving pacing
    /// to the transport with the whole initial window as quantum does that, as RFC 9002 section 7.7
    /// allows for a burst of the initial window.
    pub(super) fn first_control(init: &Init) -> Control {
        Control {
            window: init.initial_window,
            pacing: None,
            quantum: init.initial_window,
            startup_done: false,
        }
    }

    /// Updates the decision. While no rate is known, pacing stays as before the first signal.
    pub(super) fn apply_outputs(&mut self, path: &PathState) {
        let nominal = self.alpha.of_rate(self.nominal_rate);
        let mut window = self.default_window;
        if !self.nominal_max_rtt.is_zero() && !self.nominal_rate.is_zero() {
            window = nominal.bytes_in(self.nominal_max_rtt);
        }
        let (window, pacing) = match self.state {
            State::Initial => {
                let (window, pacing) = self.initial_outputs(window, nominal, path);
                if self.tuning.rules.ratchet {
                    self.initial_window = window;
                }
                (window, pacing)
            }
            State::Resuming => (self.seed.window, self.seed.rate),
            State::Recovery | State::Cruising => (window + self.margin(nominal), nominal),
            State::Probing | State::Pushing => (
                window + self.margin(nominal) + self.room_to_push(path),
                nominal,
            ),
        };
        self.control.window = window.max(path.mtu * 2);
        if !pacing.is_zero() {
            self.control.pacing = Some(pacing);
            self.control.quantum = quantum(pacing, path.mtu);
        }
    }

    /// Initial: the window is at least as large as in slow start. Once an acknowledgement was seen, pacing is at
    /// least 131 072 B/s, and a path that has shown a higher peak rate is paced half-way to it.
    fn initial_outputs(&self, window: Bytes, pacing: Rate, path: &PathState) -> (Bytes, Rate) {
        let mut window = window.max(self.initial_window);
        let mut pacing = pacing;
        if self.initial_events > 0 {
            pacing = pacing.max(INITIAL_PACING_FLOOR);
            if path.peak_rate > pacing {
                pacing = (pacing + path.peak_rate).mul_div(1, 2);
                window = window.max(path.peak_rate.bytes_in(path.smoothed_rtt) / 2);
            }
        }
        (window, pacing)
    }

    /// Room for errors of the max RTT: a quarter of it, 15 ms at most, at the pacing rate.
    fn margin(&self, pacing: Rate) -> Bytes {
        pacing.bytes_in((self.nominal_max_rtt / 4).min(RTT_MARGIN_MAX))
    }

    /// Increase that makes the window of a push grow by at least one packet: a push that cannot
    /// send one packet more would measure nothing.
    fn room_to_push(&self, path: &PathState) -> Bytes {
        let push = (self.alpha - Coefficient::ONE).of_rate(self.nominal_rate);
        path.mtu - push.bytes_in(self.nominal_max_rtt)
    }
}

/// The largest burst: 3.9 ms of data, between two packets and 64 KiB.
fn quantum(pacing: Rate, mtu: Bytes) -> Bytes {
    pacing.bytes_in(QUANTUM_SPAN).min(QUANTUM_MAX).max(mtu * 2)
}
