//! lsquic #554 the other way round. Our transports count a sender that flow control blocks as limited by its application,
//! and so does that stack: BBR stays in Startup for as long. draft-ietf-ccwg-bbr-06 section 4.1.2 asks that there be no
//! unsent data; where flow control is the only limit, as in that scenario, no sample is limited.

use super::Bug;
use thalweg_control::event::{Ack, Snapshot};
use thalweg_control::{Context, Controller};

pub(super) struct FlowControlMended;

impl Bug for FlowControlMended {
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        let snapshot = Snapshot {
            app_limited: false,
            ..event.snapshot.clone()
        };
        let mut event = event.clone();
        if let Some(rate) = &mut event.rate {
            rate.app_limited = false;
        }
        sound.on_ack(&Ack { snapshot, ..event }, cx);
    }
}
