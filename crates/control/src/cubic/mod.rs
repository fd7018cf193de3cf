//! CUBIC.
//!
//! [`rfc9438`] is the controller of RFC 9438 and the default; its window function is in [`rfc9438::curve`], which also has
//! the function of Linux. The crate `thalweg-reference` adds picoquic's Cubic and dCubic.

mod rfc9438;
#[cfg(test)]
mod tests;

use crate::options::IN_REFERENCE;
use crate::{Controller, Entry, Init, OptionDoc, OptionKind, Options, Purpose};

/// CUBIC in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "cubic",
    purpose: Purpose::Internet,
    title: "CUBIC",
    source: "RFC 9438, with HyStart++ of RFC 9406",
    options: &[
        OptionDoc {
            name: "variant",
            kind: OptionKind::Variant {
                here: &["rfc9438", "cuback", "linux"],
                elsewhere: &["picoquic", "dcubic"],
                whence: IN_REFERENCE,
            },
            default: "rfc9438",
            meaning: "rfc9438; cuback, whose congestion avoidance follows acknowledgements instead of time \
                      (draft-kazuho-ccwg-cuback-00); linux, where the kernel deviates from the RFC; or picoquic's Cubic or \
                      dCubic for comparison with its results",
        },
        crate::start::option(
            "hystart",
            "the initial slow start of rfc9438: RFC 9438 section 4.10 recommends HyStart++ (RFC 9406)",
        ),
        OptionDoc {
            name: "c",
            kind: OptionKind::Number(0.01, 10.0),
            default: "0.4",
            meaning: "C, growth in segments per cubic second, rfc9438 only (RFC 9438 section 5)",
        },
        OptionDoc {
            name: "beta",
            kind: OptionKind::Number(0.1, 0.99),
            default: "0.7",
            meaning: "share of the window that a reduction keeps, rfc9438 only (RFC 9438 section 4.6)",
        },
        OptionDoc {
            name: "start_beta",
            kind: OptionKind::NumberOr("beta", 0.1, 0.99),
            default: "beta",
            meaning: "share that the reduction keeps that ends a slow start, rfc9438 only",
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
        OptionDoc {
            name: "abe",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "a CE mark keeps 0.85 of the window, rfc9438 only (RFC 8511; off because that is experimental)",
        },
        OptionDoc {
            name: "rate_limited_increase",
            kind: OptionKind::Flag,
            default: "off",
            meaning: crate::rate_limited::MEANING,
        },
    ],
    build,
};

/// beta_ecn of RFC 8511 section 3.1.
const BETA_ECN: f64 = 0.85;

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let shape = rfc9438::Shape {
        c: options.number("c"),
        beta: options.number("beta"),
        linux: options.text("variant") == "linux",
    };
    let settings = rfc9438::Settings {
        shape,
        fast_convergence: options.flag("fast_convergence"),
        ecn: options.classic_ecn(),
        ack_clock: options.text("variant") == "cuback",
        start_beta: options.number_or("start_beta"),
        beta_ecn: options.flag("abe").then_some(BETA_ECN),
        rate_limited: options.flag("rate_limited_increase"),
    };
    Box::new(rfc9438::Cubic::new(init, settings, options.text("start")))
}
