//! The start by window that the variants of BBR and BBRv1 share (picoquic-controllers.md section 1): on a long path
//! they start like a window-based algorithm, until the delay test ends that.

use super::window_pacing::WindowPacing;
use thalweg_control::delay_hystart::DelayHystart;
use thalweg_control::{Control, PathState};
use thalweg_units::{Bytes, Duration, Instant};

/// The delay test, and the pacing of what is sent by window.
#[derive(Debug)]
pub(crate) struct WindowStart {
    hystart: DelayHystart,
    /// The pacing of the first flight, and of the start by window; none afterwards.
    pacing: Option<WindowPacing>,
}

impl WindowStart {
    pub(crate) fn new() -> Self {
        WindowStart {
            hystart: DelayHystart::default(),
            pacing: None,
        }
    }

    /// Paces the first flight, however the flow starts.
    pub(crate) fn pace_first_flight(&mut self, initial_window: Bytes, path: &PathState) {
        self.pacing = Some(WindowPacing::of_first_flight(initial_window, path));
    }

    /// Paces `window` as long as the flow starts by window.
    pub(crate) fn pace(&mut self, starts_by_window: bool, window: Bytes, path: &PathState) {
        self.pacing = starts_by_window.then(|| WindowPacing::of(window, path, true));
    }

    /// Takes an RTT sample of a flow that starts by window; true when the start should end.
    pub(crate) fn on_rtt(
        &mut self,
        rtt: Duration,
        window: Bytes,
        mtu: Bytes,
        path: &PathState,
        now: Instant,
    ) -> bool {
        let pacing = self
            .pacing
            .unwrap_or_else(|| WindowPacing::of(window, path, true));
        self.hystart.on_rtt(rtt, pacing.packet_time(mtu), now)
    }

    /// What is sent by window is paced by it.
    pub(crate) fn control(&self, by_rate: Control) -> Control {
        match self.pacing {
            Some(pacing) => Control {
                pacing: Some(pacing.rate),
                quantum: pacing.quantum,
                ..by_rate
            },
            None => by_rate,
        }
    }
}
