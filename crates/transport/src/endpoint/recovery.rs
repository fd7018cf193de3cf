//! Loss detection (RFC 9002 section 6.1) and persistent congestion (section 7.6).

use crate::rtt;
use crate::sent_packets::{Fate, SentPackets};
use thalweg_control::PathState;
use thalweg_units::{Duration, Instant};

/// Packets acknowledged after a packet that make it lost (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

/// What a scan found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// When the oldest suspect becomes lost by time.
    pub(crate) loss_time: Option<Instant>,
    /// Separate runs of lost packet numbers.
    pub(crate) ranges: u32,
    /// Packet number of the loss that completes a period of persistent congestion.
    pub(crate) persistent_at: Option<u64>,
}

/// Finds the packets that are lost now and puts their numbers into `lost`, oldest first.
///
/// The scan stops at the first packet that is not lost: on one path, send times grow with packet
/// numbers, so that no later packet can be lost either.
pub(crate) fn scan(
    now: Instant,
    sent: &SentPackets,
    path: &PathState,
    first_rtt_at: Instant,
    max_ack_delay: Duration,
    lost: &mut Vec<u64>,
) -> Scan {
    let mut found = Scan::default();
    let Some(largest) = path.largest_acked else {
        return found;
    };
    let delay = rtt::loss_delay(path);
    let mut run_end = None;
    let mut period_start: Option<Instant> = None;
    for number in sent.lowest_outstanding()..largest {
        match sent.fate(number) {
            Fate::Outstanding => {}
            Fate::Lost => continue,
            Fate::Acknowledged => {
                period_start = None; // section 7.6.2: nothing between the two losses was acknowledged
                continue;
            }
        }
        let Some(packet) = sent.get(number) else {
            break;
        };
        let deadline = packet.state.sent + delay;
        if largest - number < PACKET_THRESHOLD && now < deadline {
            found.loss_time = Some(deadline);
            break;
        }
        lost.push(number);
        if run_end != Some(number) {
            found.ranges += 1;
        }
        run_end = Some(number + 1);
        // Section 7.6.2: only packets sent after the first RTT sample count.
        if packet.state.sent >= first_rtt_at {
            let start = *period_start.get_or_insert(packet.state.sent);
            if packet.state.sent - start > rtt::persistent_congestion(path, max_ack_delay) {
                found.persistent_at = Some(number);
            }
        }
    }
    found
}
