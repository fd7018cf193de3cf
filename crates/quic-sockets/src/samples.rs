//! The time series of one connection, for traces, of bounded size.

use thalweg_transport::{Sampled, SenderRecorder, StackFlow};
use thalweg_units::{Duration, Instant};

/// Least time between two samples: a connection at a gigabit per second has 80 000 packets in a second.
const SPACING: Duration = Duration::from_millis(1);
/// Most samples to keep: 1000 s of them.
const MOST: usize = 1_000_000;
/// Most packet events to keep: 40 MB of them, two for most packets.
const MOST_PACKETS: usize = 1_000_000;

/// The series of a sender, from now on.
pub(super) fn begin(flow: &mut StackFlow) -> SenderRecorder {
    flow.packet_log().start();
    SenderRecorder::default()
}

/// Records packet events, and samples the sender unless it was sampled just before.
pub(super) fn take(recorder: &mut SenderRecorder, time: Instant, flow: &mut StackFlow) {
    let trace = &mut recorder.trace;
    let room = MOST_PACKETS - trace.packets.len();
    let events = flow.packet_log().take().enumerate();
    let kept = events.filter(|(number, _)| *number < room);
    trace.packets.extend(kept.map(|(_, event)| (0, event)));
    let last = trace.samples.last();
    let recent = last.is_some_and(|last| time - last.time < SPACING);
    if recent || trace.samples.len() >= MOST {
        return;
    }
    let control = flow.control();
    let sender = Sampled {
        control: &control,
        pacing: control.pacing,
        path: flow.path(),
        in_flight: Some(flow.path().bytes_in_flight),
        limited_by: None,
    };
    recorder.sample(time, 0, "sample", &sender, |out| flow.observe(out));
}
