//! Outcome of a link, under any clock.

use super::LinkOutcome;
use crate::scenario::Metric;
use serde::{Deserialize, Serialize};
use thalweg_path::wifi::MediumUse;
use thalweg_path::{Link, LinkConfig, Packet};
use thalweg_units::{Duration, Instant};

/// Whose the time of a medium was on which stations contend, in shares that add up to one with the shares of the other
/// direction: its airtime, and all here but `failed_attempts`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct MediumOutcome {
    /// The part of the station that sends on this link, with nobody else in the air. Frames with their acknowledgements.
    pub airtime: f64,
    /// The part of neighbours, with nobody else in the air.
    pub neighbours: f64,
    /// The part in which several stations are in the air: they collide, or do not hear each other.
    pub several: f64,
    /// The rest: spaces, backoff, and nothing to send.
    pub idle: f64,
    /// The attempts of this station that failed, of those that ended; absent if there are none.
    pub failed_attempts: Option<f64>,
}

impl MediumOutcome {
    /// As the station `side` sees it: the access point, or the client.
    pub(super) fn of(medium: &MediumUse, side: usize) -> Self {
        let all = &medium.occupancy;
        let whole = all.ends[0] + all.ends[1] + all.neighbours + all.several + all.idle;
        let share = |part: Duration| match whole.as_nanos() {
            0 => 0.0,
            nanos => part.as_nanos() as f64 / nanos as f64,
        };
        let attempts = medium.attempts[side];
        MediumOutcome {
            airtime: share(all.ends[side]),
            neighbours: share(all.neighbours),
            several: share(all.several),
            idle: share(all.idle),
            failed_attempts: (attempts > 0).then(|| medium.failed[side] as f64 / attempts as f64),
        }
    }
}

impl LinkOutcome {
    /// A number of the link; none for one that its trial does not define, or that is not of a link.
    pub(super) fn value(&self, metric: Metric) -> Option<f64> {
        let offered = self.delivered_packets + self.dropped_packets + self.lost_packets;
        let of_offered = |packets: u64| (offered > 0).then(|| packets as f64 / offered as f64);
        let medium = self.medium.as_ref();
        match metric {
            Metric::LinkUtilisation => Some(self.utilisation),
            Metric::LinkMeanQueueDelay => Some(self.mean_queue_delay.as_secs_f64()),
            Metric::LinkDropped => of_offered(self.dropped_packets),
            Metric::LinkLost => of_offered(self.lost_packets),
            Metric::LinkPoliced => of_offered(self.policed_packets),
            Metric::LinkAirtime => medium.map(|all| all.airtime),
            Metric::LinkAirtimeOfNeighbours => medium.map(|all| all.neighbours),
            Metric::LinkAirtimeOfSeveral => medium.map(|all| all.several),
            Metric::LinkAirtimeIdle => medium.map(|all| all.idle),
            Metric::LinkFailedAttempts => medium.and_then(|all| all.failed_attempts),
            _ => None,
        }
    }

    /// The outcome of a link when the trial ended.
    pub fn of<P: Packet>(
        name: String,
        link: &Link<P>,
        config: &LinkConfig,
        end: Duration,
    ) -> LinkOutcome {
        let stats = link.stats();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        LinkOutcome {
            name,
            delivered_packets: stats.delivered.packets,
            delivered_bytes: stats.delivered.bytes,
            dropped_packets: stats.dropped.packets,
            policed_packets: stats.policed.packets,
            lost_packets: stats.lost.packets,
            marked_packets: stats.marked.packets,
            utilisation: link.utilisation(0, Instant::START, Instant::START + end),
            mean_queue_delay: stats.mean_queue_wait(),
            max_queue_packets: stats.max_queue.packets,
            requested_jitter: config.jitter.requested_mean(),
            drawn_jitter: stats.mean_jitter_drawn(),
            experienced_jitter: stats.mean_jitter_experienced(),
            requested_loss: config.loss.mean_rate().as_f64(),
            // Random loss happens after transmission.
            realised_loss: share(stats.lost.packets as f64, stats.transmitted.packets as f64),
            medium: None,
        }
    }
}
