//! lsquic #544 and hysteria #1105: whoever has less in flight than its window allows counts as limited by its application.
//! Once an ACK has come that is everyone, so no sample shows a full pipe and Startup never ends.

use super::Bug;
use thalweg_control::event::{Ack, Snapshot};
use thalweg_control::{Context, Controller};

pub(super) struct UnfilledWindow;

impl Bug for UnfilledWindow {
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        let unfilled = cx.path.bytes_in_flight < sound.control().window;
        let snapshot = Snapshot {
            app_limited: event.snapshot.app_limited || unfilled,
            ..event.snapshot.clone()
        };
        let mut event = event.clone();
        if let Some(rate) = &mut event.rate {
            rate.app_limited |= unfilled;
        }
        sound.on_ack(&Ack { snapshot, ..event }, cx);
    }
}
