//! Reactions to loss, marks and timeouts.

use super::{Bbr1, MIN_WINDOW, State};
use crate::Context;
use thalweg_units::Bytes;

impl Bbr1 {
    /// The peer's minimum, two of its packets of at most 1536 bytes; at least one larger packet, so that sending
    /// can continue.
    pub(super) fn least_window(&self) -> Bytes {
        MIN_WINDOW.max(self.mtu)
    }

    /// Halves the window, at most once in a round trip; a start ends.
    pub(super) fn reduce(&mut self, cx: &Context<'_>) {
        let is_fresh = |last| cx.now - last <= cx.path.smoothed_rtt;
        if self.last_reaction.is_some_and(is_fresh) {
            return;
        }
        self.last_reaction = Some(cx.now);
        self.cwnd = (self.cwnd / 2).max(self.least_window());
        if matches!(self.state, State::Startup | State::StartupLongRtt) {
            self.enter_drain();
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
