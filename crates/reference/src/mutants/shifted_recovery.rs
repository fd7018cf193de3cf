//! quiche #2370: CUBIC moves the start of its recovery period forward by the time since the last packet whenever it sends
//! with nothing in flight. At the minimum window that is once in every round trip, and the time is the round trip itself:
//! every packet belongs to the recovery period, in which no window grows (RFC 9002 section 7.3.2).

use super::Bug;
use thalweg_control::event::{Ack, Lost, Sent};
use thalweg_control::{Context, Controller, Init};
use thalweg_units::Instant;

pub(super) struct ShiftedRecovery {
    last_sent: Instant,
    /// Start of the recovery period, if there was one.
    start: Option<Instant>,
}

impl ShiftedRecovery {
    pub(super) fn new(init: &Init) -> Self {
        ShiftedRecovery {
            last_sent: init.now,
            start: None,
        }
    }

    /// Whether a packet that left then belongs to the recovery period.
    fn covers(&self, sent: Instant) -> bool {
        self.start.is_some_and(|start| sent <= start)
    }
}

impl Bug for ShiftedRecovery {
    fn on_sent(&mut self, sound: &mut dyn Controller, event: &Sent, cx: &mut Context<'_>) {
        if event.was_idle {
            let pause = cx.now - self.last_sent;
            self.start = self.start.map(|start| start + pause);
        }
        self.last_sent = cx.now;
        sound.on_sent(event, cx);
    }

    fn on_lost(&mut self, sound: &mut dyn Controller, event: &Lost, cx: &mut Context<'_>) {
        if !self.covers(event.snapshot.sent) {
            self.start = Some(cx.now);
        }
        sound.on_lost(event, cx);
    }

    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        if !self.covers(event.snapshot.sent) {
            sound.on_ack(event, cx);
        }
    }
}
