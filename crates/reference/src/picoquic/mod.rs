//! picoquic's controllers of August 2026, and the rules that they share (picoquic-controllers.md section 1).

mod bbr;
mod bbr1;
mod cubic;
mod reno;
mod window;
mod window_pacing;
mod window_start;

pub use window_pacing::WindowPacing;

use thalweg_control::Variant;

/// The variants of this module.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        controller: "cubic",
        name: "picoquic",
        build: |_, init| Box::new(cubic::Cubic::new(init, cubic::Signal::Loss)),
    },
    Variant {
        controller: "cubic",
        name: "dcubic",
        build: |_, init| Box::new(cubic::Cubic::new(init, cubic::Signal::Delay)),
    },
    Variant {
        controller: "reno",
        name: "picoquic",
        build: |_, init| Box::new(reno::Reno::new(init)),
    },
    Variant {
        controller: "bbr",
        name: "picoquic",
        build: |_, init| Box::new(bbr::Bbr::new(init)),
    },
    Variant {
        controller: "bbr1",
        name: "picoquic",
        build: |_, init| Box::new(bbr1::Bbr1::new(init)),
    },
];
