//! How faithful a run was: what each link did, how late packets were released, and what the host lost.

use crate::emulator::histogram::Histogram;
use crate::emulator::{DOWN, Emulator, UP};
use serde::Serialize;
use thalweg_units::Duration;

/// Default bound on the lateness of packets and connection starts: the finest jitter of scenarios (the steps of
/// the Wi-Fi model), and a tenth of the shortest RTT at which the emulator was measured.
pub(crate) const BOUND: Duration = Duration::from_millis(1);

/// What one link did in real time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LinkReport {
    /// "down" (towards the clients) or "up".
    pub(crate) name: &'static str,
    /// Packets offered to the link.
    pub(crate) offered_packets: u64,
    pub(crate) offered_bytes: u64,
    /// Packets that left it.
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    /// Packets that the model dropped in its queue.
    pub(crate) dropped_packets: u64,
    /// Packets that the model lost after transmission.
    pub(crate) lost_packets: u64,
    pub(crate) marked_packets: u64,
    /// Packets that the host dropped on the way into the link or out of it.
    pub(crate) host_dropped_packets: u64,
    pub(crate) utilisation: f64,
    pub(crate) mean_queue_delay_s: f64,
    pub(crate) max_queue_packets: u64,
    pub(crate) drawn_jitter_s: f64,
    pub(crate) experienced_jitter_s: f64,
    /// Time from the arrival of a packet to its release.
    pub(crate) lateness_p50_s: f64,
    pub(crate) lateness_p99_s: f64,
    pub(crate) lateness_p999_s: f64,
    pub(crate) lateness_max_s: f64,
    /// Packets released later than the bound.
    pub(crate) missed_deadlines: u64,
}

/// The report of a run in real time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Version of Thalweg.
    version: &'static str,
    pub(crate) duration_s: f64,
    /// "SCHED_FIFO" or "SCHED_OTHER".
    scheduler: &'static str,
    /// Why real-time scheduling was refused, if it was asked for.
    realtime_refused: Option<String>,
    /// Bound on the p99.9 of the lateness of packets and of connection starts.
    bound_s: f64,
    #[serde(skip)]
    bound: Duration,
    pub(crate) lateness_p50_s: f64,
    pub(crate) lateness_p99_s: f64,
    pub(crate) lateness_p999_s: f64,
    pub(crate) lateness_max_s: f64,
    missed_deadlines: u64,
    host_dropped_packets: u64,
    /// Time for which the emulator was runnable without a core.
    waited_for_core_s: Option<f64>,
    /// Connections that started later than the bound, and the largest lateness.
    late_starts: u64,
    start_lateness_max_s: f64,
    /// What a trace lacks that became too long.
    pub(crate) trace_cut: Option<String>,
    /// Why the run is unfaithful to the scenario; empty if it is faithful.
    unfaithful: Vec<String>,
    pub(crate) links: Vec<LinkReport>,
}

/// How the emulator was scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scheduling {
    pub(crate) realtime: bool,
    pub(crate) refused: Option<String>,
    /// Time without a core before the run began.
    pub(crate) waited: Option<Duration>,
}

impl Report {
    /// The report of a finished run. `host_dropped` are the packets that devices dropped, down and up.
    pub(crate) fn of(
        emulator: &Emulator,
        bound: Duration,
        scheduling: &Scheduling,
        host_dropped: [u64; 2],
    ) -> Report {
        let span = emulator.clock().now().as_secs_f64();
        let links: Vec<LinkReport> = [DOWN, UP]
            .map(|index| link_report(emulator, index, span, host_dropped[index]))
            .into();
        let mut all = Histogram::new();
        for direction in &emulator.directions {
            all.merge(&direction.lateness);
        }
        let host_dropped_packets = links.iter().map(|link| link.host_dropped_packets).sum();
        let mut unfaithful = Vec::new();
        let p999 = all.quantile(999);
        if p999 > bound {
            unfaithful.push(format!(
                "1 packet in 1000 was released at least {} us late; the bound is {bound}",
                p999.as_micros()
            ));
        }
        if host_dropped_packets > 0 {
            unfaithful.push(format!(
                "the host, not the model, dropped {host_dropped_packets} packets"
            ));
        }
        let waited = crate::sys::scheduler::waited_for_core()
            .zip(scheduling.waited)
            .map(|(now, before)| (now - before).as_secs_f64());
        Report {
            version: env!("CARGO_PKG_VERSION"),
            duration_s: span,
            scheduler: if scheduling.realtime {
                "SCHED_FIFO"
            } else {
                "SCHED_OTHER"
            },
            realtime_refused: scheduling.refused.clone(),
            bound_s: bound.as_secs_f64(),
            bound,
            lateness_p50_s: all.quantile(500).as_secs_f64(),
            lateness_p99_s: all.quantile(990).as_secs_f64(),
            lateness_p999_s: p999.as_secs_f64(),
            lateness_max_s: all.max().as_secs_f64(),
            missed_deadlines: links.iter().map(|link| link.missed_deadlines).sum(),
            host_dropped_packets,
            waited_for_core_s: waited,
            late_starts: 0,
            start_lateness_max_s: 0.0,
            trace_cut: None,
            unfaithful,
            links,
        }
    }

    /// Adds the lateness of connection starts.
    pub(crate) fn note_starts(&mut self, lateness: impl Iterator<Item = Duration>) {
        let bound = self.bound;
        let mut all = Histogram::new();
        for late in lateness {
            all.add(late);
            self.late_starts += u64::from(late > bound);
        }
        self.start_lateness_max_s = all.max().as_secs_f64();
        let p999 = all.quantile(999);
        if p999 > bound {
            self.unfaithful.push(format!(
                "1 connection in 1000 started at least {} us late; the bound is {bound}",
                p999.as_micros()
            ));
        }
    }
}

fn link_report(emulator: &Emulator, index: usize, span: f64, host_dropped: u64) -> LinkReport {
    let direction = &emulator.directions[index];
    let stats = emulator.link_stats(index);
    let lateness = |per_mille| direction.lateness.quantile(per_mille).as_secs_f64();
    LinkReport {
        name: ["down", "up"][index],
        offered_packets: stats.offered.packets,
        offered_bytes: stats.offered.bytes.as_u64(),
        delivered_packets: stats.delivered.packets,
        delivered_bytes: stats.delivered.bytes.as_u64(),
        dropped_packets: stats.dropped.packets,
        lost_packets: stats.lost.packets,
        marked_packets: stats.marked.packets,
        host_dropped_packets: host_dropped + direction.refused,
        utilisation: stats.busy.as_secs_f64() / span.max(f64::MIN_POSITIVE),
        mean_queue_delay_s: stats.mean_queue_wait().as_secs_f64(),
        max_queue_packets: stats.max_queue.packets,
        drawn_jitter_s: stats.mean_jitter_drawn().as_secs_f64(),
        experienced_jitter_s: stats.mean_jitter_experienced().as_secs_f64(),
        lateness_p50_s: lateness(500),
        lateness_p99_s: lateness(990),
        lateness_p999_s: lateness(999),
        lateness_max_s: direction.lateness.max().as_secs_f64(),
        missed_deadlines: direction.missed,
    }
}
