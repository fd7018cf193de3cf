//! Congestion avoidance: the larger of the cubic window and the Reno window.

use super::curve::{C, bytes, cube_root};
use super::{BETA, Cubic, Phase};
use crate::picoquic::window::data_limited;
use thalweg_control::Context;
use thalweg_control::event::Ack;
use thalweg_units::{Bytes, Instant};

impl Cubic {
    pub(super) fn enter_avoidance(&mut self, epoch: Instant) {
        self.phase = Phase::Avoidance;
        self.k = cube_root(self.w_max * (1.0 - BETA) / C);
        self.epoch = epoch;
    }

    pub(super) fn grow_in_avoidance(&mut self, event: &Ack, cx: &Context<'_>) {
        if data_limited(cx.path) {
            self.epoch = self.epoch.max(cx.path.last_idle);
            let mtu = cx.path.mtu.as_u64() as f64;
            self.w_reno += event.newly_acked.as_u64() as f64 * mtu / self.w_reno;
            let cubic = bytes(self.cubic_window(cx.now), cx.path);
            self.window = cubic.max(Bytes::new(self.w_reno as u64));
        }
    }
}
