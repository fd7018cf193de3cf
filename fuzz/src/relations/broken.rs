//! Controllers that break what relations promise, for tests that show what each relation finds.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use thalweg_control::Entry;
use thalweg_control::event::{Ack, Lost};
use thalweg_control::registry::ENTRIES;
use thalweg_control::{Context, Control, Controller, Init, Observer, Registry};
use thalweg_units::{Bytes, Instant};

/// The controllers of [`registry`](crate::registry::registry), and
/// - `punctual`, which looks at the time since the start of the trial,
/// - `shy`, which decides something else when it is observed,
/// - `leaky`, which remembers earlier trials.
pub(super) fn registry() -> &'static Registry {
    static BROKEN: OnceLock<Registry> = OnceLock::new();
    BROKEN.get_or_init(|| {
        let mut registry = thalweg_c4_history::registry();
        for (name, build) in [
            ("punctual", punctual as Build),
            ("shy", shy as Build),
            ("leaky", leaky as Build),
        ] {
            let entry = Entry {
                name,
                options: &[],
                build,
                ..ENTRIES[0]
            };
            registry.add(entry).expect("a free name");
        }
        registry
    })
}

type Build = fn(&thalweg_control::Options, &Init) -> Box<dyn Controller>;

/// A window of so many packets, which is larger in one of the broken ways.
struct Broken {
    mtu: Bytes,
    packets: u64,
    way: Way,
    seen: Cell<u64>,
}

#[derive(PartialEq)]
enum Way {
    Punctual,
    Shy,
    Leaky,
}

fn broken(way: Way, packets: u64, init: &Init) -> Box<dyn Controller> {
    Box::new(Broken {
        mtu: init.mtu,
        packets,
        way,
        seen: Cell::new(0),
    })
}

fn punctual(_: &thalweg_control::Options, init: &Init) -> Box<dyn Controller> {
    broken(Way::Punctual, 10, init)
}

fn shy(_: &thalweg_control::Options, init: &Init) -> Box<dyn Controller> {
    broken(Way::Shy, 10, init)
}

fn leaky(_: &thalweg_control::Options, init: &Init) -> Box<dyn Controller> {
    static BUILT: AtomicU64 = AtomicU64::new(0);
    broken(
        Way::Leaky,
        10 + BUILT.fetch_add(1, Ordering::Relaxed) % 7,
        init,
    )
}

impl Controller for Broken {
    fn on_ack(&mut self, _event: &Ack, cx: &mut Context<'_>) {
        if self.way == Way::Punctual {
            // As an estimator whose first sample began when the trial did.
            self.packets = 10 + (cx.now - Instant::START).as_millis().min(1000) / 100;
        }
    }

    fn on_lost(&mut self, _event: &Lost, _cx: &mut Context<'_>) {}

    fn control(&self) -> Control {
        Control {
            window: self.mtu * (self.packets + self.seen.get()),
            pacing: None,
            quantum: self.mtu * 10,
            startup_done: false,
        }
    }

    fn observe(&self, _out: &mut dyn Observer) {
        if self.way == Way::Shy {
            self.seen.set((self.seen.get() + 1) % 5);
        }
    }
}

/// A download over a path without randomness, with more keys for each.
pub(super) fn download(controller: &str, path: &str, flow: &str) -> String {
    format!(
        "title = \"t\"\n[noise]\nstart = \"0 s\"\nwakeup = \"0 s\"\n[[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\n\
         download = \"200 kB\"\n{flow}\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\n{path}\n"
    )
}

/// Two links and two flows that cross both.
pub(super) fn two_hops(first: &str, second: &str) -> String {
    let flow = |name: &str, controller: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\ndownload = \"200 kB\"\nroute = [\"l0\", \"l1\"]\n"
        )
    };
    format!(
        "title = \"t\"\n{}{}[[link]]\nname = \"l0\"\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"40 packets\"\n{first}\n\
         [[link]]\nname = \"l1\"\nrate = \"8 Mbps\"\nrtt = \"30 ms\"\nbuffer = \"40 packets\"\n{second}\n",
        flow("f0", "reno"),
        flow("f1", "cubic"),
    )
}
