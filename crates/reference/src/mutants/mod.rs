//! Controllers of ours with a known congestion bug of a public stack: what the suite `regressions` must find.
//!
//! A mutant is a controller of `thalweg-control` behind a [`Bug`], which changes what it hears or what it decides: the
//! controllers themselves have no switch for a bug. Each bug is named after the thread that reports it, and its file says
//! what the thread says. `lsquic-554-mended` is the opposite: our BBR has that bug, and this one has not.

mod bug;
mod flow_control_mended;
mod frozen_probe;
mod grows_unused;
mod idle_unheard;
mod millisecond_clock;
mod never_paced;
mod send_buffer;
mod shifted_recovery;
mod spurious_unheard;
#[cfg(test)]
mod tests;
mod unfilled_window;

use bug::{Bug, Mutant};
use thalweg_control::{Controller, Entry, Init, OptionDoc, OptionKind, Options, Purpose, Registry};

/// The mutants in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "mutant",
    purpose: Purpose::Test,
    title: "a controller of ours with a known bug of a public stack",
    source: "the threads that report the bugs; for the suite regressions",
    options: &[OptionDoc {
        name: "bug",
        kind: OptionKind::Choice(&BUGS),
        default: BUGS[0],
        meaning: "the thread that reports the bug",
    }],
    build,
};

type MakeBug = fn(&Init) -> Box<dyn Bug>;

/// Every bug: its thread, the controller that has it, and how it is made.
const MUTANTS: [(&str, &str, MakeBug); 10] = [
    ("noq-800", "bbr", |init| {
        Box::new(never_paced::NeverPaced::new(init))
    }),
    ("noq-819", "bbr", |_| {
        Box::new(spurious_unheard::SpuriousUnheard)
    }),
    ("lsquic-544", "bbr", |_| {
        Box::new(unfilled_window::UnfilledWindow)
    }),
    ("lsquic-554-mended", "bbr", |_| {
        Box::new(flow_control_mended::FlowControlMended)
    }),
    ("picoquic-2118", "bbr", |_| {
        Box::new(frozen_probe::FrozenProbe::default())
    }),
    ("erlang-quic-57", "bbr", |init| {
        Box::new(millisecond_clock::MillisecondClock::new(init))
    }),
    ("nginx-217", "cubic", |_| Box::new(send_buffer::SendBuffer)),
    ("quiche-1598", "bbr", |_| {
        Box::new(idle_unheard::IdleUnheard)
    }),
    ("quiche-2370", "cubic", |init| {
        Box::new(shifted_recovery::ShiftedRecovery::new(init))
    }),
    ("quinn-497", "cubic", |_| {
        Box::new(grows_unused::GrowsUnused)
    }),
];

/// The threads.
const BUGS: [&str; MUTANTS.len()] = {
    let mut threads = [""; MUTANTS.len()];
    let mut at = 0;
    while at < threads.len() {
        threads[at] = MUTANTS[at].0;
        at += 1;
    }
    threads
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let thread = options.text("bug");
    let known = MUTANTS.iter().find(|(name, ..)| *name == thread);
    let (_, controller, bug) = known.expect("the registry has checked the option");
    let spec = (Registry::standard().read(controller)).expect("a controller of thalweg-control");
    Box::new(Mutant::new(spec.build(init), bug(init)))
}
