//! noq #800, before it s2n-quic #1524: until Startup ends, BBR keeps at least the pacing rate that it computed with an RTT
//! of 1 ms before it knew any. A sender whose application limits it never leaves Startup, so it is never paced.

use super::Bug;
use thalweg_control::bbr_model::parameters::{MAX_SEND_QUANTUM, STARTUP_PACING_GAIN};
use thalweg_control::{Control, Controller, Init};
use thalweg_units::{Duration, Rate};

pub(super) struct NeverPaced {
    /// The initial window over 1 ms, at the gain of Startup.
    placeholder: Rate,
}

impl NeverPaced {
    pub(super) fn new(init: &Init) -> Self {
        let over_a_millisecond = Rate::over(init.initial_window, Duration::from_millis(1));
        NeverPaced {
            placeholder: STARTUP_PACING_GAIN.of_rate(over_a_millisecond),
        }
    }
}

impl Bug for NeverPaced {
    fn control(&self, sound: &dyn Controller) -> Control {
        let control = sound.control();
        if control.startup_done {
            return control;
        }
        let burst = self.placeholder.bytes_in(Duration::from_millis(1));
        Control {
            pacing: control.pacing.map(|rate| rate.max(self.placeholder)),
            quantum: control.quantum.max(burst.min(MAX_SEND_QUANTUM)),
            ..control
        }
    }
}
