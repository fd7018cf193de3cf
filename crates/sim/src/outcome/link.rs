//! Outcome of a link, under any clock.

use super::LinkOutcome;
use thalweg_path::{LinkConfig, LinkStats};
use thalweg_units::Duration;

impl LinkOutcome {
    /// Of a link with these counts when the trial ended.
    pub fn of(name: String, stats: &LinkStats, config: &LinkConfig, end: Duration) -> LinkOutcome {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        LinkOutcome {
            name,
            delivered_packets: stats.delivered.packets,
            delivered_bytes: stats.delivered.bytes,
            dropped_packets: stats.dropped.packets,
            lost_packets: stats.lost.packets,
            marked_packets: stats.marked.packets,
            utilisation: share(stats.busy.as_secs_f64(), end.as_secs_f64()).min(1.0),
            mean_queue_delay: stats.mean_queue_wait(),
            max_queue_packets: stats.max_queue.packets,
            requested_jitter: config.jitter.requested_mean(),
            drawn_jitter: stats.mean_jitter_drawn(),
            experienced_jitter: stats.mean_jitter_experienced(),
            requested_loss: config.loss.mean_rate().as_f64(),
            // Random loss happens after transmission.
            realised_loss: share(stats.lost.packets as f64, stats.transmitted.packets as f64),
        }
    }
}
