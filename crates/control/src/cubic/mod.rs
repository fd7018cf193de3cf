//! CUBIC.
//!
//! [`rfc9438`] is the controller of RFC 9438 and the default; its window function is in [`rfc9438::curve`].
//! [`picoquic`] reproduces what picoquic calls Cubic and dCubic, to be compared with results that were
//! measured with them, and with nothing else.

mod picoquic;
mod rfc9438;

use crate::{Controller, Entry, Init, OptionDoc, OptionKind, Options};

/// CUBIC in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "cubic",
    title: "CUBIC",
    source: "RFC 9438, with HyStart++ of RFC 9406",
    options: &[
        OptionDoc {
            name: "variant",
            kind: OptionKind::Choice(&["rfc9438", "picoquic", "dcubic"]),
            default: "rfc9438",
            meaning: "rfc9438, or picoquic's Cubic or dCubic for comparison with its results",
        },
        OptionDoc {
            name: "hystart",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "HyStart++ in the initial slow start of rfc9438 (RFC 9438 section 4.10 recommends it)",
        },
        OptionDoc {
            name: "fast_convergence",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "release bandwidth sooner when the window shrinks, rfc9438 only (RFC 9438 section 4.7)",
        },
        OptionDoc {
            name: "ecn",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "packets of rfc9438 carry ECT(0), so that queues may mark them instead of dropping",
        },
    ],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    match options.text("variant") {
        "picoquic" => Box::new(picoquic::Cubic::new(init, picoquic::Signal::Loss)),
        "dcubic" => Box::new(picoquic::Cubic::new(init, picoquic::Signal::Delay)),
        _ => Box::new(rfc9438::Cubic::new(
            init,
            options.flag("hystart"),
            options.flag("fast_convergence"),
            options.classic_ecn(),
        )),
    }
}
