//! What a library thinks, in the words of the simulator.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use thalweg_stack_sdk::abi::{self, UNKNOWN};
use thalweg_units::{Bytes, Duration, Rate, visible};

/// Most names of states that are kept; a library with more has `other` for the rest.
const MOST_NAMES: usize = 256;

/// Probes of one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Thought {
    pub(crate) window: Option<Bytes>,
    pub(crate) in_flight: Option<Bytes>,
    pub(crate) smoothed_rtt: Option<Duration>,
    /// The latest sample, or what stands for it.
    pub(crate) latest_rtt: Option<Duration>,
    pub(crate) pacing: Option<Rate>,
    pub(crate) packets_lost: Option<u64>,
    pub(crate) state: Option<&'static str>,
}

impl Thought {
    pub(crate) fn of(probes: &abi::Probes, state: Option<&'static str>) -> Thought {
        let known = |value: u64| (value != UNKNOWN).then_some(value);
        let smoothed_rtt = known(probes.smoothed_rtt_ns).map(Duration::from_nanos);
        Thought {
            window: known(probes.window).map(Bytes::new),
            in_flight: known(probes.in_flight).map(Bytes::new),
            smoothed_rtt,
            latest_rtt: known(probes.latest_rtt_ns)
                .map(Duration::from_nanos)
                .or(smoothed_rtt),
            pacing: known(probes.pacing_rate).map(Rate::from_bits_per_sec),
            packets_lost: known(probes.packets_lost),
            state,
        }
    }
}

/// The name of a state, which is never freed, since there are few.
pub(crate) fn named(state: &[u8]) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let text = String::from_utf8_lossy(&state[..state.len().min(64)]);
    let text = visible(&text);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = known.get(&*text) {
        return name;
    }
    if known.len() >= MOST_NAMES {
        return "other";
    }
    let name: &'static str = text.into_owned().leak();
    known.insert(name);
    name
}
