//! NewReno.
//!
//! [`rfc9002`] is the controller of RFC 9002 section 7 and the default. The crate `thalweg-reference` adds picoquic's NewReno.

mod rfc9002;

use crate::options::IN_REFERENCE;
use crate::{Controller, Entry, Init, OptionDoc, OptionKind, Options, Purpose};

/// NewReno in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "reno",
    purpose: Purpose::Internet,
    title: "NewReno for QUIC",
    source: "RFC 9002 section 7",
    options: &[
        OptionDoc {
            name: "variant",
            kind: OptionKind::Variant {
                here: &["rfc9002"],
                elsewhere: &["picoquic"],
                whence: IN_REFERENCE,
            },
            default: "rfc9002",
            meaning: "rfc9002, or picoquic's NewReno for comparison with its results",
        },
        crate::start::option(
            "classic",
            "the initial slow start of rfc9002; picoquic always has its own delay test (RFC 9002 section 7.3.1)",
        ),
        OptionDoc {
            name: "increase",
            kind: OptionKind::Number(0.01, 100.0),
            default: "1",
            meaning: "packets of growth for each window acknowledged, rfc9002 only (RFC 9002 section 7.3.3)",
        },
        OptionDoc {
            name: "decrease",
            kind: OptionKind::Number(0.1, 0.99),
            default: "0.5",
            meaning: "share of the window that a reduction keeps, rfc9002 only (RFC 9002 section 7.3.2)",
        },
        OptionDoc {
            name: "start_decrease",
            kind: OptionKind::NumberOr("decrease", 0.1, 0.99),
            default: "decrease",
            meaning: "share that the reduction keeps that ends a slow start, rfc9002 only",
        },
        OptionDoc {
            name: "ecn",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "packets of rfc9002 carry ECT(0), so that queues may mark them instead of dropping",
        },
        OptionDoc {
            name: "abe",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "a CE mark keeps 0.8 of the window, rfc9002 only (RFC 8511; off because that is experimental)",
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
const BETA_ECN: f64 = 0.8;

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let settings = rfc9002::Settings {
        increase: options.number("increase"),
        decrease: options.number("decrease"),
        start_decrease: options.number_or("start_decrease"),
        decrease_ecn: options.flag("abe").then_some(BETA_ECN),
        ecn: options.classic_ecn(),
        rate_limited: options.flag("rate_limited_increase"),
    };
    Box::new(rfc9002::Reno::new(init, settings, options.text("start")))
}
