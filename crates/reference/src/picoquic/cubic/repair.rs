//! The repair after a spurious loss: restores the state before the last reaction.

use super::curve::bytes;
use super::{Cubic, Phase};
use crate::picoquic::window::minimum_window;
use thalweg_control::Context;

/// The beta that only the repair uses.
const REPAIR_BETA: f64 = 3.0 / 4.0;

impl Cubic {
    pub(super) fn repair(&mut self, cx: &Context<'_>) {
        let Some(previous) = self.previous else {
            return;
        };
        self.w_max = self.w_last_max;
        match previous.phase {
            Phase::SlowStart => {
                self.phase = Phase::SlowStart;
                self.epoch = previous.epoch;
                self.ssthresh = previous.ssthresh;
                self.window = previous.window;
                self.w_reno = previous.window.as_u64() as f64;
            }
            Phase::Avoidance => {
                self.enter_avoidance(previous.epoch);
                let window = bytes(self.cubic_window(cx.now), cx.path);
                self.window = window.max(minimum_window(cx.path));
                self.w_reno = self.window.as_u64() as f64;
                self.ssthresh = bytes(self.w_max * REPAIR_BETA, cx.path);
            }
        }
    }
}
