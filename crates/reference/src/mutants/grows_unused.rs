//! quinn #497, quicly #109, picoquic #1485, xquic #731: the window grows with every ACK, whether or not the sender uses it,
//! against RFC 9002 section 7.8. What it allows at the end, nobody has ever sent.

use super::Bug;
use thalweg_control::event::{Ack, Snapshot};
use thalweg_control::{Context, Controller};

pub(super) struct GrowsUnused;

impl Bug for GrowsUnused {
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        let snapshot = Snapshot {
            app_limited: false,
            window_limited: true,
            ..event.snapshot.clone()
        };
        let event = Ack {
            snapshot,
            ..event.clone()
        };
        sound.on_ack(&event, cx);
    }
}
