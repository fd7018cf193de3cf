//! Classic slow start: the window grows by what is acknowledged, until a packet is lost or marked (RFC 5681 section
//! 3.1, RFC 9002 section 7.3.1).
//!
//! RFC 5681 bounds the growth by one ACK by a segment, RFC 9002 does not; this is RFC 9002.

use super::{SlowStart, Verdict};
use crate::Context;
use crate::event::Ack;
use thalweg_units::Bytes;

/// It has no state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classic;

impl SlowStart for Classic {
    fn on_ack(&mut self, ack: &Ack, _window: Bytes, _cx: &Context<'_>) -> Verdict {
        Verdict::Grow(ack.newly_acked)
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::Flow;
    use thalweg_units::Duration;

    #[test]
    fn delay_changes_nothing_and_a_loss_ends_it() {
        for name in ["cubic:start=classic", "reno"] {
            let mut flow = Flow::new(name);
            for rtt in [40, 40, 60, 90, 150] {
                let window = flow.window();
                flow.round(Duration::from_millis(rtt));
                assert_eq!(flow.window(), window * 2, "{name}");
            }
            flow.fill_window();
            flow.lose(flow.in_flight()[0]);
            assert!(flow.control().startup_done, "{name}");
        }
    }
}
