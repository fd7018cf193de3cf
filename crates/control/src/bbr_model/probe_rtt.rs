//! Progress of ProbeRTT (draft-ietf-ccwg-bbr-06 section 5.3.4): once the volume in flight is low enough, it stays so for
//! 200 ms and a round trip.

use super::parameters::PROBE_RTT_DURATION;
use super::{Bubble, Round, Sample};
use crate::event::Snapshot;
use thalweg_units::{Bytes, Instant};

/// One episode; by default, none so far.
#[derive(Clone, Debug, Default)]
pub struct ProbeRtt {
    /// BBR.probe_rtt_done_stamp, once the volume in flight is low enough.
    done_stamp: Option<Instant>,
    /// BBR.probe_rtt_round_done.
    round_done: bool,
    /// The gap that the episode leaves in the pipe.
    bubble: Bubble,
}

impl ProbeRtt {
    /// The episode begins.
    pub fn begun(now: Instant) -> Self {
        ProbeRtt {
            bubble: Bubble::opened(now),
            ..ProbeRtt::default()
        }
    }

    /// HandleProbeRTT() for an ACK: returns whether the episode is over. `low` is the volume in flight that it asks for.
    pub fn is_over(
        &mut self,
        sample: &Sample,
        low: Bytes,
        round: &mut Round,
        now: Instant,
    ) -> bool {
        self.bubble
            .extend(sample.total_delivered + sample.in_flight);
        if self.done_stamp.is_some() {
            self.round_done |= round.start;
        } else if sample.in_flight <= low {
            self.done_stamp = Some(now + PROBE_RTT_DURATION);
            round.begin(sample.total_delivered);
        }
        self.round_done && self.has_lasted(now)
    }

    /// CheckProbeRTTDone(): whether the volume in flight was low for long enough, in rounds or not.
    pub fn has_lasted(&self, now: Instant) -> bool {
        self.done_stamp.is_some_and(|stamp| now > stamp)
    }

    /// Whether the packet saw the gap, so that its delivery rate says nothing about the path.
    pub fn has_limited(&self, packet: &Snapshot) -> bool {
        self.bubble.has_limited(packet)
    }
}
