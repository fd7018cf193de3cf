//! Counters of an endpoint.

use crate::EventRtt;
use thalweg_units::Duration;

/// Counters of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Numbered packets sent.
    pub packets_sent: u64,
    /// Bytes of numbered packets sent (UDP payload).
    pub bytes_sent: u64,
    /// Packets declared lost, including spurious losses.
    pub packets_lost: u64,
    /// Losses that proved spurious.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Stream bytes received for the first time.
    pub stream_bytes_received: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Duration,
    /// The smallest; the smallest of the path may be refreshed (RFC 9002 section 5.2).
    pub rtt_min: Duration,
    /// The largest.
    pub rtt_max: Duration,
    /// Events up to the latest sample.
    pub(crate) event_rtt: EventRtt,
    /// The latest sample, and how many packets had been sent when it was taken.
    pub(crate) latest_rtt: Duration,
    pub(crate) sent_at_latest_rtt: u64,
}

impl Counters {
    /// Counts an RTT sample.
    pub fn count_rtt(&mut self, sample: Duration) {
        self.event_rtt = self.event_rtt();
        (self.latest_rtt, self.sent_at_latest_rtt) = (sample, self.packets_sent);
        self.rtt_min = match self.rtt_samples {
            0 => sample,
            _ => self.rtt_min.min(sample),
        };
        self.rtt_samples += 1;
        self.rtt_sum += sample;
        self.rtt_max = self.rtt_max.max(sample);
    }

    /// RTT by events up to now.
    pub fn event_rtt(&self) -> EventRtt {
        let mut events = self.event_rtt;
        if self.rtt_samples > 0 {
            let sent_since = self.packets_sent - self.sent_at_latest_rtt;
            events.add(self.latest_rtt, 1 + sent_since);
        }
        events
    }
}
