//! What an agent decides: the window, the pacing rate, or both, by factor or by value.
//!
//! # Limits
//! An action outside of its range counts as the nearest bound. The window is never below two packets (RFC 9002 section 7.2,
//! kMinimumWindow) nor above 1 GiB; the pacing rate never below two packets a smoothed RTT nor above 1 Tbps.

use thalweg_control::{Control, PathState};
use thalweg_units::{Bytes, Rate};

const LARGEST_WINDOW: f64 = (1_u64 << 30) as f64;
const LARGEST_RATE: f64 = 1e12;
/// Packets (RFC 9002 section 7.2, kMinimumWindow).
const LEAST_PACKETS: f64 = 2.0;

/// A decision, in bytes and bits per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    pub(super) window: f64,
    /// `None` leaves pacing to the transport.
    pub(super) pacing: Option<f64>,
}

impl Decision {
    /// The decision of a controller which has decided nothing.
    pub(super) fn initial(control: &Control) -> Self {
        Decision {
            window: control.window.as_u64() as f64,
            pacing: None,
        }
    }

    /// As a transport takes it; what it does not say is as in `before`.
    pub(super) fn control(&self, before: Control) -> Control {
        Control {
            window: Bytes::new(self.window as u64),
            pacing: (self.pacing).map(|rate| Rate::from_bits_per_sec((rate as u64).max(1))),
            ..before
        }
    }
}

/// One number that an agent decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    WindowFactor,
    Window,
    PacingFactor,
    Pacing,
}

impl Act {
    pub(super) const ALL: [Act; 4] = [
        Act::WindowFactor,
        Act::Window,
        Act::PacingFactor,
        Act::Pacing,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Act::WindowFactor => "window_factor",
            Act::Window => "window",
            Act::PacingFactor => "pacing_factor",
            Act::Pacing => "pacing",
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Act::WindowFactor => "the window is multiplied by 2 to the power of the action",
            Act::Window => "the window in packets",
            Act::PacingFactor => "the pacing rate is multiplied by 2 to the power of the action",
            Act::Pacing => "the pacing rate in Mbps",
        }
    }

    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Act::WindowFactor | Act::PacingFactor => (-1.0, 1.0),
            Act::Window => (LEAST_PACKETS, 100_000.0),
            Act::Pacing => (0.01, 100_000.0),
        }
    }

    pub(super) fn is_window(self) -> bool {
        matches!(self, Act::WindowFactor | Act::Window)
    }
}

/// What actions make of a decision. With only a pacing rate, the window is twice what this rate sends in a smoothed RTT.
pub(super) fn decide(
    acts: &[Act],
    actions: impl Iterator<Item = f64>,
    path: &PathState,
    before: Decision,
) -> Decision {
    let mtu = path.mtu.as_u64() as f64;
    let srtt = path.smoothed_rtt.as_secs_f64();
    let least_rate = LEAST_PACKETS * mtu * 8.0 / srtt;
    let (mut after, mut decides_window) = (before, false);
    for (act, action) in acts.iter().zip(actions) {
        let (low, high) = act.range();
        let action = action.clamp(low, high);
        let rate = || before.pacing.unwrap_or(before.window * 8.0 / srtt);
        decides_window |= act.is_window();
        match act {
            Act::WindowFactor => after.window = before.window * libm::exp2(action),
            Act::Window => after.window = action * mtu,
            Act::PacingFactor => after.pacing = Some(rate() * libm::exp2(action)),
            Act::Pacing => after.pacing = Some(action * 1e6),
        }
    }
    after.pacing = after
        .pacing
        .map(|rate| rate.max(least_rate).min(LARGEST_RATE));
    if let (false, Some(rate)) = (decides_window, after.pacing) {
        after.window = 2.0 * rate / 8.0 * srtt;
    }
    after.window = after.window.clamp(LEAST_PACKETS * mtu, LARGEST_WINDOW);
    after
}
