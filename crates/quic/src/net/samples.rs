//! The time series of one connection, for traces.

use thalweg_control::Observer;
use thalweg_transport::{PacketEvent, StackFlow};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Least time between two samples: a connection at a gigabit per second has 80 000 packets in a second.
const SPACING: Duration = Duration::from_millis(1);
/// Samples beyond this are not kept: 1000 s of them.
const MOST: usize = 1_000_000;
/// Packet events beyond this are not kept: 40 MB of them, two for most packets.
const MOST_PACKETS: usize = 1_000_000;

/// One sample of a sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Time since the connection was begun.
    pub time: Instant,
    /// Congestion window.
    pub window: Bytes,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT, if there is one.
    pub smoothed_rtt: Option<Duration>,
    /// Latest RTT sample, if there is one.
    pub latest_rtt: Option<Duration>,
    /// Pacing rate that the controller asks for, if it does.
    pub pacing: Option<Rate>,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Bytes acknowledged so far.
    pub delivered: Bytes,
    /// State of the controller.
    pub state: &'static str,
}

/// The samples of a sender, at most one for each millisecond, the variables of its controller, and its packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// In the order of time.
    pub samples: Vec<Sample>,
    /// Values that differ from the last one: time, name, value.
    pub variables: Vec<(Instant, &'static str, f64)>,
    /// What became of packets.
    pub packets: Vec<PacketEvent>,
    last: Vec<(&'static str, f64)>,
}

struct Snapshot<'a> {
    time: Instant,
    state: &'static str,
    series: &'a mut Samples,
}

impl Observer for Snapshot<'_> {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        let last = &mut self.series.last;
        match last.iter_mut().find(|(known, _)| *known == name) {
            Some((_, before)) if *before == value => return,
            Some((_, before)) => *before = value,
            None => last.push((name, value)),
        }
        self.series.variables.push((self.time, name, value));
    }
}

impl Samples {
    /// The series of a sender, from now on.
    pub(super) fn begin(flow: &mut StackFlow) -> Samples {
        flow.packet_log().start();
        Samples::default()
    }

    /// Takes what became of packets, and samples the sender, unless it was sampled just now.
    pub(super) fn take(&mut self, time: Instant, flow: &mut StackFlow) {
        let room = MOST_PACKETS - self.packets.len();
        let events = flow.packet_log().take().enumerate();
        let kept = events.filter(|(number, _)| *number < room);
        self.packets.extend(kept.map(|(_, event)| event));
        let recent = self
            .samples
            .last()
            .is_some_and(|last| time - last.time < SPACING);
        if recent || self.samples.len() >= MOST {
            return;
        }
        let control = flow.control();
        let mut snapshot = Snapshot {
            time,
            state: "",
            series: self,
        };
        flow.observe(&mut snapshot);
        let state = snapshot.state;
        let path = flow.path();
        let rtt = |rtt| path.has_rtt().then_some(rtt);
        self.samples.push(Sample {
            time,
            window: control.window,
            in_flight: path.bytes_in_flight,
            smoothed_rtt: rtt(path.smoothed_rtt),
            latest_rtt: rtt(path.latest_rtt),
            pacing: control.pacing,
            delivery_rate: path.delivery_rate,
            delivered: path.delivered,
            state,
        });
    }
}
