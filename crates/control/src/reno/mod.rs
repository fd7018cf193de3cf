//! NewReno.
//!
//! [`rfc9002`] is the controller of RFC 9002 section 7 and the default. [`picoquic`] reproduces what
//! picoquic calls NewReno, to be compared with results that were measured with it, and with nothing else.

mod picoquic;
mod rfc9002;

use crate::{Controller, Entry, Init, OptionDoc, OptionKind, Options};

/// NewReno in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "reno",
    title: "NewReno for QUIC",
    source: "RFC 9002 section 7",
    options: &[
        OptionDoc {
            name: "variant",
            kind: OptionKind::Choice(&["rfc9002", "picoquic"]),
            default: "rfc9002",
            meaning: "rfc9002, or picoquic's NewReno for comparison with its results",
        },
        OptionDoc {
            name: "hystart",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "HyStart++ (RFC 9406) in the initial slow start of rfc9002; picoquic always has its \
                      own delay test",
        },
        OptionDoc {
            name: "ecn",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "packets of rfc9002 carry ECT(0), so that queues may mark them instead of dropping",
        },
    ],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    match options.text("variant") {
        "picoquic" => Box::new(picoquic::Reno::new(init)),
        _ => Box::new(rfc9002::Reno::new(
            init,
            options.flag("hystart"),
            options.classic_ecn(),
        )),
    }
}
