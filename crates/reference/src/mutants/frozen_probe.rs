//! picoquic #2118: on a path below 128 us no condition ends ProbeBW_UP, and the state machine stops there: window and
//! pacing rate stay as they were, however much the path could carry.

use super::Bug;
use super::bug::state;
use thalweg_control::event::Ack;
use thalweg_control::{Context, Control, Controller};
use thalweg_units::Duration;

/// PICOQUIC_MINRTT_THRESHOLD of the thread.
const THRESHOLD: Duration = Duration::from_micros(128);

#[derive(Default)]
pub(super) struct FrozenProbe {
    /// The decision of the first ProbeBW_UP.
    frozen: Option<Control>,
}

impl Bug for FrozenProbe {
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        sound.on_ack(event, cx);
        let probes = cx.path.min_rtt < THRESHOLD && state(sound) == Some("ProbeBW_UP");
        if self.frozen.is_none() && probes {
            self.frozen = Some(sound.control());
        }
    }

    fn control(&self, sound: &dyn Controller) -> Control {
        self.frozen.unwrap_or_else(|| sound.control())
    }
}
