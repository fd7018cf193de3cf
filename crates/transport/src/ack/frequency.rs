//! The acknowledgement frequency that a data sender requests (draft-ietf-quic-ack-frequency): few enough
//! acknowledgements to be cheap, and enough for the controller.
//!
//! By the rules of the RFCs, a request is for sixteen acknowledgements per window and a delay of a
//! sixteenth of the RTT, but at least `min_ack_delay`: HyStart++ needs eight RTT samples per round (RFC 9406 section
//! 4.2), the window may have halved when the request takes effect, and the draft requires a delay below the
//! RTT. The rules of picoquic (`picoquic_compute_ack_gap_and_delay` of its `frames.c`) aim at four per window, and at
//! fewer once the RTT has grown to 1.5 times its minimum.

use crate::Rules;
use thalweg_control::{Control, PathState};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Above this rate, four packets per acknowledgement even if the window is small.
const FAST: Rate = Rate::from_bytes_per_sec(2_000_000);
/// On long fast paths, ten.
const LONG: Duration = Duration::from_millis(100);
/// Shorter paths would otherwise get more than four acknowledgements per window.
const SHORT: Duration = Duration::from_millis(4);
const SHORTEST: Duration = Duration::from_millis(1);
/// Acknowledgements per window and RTT, by the rules of the RFCs.
const EACH_ROUND: u64 = 16;

/// What picoquic takes an ACK to need on a link, with headers of IPv6 and Ethernet.
const ACK_SIZE: Bytes = Bytes::new(12 + 40 + 8 + 55);
/// It measures no rate over less than this.
const LEAST_EPOCH: Duration = Duration::from_millis(1);

#[derive(Debug, Default)]
pub(crate) struct AckFrequency {
    every: u32,
    delay: Duration,
    received: ReceiveRate,
    /// The receive rate at the ACK whose decision is missing: the rest of its packet counts after the request.
    held: Option<Rate>,
}

/// The highest rate at which a sender of data itself received, measured over epochs of more than a smoothed RTT
/// (`receive_rate_max` of picoquic's `packet.c`): what the way of the acknowledgements carries.
#[derive(Debug, Default)]
struct ReceiveRate {
    /// When the epoch began, and the bytes since.
    epoch: Option<Instant>,
    bytes: Bytes,
    most: Rate,
}

impl ReceiveRate {
    fn on_received(&mut self, now: Instant, size: u32, smoothed_rtt: Duration) {
        let Some(began) = self.epoch else {
            self.epoch = Some(now); // the first packet does not count
            return;
        };
        self.bytes += Bytes::new(u64::from(size));
        let span = now - began;
        if span > smoothed_rtt && span > LEAST_EPOCH {
            self.most = self.most.max(Rate::over(self.bytes, span));
            (self.epoch, self.bytes) = (Some(now), Bytes::ZERO);
        }
    }
}

impl AckFrequency {
    /// The last request.
    pub(crate) fn current(&self) -> (u32, Duration) {
        (self.every, self.delay)
    }

    /// A packet of the application space arrives, by the rules of picoquic.
    pub(crate) fn on_received(&mut self, now: Instant, size: u32, path: &PathState) {
        self.received.on_received(now, size, path.smoothed_rtt);
    }

    /// The request waits for a decision of the controller.
    pub(crate) fn hold(&mut self) {
        self.held.get_or_insert(self.received.most);
    }

    /// Whether a request waits.
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// A new request, if it differs by more than an eighth from the last one. By
    /// the rules of picoquic, the number of packets never falls.
    pub(crate) fn update(
        &mut self,
        rules: Rules,
        path: &PathState,
        control: &Control,
        min_delay: Duration,
        max_delay: Duration,
    ) -> Option<(u32, Duration)> {
        let receive_rate = self.held.take().unwrap_or(self.received.most);
        let (every, delay) = match rules {
            Rules::Rfc => sixteen_a_round(path, control, min_delay, max_delay),
            Rules::Picoquic => {
                let limits = (min_delay, max_delay);
                let (every, delay) = wanted(path, control, limits, receive_rate);
                (every.max(self.every), delay)
            }
        };
        let close = delay * 8 >= self.delay * 7 && delay * 8 <= self.delay * 9;
        let same = match rules {
            Rules::Rfc => every * 8 >= self.every * 7 && every * 8 <= self.every * 9,
            Rules::Picoquic => every == self.every,
        };
        if same && close {
            return None;
        }
        (self.every, self.delay) = (every, delay);
        Some(self.current())
    }
}

