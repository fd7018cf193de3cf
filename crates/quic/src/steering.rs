//! The controller of a sender of the real stack: one of the registry, or one of the stack's own.
//!
//! The stack's controllers run unmodified: they get every report of the stack and set window, pacing rate and
//! quantum; only the initial window comes from the scenario.

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use thalweg_control::Controller;
use thalweg_units::Bytes;

/// Prefix of the stack's controllers.
const PREFIX: &str = "noq:";

/// The controller of a sender.
pub enum Steering {
    /// A controller of `thalweg-control`.
    Ours(Box<dyn Controller>),
    /// A controller of the stack.
    Stack(StackController),
}

/// A controller that comes with the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackController {
    /// CUBIC.
    Cubic,
    /// NewReno.
    NewReno,
    /// BBR of version 3.
    Bbr3,
}

impl StackController {
    /// All of them, in display order.
    pub const ALL: [StackController; 3] = [
        StackController::Cubic,
        StackController::NewReno,
        StackController::Bbr3,
    ];

    /// Name, as written in scenarios.
    pub fn as_str(self) -> &'static str {
        match self {
            StackController::Cubic => "noq:cubic",
            StackController::NewReno => "noq:newreno",
            StackController::Bbr3 => "noq:bbr3",
        }
    }
    /// Description in one line.
    pub fn title(self) -> &'static str {
        match self {
            StackController::Cubic => "CUBIC of the QUIC stack",
            StackController::NewReno => "NewReno of the QUIC stack",
            StackController::Bbr3 => "BBR of the QUIC stack",
        }
    }
    /// Whether the seed of the trial determines all its draws. `noq:bbr3` draws its probe times from a generator
    /// that the system seeds; the stack has a field for that seed (`Bbr3Config::probe_rng_seed`), but only
    /// for its own tests.
    pub fn is_seeded(self) -> bool {
        match self {
            StackController::Cubic | StackController::NewReno => true,
            StackController::Bbr3 => false,
        }
    }
    /// Its source.
    pub const SOURCE: &str = "noq-proto 1.3.0, for flows with stack = \"quic\"";

    /// Whether `text` has the prefix of the stack's controllers.
    pub fn is_meant_by(text: &str) -> bool {
        text.trim_start().starts_with(PREFIX)
    }

    pub(crate) fn factory(self, initial_window: Bytes) -> Arc<dyn ControllerFactory + Send + Sync> {
        let window = initial_window.as_u64();
        match self {
            StackController::Cubic => {
                let mut config = CubicConfig::default();
                config.initial_window(window);
                Arc::new(config)
            }
            StackController::NewReno => {
                let mut config = NewRenoConfig::default();
                config.initial_window(window);
                Arc::new(config)
            }
            StackController::Bbr3 => {
                let mut config = Bbr3Config::default();
                config.initial_window(window);
                Arc::new(config)
            }
        }
    }
}

impl fmt::Display for StackController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StackController {
    type Err = String;

    /// # Errors
    /// The message names the controllers of the stack.
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|c| c.as_str() == text.trim());
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("unknown controller \"{text}\" of the QUIC stack; accepted: {names}")
        })
    }
}
