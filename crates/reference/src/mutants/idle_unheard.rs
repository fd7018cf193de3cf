//! quiche #1598: bytes in flight are looked at after the packet was counted, so the sender is never seen idle. BBR enters
//! ProbeRTT right after a pause, which draft-ietf-ccwg-bbr-06 section 5.4 excuses.

use super::Bug;
use thalweg_control::event::Sent;
use thalweg_control::{Context, Controller};

pub(super) struct IdleUnheard;

impl Bug for IdleUnheard {
    fn on_sent(&mut self, sound: &mut dyn Controller, event: &Sent, cx: &mut Context<'_>) {
        let busy = Sent {
            was_idle: false,
            ..event.clone()
        };
        sound.on_sent(&busy, cx);
    }

    fn on_idle_restart(&mut self, _sound: &mut dyn Controller, _cx: &mut Context<'_>) {}
}
