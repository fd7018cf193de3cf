//! Undo of a reduction when all losses that caused it prove spurious, for the option `undo`.
//!
//! RFC 9002 has no undo. The Linux implementation of Prague inherits the undo of TCP, which returns to the
//! window before the loss. What counts as spurious, and that a CE mark confirms the congestion, is as in
//! this crate's CUBIC (RFC 9438 section 4.9.2).

use super::reduction::Reductions;
use crate::start::hystart::HyStart;

/// The flow before a loss reduced it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) window: f64,
    pub(super) ssthresh: f64,
    pub(super) reductions: Reductions,
    pub(super) hystart: Option<HyStart>,
}

/// What is needed to undo the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    before: Option<Before>,
    /// Packets of that event that have not arrived.
    missing: u64,
}

impl Undo {
    /// A loss has reduced the window.
    pub(super) fn reduced(&mut self, before: Before) {
        *self = Undo {
            before: Some(before),
            missing: 1,
        };
    }

    /// A packet was lost without a further reduction.
    pub(super) fn lost(&mut self, packet: u64) {
        if self.concerns(packet) {
            self.missing += 1;
        }
    }

    /// The congestion was real.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }

    /// A packet that was declared lost has arrived. Returns the state to restore, if it was the last one.
    pub(super) fn arrived(&mut self, packet: u64) -> Option<Before> {
        if !self.concerns(packet) {
            return None;
        }
        self.missing = self.missing.saturating_sub(1);
        if self.missing > 0 {
            return None;
        }
        self.before.take()
    }

    /// Whether the packet left after the loss event before this one.
    fn concerns(&self, packet: u64) -> bool {
        self.before
            .as_ref()
            .is_some_and(|before| !before.reductions.answered(packet))
    }
}
