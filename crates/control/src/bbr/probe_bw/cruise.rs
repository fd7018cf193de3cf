//! ProbeBW_CRUISE: sends at the bandwidth until it is time to probe
//! (draft-ietf-ccwg-bbr-06 section 5.3.3.2).

use super::super::Bbr;
use crate::Context;

impl Bbr {
    pub(super) fn update_cruise(&mut self, cx: &mut Context<'_>) {
        if self.is_time_to_probe_bw(cx) {
            self.start_probe_bw_refill(cx);
        }
    }
}
