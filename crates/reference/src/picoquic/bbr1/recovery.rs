//! Reactions to loss, marks and timeouts.

use super::{Bbr1, MIN_WINDOW, State};
use thalweg_control::Context;
use thalweg_units::Bytes;

impl Bbr1 {
    /// The peer's minimum, two of its packets of at most 1536 bytes; at least one larger packet, so that sending
    /// can continue.
    pub(super) fn least_window(&self) -> Bytes {
        MIN_WINDOW.max(self.mtu)
    }

    /// Halves the window, at most once in a round trip and in a phase of the cycle.
    pub(super) fn reduce(&mut self, cx: &Context<'_>) {
        let is_fresh = |last| cx.now - last <= cx.path.smoothed_rtt;
        if !self.ends_phase && !self.last_reaction.is_some_and(is_fresh) {
            self.cwnd = (self.cwnd / 2).max(self.least_window());
            self.react(cx);
        }
    }

    /// Takes the smallest window, until a timeout proves spurious.
    pub(super) fn suspend(&mut self, cx: &Context<'_>) {
        self.suspended.get_or_insert(self.cwnd);
        self.cwnd = self.least_window();
        self.react(cx);
    }

    /// Ends a start, or the phase of the cycle.
    fn react(&mut self, cx: &Context<'_>) {
        self.last_reaction = Some(cx.now);
        self.reaction_end = cx.path.next_packet;
        if matches!(self.state, State::Startup | State::StartupLongRtt) {
            self.enter_drain();
        } else {
            self.ends_phase = true;
        }
    }

    /// Restores the window before a timeout, at the first acknowledgement after it proved spurious.
    pub(super) fn restore_window(&mut self) {
        if std::mem::take(&mut self.restore)
            && let Some(cwnd) = self.suspended.take()
        {
            self.cwnd = self.cwnd.max(cwnd);
        }
    }
}
