//! Outcome of a link, under any clock.

use super::LinkOutcome;
use thalweg_path::{Link, LinkConfig, Packet};
use thalweg_units::{Duration, Instant};

impl LinkOutcome {
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
        }
    }
}
