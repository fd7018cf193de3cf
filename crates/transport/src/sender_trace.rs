//! The time series of senders of data, under any clock: samples, variables of the controller, and packet
//! events.

use crate::{LimitedBy, PacketEvent};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use thalweg_control::{Control, Observer, PathState};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One of a few recurring words.
type Word = &'static str;

/// A sample of one sender.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SenderRow {
    /// When.
    pub time: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// What happened: "received" (a packet arrived), "sent" or "timer".
    #[serde(deserialize_with = "word")]
    pub event: Word,
    /// Congestion window.
    pub window: Bytes,
    /// Bytes in flight, if they are known.
    pub in_flight: Option<Bytes>,
    /// Smoothed RTT, if there is one.
    pub smoothed_rtt: Option<Duration>,
    /// Latest RTT sample, if there is one.
    pub latest_rtt: Option<Duration>,
    /// Pacing rate, if there is one.
    pub pacing: Option<Rate>,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Bytes acknowledged so far.
    pub delivered: Bytes,
    /// State of the controller.
    #[serde(deserialize_with = "word")]
    pub state: Word,
    /// What limits the sender; empty if the stack does not tell it.
    #[serde(deserialize_with = "word")]
    pub limited: Word,
}

/// A new value of a variable of a controller.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct VariableRow {
    /// When.
    pub time: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// Its name.
    #[serde(deserialize_with = "word")]
    pub name: Word,
    /// Its value.
    #[serde(deserialize_with = "number")]
    pub value: f64,
}

/// The series of senders.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SenderTrace {
    /// Samples.
    pub samples: Vec<SenderRow>,
    /// Variables of controllers, where they change.
    pub variables: Vec<VariableRow>,
    /// Packet events: flow, event.
    pub packets: Vec<(usize, PacketEvent)>,
}

/// Records the series of senders.
#[derive(Clone, Debug, Default)]
pub struct SenderRecorder {
    /// By now.
    pub trace: SenderTrace,
    /// By flow.
    shown: Vec<Shown>,
}

/// The last variables of a flow's controller: names and values.
type Shown = Vec<(Word, f64)>;

/// Collects the variables of a controller that differ from the last time.
struct ChangedVariables<'a> {
    time: Instant,
    flow: usize,
    state: Word,
    /// Variables seen by now.
    seen: usize,
    shown: &'a mut Shown,
    variables: &'a mut Vec<VariableRow>,
}

impl Observer for ChangedVariables<'_> {
    fn state(&mut self, name: Word) {
        self.state = name;
    }
    fn variable(&mut self, name: Word, value: f64) {
        // A controller shows the same variables each time, but for the variables of some states.
        let here = self
            .shown
            .get(self.seen)
            .is_some_and(|shown| shown.0 == name);
        let position = if here {
            self.seen
        } else {
            let known = self.shown.iter().position(|shown| shown.0 == name);
            known.unwrap_or_else(|| {
                // No value is this one, so that the first is kept.
                self.shown.push((name, f64::from_bits(!value.to_bits())));
                self.shown.len() - 1
            })
        };
        self.seen = position + 1;
        let last = &mut self.shown[position].1;
        if last.to_bits() != value.to_bits() {
            *last = value;
            self.variables.push(VariableRow {
                time: self.time,
                flow: self.flow,
                name,
                value,
            });
        }
    }
}

/// Input of a sample.
pub struct Sampled<'a> {
    /// The decision of the controller.
    pub control: &'a Control,
    /// The pacing rate that is shown.
    pub pacing: Option<Rate>,
    /// The state of the path.
    pub path: &'a PathState,
    /// The bytes in flight, which not every stack tells.
    pub in_flight: Option<Bytes>,
    /// What limits it, which not every stack tells.
    pub limited_by: Option<LimitedBy>,
}

impl SenderRecorder {
    /// Samples a sender; `observe` yields the state and the variables of its controller.
    pub fn sample(
        &mut self,
        time: Instant,
        flow: usize,
        event: Word,
        sender: &Sampled<'_>,
        observe: impl FnOnce(&mut dyn Observer),
    ) {
        let state = self.observe(time, flow, observe);
        let path = sender.path;
        self.trace.samples.push(SenderRow {
            time,
            flow,
            event,
            window: sender.control.window,
            in_flight: sender.in_flight,
            smoothed_rtt: path.has_rtt().then_some(path.smoothed_rtt),
            latest_rtt: path.has_rtt().then_some(path.latest_rtt),
            pacing: sender.pacing,
            delivery_rate: path.delivery_rate,
            delivered: path.delivered,
            state,
            limited: sender.limited_by.map_or("", LimitedBy::name),
        });
    }

    /// Keeps the variables that a controller shows with another value than the last time. Returns its state.
    pub fn observe(
        &mut self,
        time: Instant,
        flow: usize,
        observe: impl FnOnce(&mut dyn Observer),
    ) -> Word {
        if self.shown.len() <= flow {
            self.shown.resize_with(flow + 1, Shown::new);
        }
        let mut changed = ChangedVariables {
            time,
            flow,
            state: "",
            seen: 0,
            shown: &mut self.shown[flow],
            variables: &mut self.trace.variables,
        };
        observe(&mut changed);
        changed.state
    }
}

impl SenderTrace {
    /// Sorts everything by time.
    pub fn sort(&mut self) {
        self.samples.sort_by_key(|row| row.time);
        self.variables.sort_by_key(|row| row.time);
        self.packets.sort_by_key(|(_, event)| event.time);
    }
}

/// A word from another process: never freed, since there are few.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let text = String::deserialize(deserializer)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = known.get(text.as_str()) {
        return Ok(word);
    }
    let word: Word = text.leak();
    known.insert(word);
    Ok(word)
}

/// JSON has no infinity, and `null` for NaN.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|value| value.unwrap_or(f64::NAN))
}