fn sixteen_a_round(
    path: &PathState,
    control: &Control,
    min_delay: Duration,
    max_delay: Duration,
) -> (u32, Duration) {
    let packets = control.window.as_u64() / path.mtu.as_u64();
    let every = (packets / EACH_ROUND).clamp(2, u64::from(u32::MAX / 16));
    let delay = (path.smoothed_rtt / EACH_ROUND).clamp(min_delay, max_delay);
    (every as u32, delay)
}

/// The request of picoquic.
fn wanted(
    path: &PathState,
    control: &Control,
    (min_delay, max_delay): (Duration, Duration),
    receive_rate: Rate,
) -> (u32, Duration) {
    let starting = !control.startup_done;
    let mut packets = (control.window.as_u64() / path.mtu.as_u64()).max(2);
    if starting {
        packets = (packets / 2).max(1);
    }
    if path.min_rtt < SHORT {
        let factor = if path.min_rtt <= SHORTEST {
            4
        } else {
            SHORT.as_nanos() / path.min_rtt.as_nanos()
        };
        packets *= factor;
    }
    let mut every = packets.div_ceil(4);
    let least = match path.delivery_rate > FAST {
        true if path.min_rtt > LONG => 10,
        true => 4,
        false => 2,
    };
    every = every.max(least);
    if every > 32 {
        every = (32 + packets.saturating_sub(128) / 8).min(64);
    }
    let mut delay = (path.min_rtt / 4).clamp(min_delay, max_delay);
    if path.smoothed_rtt * 2 > path.min_rtt * 3 && !receive_rate.is_zero() {
        // With queues or jitter, acknowledgements need not be denser than their way back carries them.
        delay = delay.max(receive_rate.time_for(ACK_SIZE)).min(max_delay);
        packets = packets.max(2);
        if starting {
            packets /= 2; // once more
        }
        let rounds = packets.div_ceil(every);
        if delay * rounds > (path.smoothed_rtt + path.min_rtt) / 2 {
            let fit = path.smoothed_rtt.as_nanos() / delay.as_nanos().max(1);
            every = if fit <= 1 {
                packets
            } else {
                every.max(packets.div_ceil(fit))
            };
        }
    }
    if path.min_rtt < delay * 4 && every > 32 {
        every = 32;
    }
    (every.max(2) as u32, delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Instant};

    fn path(rtt_ms: u64, rate: u64) -> PathState {
        let mut path = PathState::new(Bytes::new(1440), Instant::START);
        path.min_rtt = Duration::from_millis(rtt_ms);
        path.smoothed_rtt = path.min_rtt;
        path.delivery_rate = Rate::from_bytes_per_sec(rate);
        path
    }
    fn control(window: u64) -> Control {
        let (window, quantum) = (Bytes::new(window), Bytes::ZERO);
        Control {
            window,
            pacing: None,
            quantum,
            startup_done: true,
        }
    }
    const MIN: Duration = Duration::from_millis(1);
    const MAX: Duration = Duration::from_millis(10);

    #[test]
    fn four_acknowledgements_for_each_window() {
        // 100 packets of window: (100 + 3) / 4 = 25 packets; delay 80/4 = 20, at most 10 ms
        assert_eq!(
            wanted(
                &path(80, 1_000_000),
                &control(144_000),
                (MIN, MAX),
                Rate::ZERO
            ),
            (25, MAX)
        );
        // a small window at low rate: two packets; 8 ms / 4 = 2 ms
        let slow = wanted(&path(8, 100_000), &control(5_000), (MIN, MAX), Rate::ZERO);
        assert_eq!(slow, (2, Duration::from_millis(2)));
        // fast and long: at least ten
        assert_eq!(
            wanted(
                &path(120, 3_000_000),
                &control(15_000),
                (MIN, MAX),
                Rate::ZERO
            )
            .0,
            10
        );
    }

    #[test]
    fn behind_queues_the_delay_is_that_of_an_ack_at_the_rate_at_which_the_sender_receives() {
        // Bad Wi-Fi: 2 ms and 8 ms of RTT; a quarter of 2 ms is less than the least delay.
        let mut path = path(2, 1_000_000);
        let wanted = |path: &PathState, bytes| {
            let rate = Rate::from_bytes_per_sec(bytes);
            wanted(path, &control(144_000), (MIN, MAX), rate)
        };
        assert_eq!(wanted(&path, 96_000).1, MIN);
        path.smoothed_rtt = Duration::from_millis(8);
        // 115 B at 96 kB/s are 1.198 ms, at 1 kB/s more than the largest delay, and 1 MB/s less than the least.
        let micros = |bytes| wanted(&path, bytes).1.as_micros();
        assert_eq!([96_000, 1_000, 1_000_000].map(micros), [1197, 10_000, 1000]);
        // 100 packets, twice as many since the path is short: 50 a request. Four of 10 ms are longer than the mean of
        // the RTTs, 5 ms, and 8 ms have room for none: all 200, but 32 where four delays exceed the least RTT.
        assert_eq!(wanted(&path, 1_000).0, 32);
        // Who has received nothing corrects nothing.
        assert_eq!(wanted(&path, 0), (32, MIN));
    }

    #[test]
    fn the_rate_of_receiving_is_the_highest_over_more_than_a_smoothed_rtt_and_the_first_packet_begins_it()
     {
        let mut rate = ReceiveRate::default();
        let mut receive = |micros, size| {
            let now = Instant::START + Duration::from_micros(micros);
            rate.on_received(now, size, Duration::from_millis(8));
            rate.most.as_bytes_per_sec()
        };
        // A request of 1 kB begins; 1440 B of a probe and 60 B of an ACK come within 10 ms: 150 kB/s.
        assert_eq!(
            [receive(0, 1000), receive(5, 1440), receive(8_000, 30)],
            [0; 3]
        );
        assert_eq!(receive(10_000, 30), 150_000);
        // Less later: 55 B in 10 ms are no more.
        assert_eq!(receive(20_000, 55), 150_000);
    }

    #[test]
    fn a_request_is_repeated_only_when_it_matters() {
        let mut frequency = AckFrequency::default();
        let (path, window) = (path(80, 1_000_000), control(144_000));
        assert!(
            frequency
                .update(Rules::Picoquic, &path, &window, MIN, MAX)
                .is_some()
        );
        assert_eq!(
            frequency.update(Rules::Picoquic, &path, &window, MIN, MAX),
            None
        );
        assert_eq!(
            frequency.update(Rules::Picoquic, &path, &control(72_000), MIN, MAX),
            None
        );
        assert_eq!(
            frequency.update(Rules::Picoquic, &path, &control(160_000), MIN, MAX),
            Some((28, MAX))
        );
    }

    #[test]
    fn by_the_rfcs_there_are_sixteen_acknowledgements_a_window_and_fewer_packets_when_it_shrinks() {
        let mut frequency = AckFrequency::default();
        let (path, window) = (path(80, 1_000_000), control(1440 * 160));
        let mut asked = |window| frequency.update(Rules::Rfc, &path, &window, MIN, MAX);
        // 160 packets / 16 = 10; 80 ms / 16 = 5 ms
        assert_eq!(asked(window), Some((10, Duration::from_millis(5))));
        assert_eq!(asked(control(1440 * 170)), None);
        assert_eq!(
            asked(control(1440 * 80)),
            Some((5, Duration::from_millis(5)))
        );
    }
}
