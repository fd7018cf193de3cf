//! The pacing bucket: credit in nanoseconds of the pacing rate, up to the send quantum.
//!
//! A packet may be sent when the bucket holds the time of a full packet at the pacing rate; it then
//! consumes its own time. Credit accumulates with time, so a late wake-up loses nothing, up to the depth.
//!
//! A host that sends in bundles (`host`) waits for the time of a whole bundle, whose packets then leave at one instant.

use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Depth before a rate is set, in nanoseconds. The time since the last packet counts at the first rate that is
/// set.
const UNSET_DEPTH: i64 = 16;

#[derive(Debug)]
pub(crate) struct Pacer {
    /// Credit in nanoseconds; it may go below zero by less than one packet.
    credit: i64,
    updated: Instant,
    rate: Rate,
    quantum: Bytes,
    mtu: Bytes,
    /// Time of a full packet.
    packet_time: i64,
    /// Credit that the next packet needs: the time of a bundle, or of a packet amid one.
    needed: i64,
    /// Depth of the bucket.
    depth: i64,
    /// Packets of a bundle, and how many of the present one may still leave at this instant.
    bundle: u32,
    left: u32,
    /// Lateness of the current wake-up, see `TransportConfig::wakeup_noise`.
    lateness: Duration,
}

impl Pacer {
    /// A bucket without a limit until a rate is set, of a connection that starts at `start`.
    pub(crate) fn new(start: Instant) -> Self {
        Pacer {
            credit: UNSET_DEPTH,
            updated: start,
            rate: Rate::ZERO,
            quantum: Bytes::ZERO,
            mtu: Bytes::ZERO,
            packet_time: 0,
            needed: 0,
            depth: UNSET_DEPTH,
            bundle: 1,
            left: 0,
            lateness: Duration::ZERO,
        }
    }

    /// Sets the rate; the credit is kept, up to the new depth. The time since the last attempt to send counts
    /// at the new rate.
    pub(crate) fn set(&mut self, rate: Rate, quantum: Bytes, mtu: Bytes) {
        if (rate, quantum, mtu) == (self.rate, self.quantum, self.mtu) {
            return;
        }
        (self.rate, self.quantum, self.mtu) = (rate, quantum, mtu);
        self.packet_time = nanos(rate, mtu);
        self.fit_bundle();
    }

    /// Sets how many packets make a bundle.
    pub(crate) fn set_bundle(&mut self, packets: u32) {
        if packets != self.bundle {
            self.bundle = packets;
            self.fit_bundle();
        }
    }

    /// The credit and the depth for a bundle of the present size at the present rate.
    fn fit_bundle(&mut self) {
        self.needed = self.next_time();
        self.depth = match self.mtu.is_zero() {
            true => UNSET_DEPTH,
            false => nanos(self.rate, self.quantum).max(self.bundle_time()),
        };
        self.credit = self.credit.min(self.depth);
    }

    #[inline]
    fn bundle_time(&self) -> i64 {
        self.packet_time * i64::from(self.bundle)
    }

    /// The credit that the next packet of this instant needs.
    fn next_time(&self) -> i64 {
        match self.left {
            0 => self.bundle_time(),
            _ => self.packet_time,
        }
    }

    /// Whether a packet that leaves now begins a bundle, of more than one packet.
    pub(crate) fn begins_bundle(&self, now: Instant) -> bool {
        self.bundle > 1 && (self.left == 0 || self.updated != now)
    }

    /// Packets of a bundle.
    pub(crate) fn bundle(&self) -> u32 {
        self.bundle
    }

    /// Lets every packet through until a rate is set.
    pub(crate) fn release(&mut self) {
        let (bundle, left) = (self.bundle, self.left);
        *self = Pacer::new(self.updated);
        (self.bundle, self.left) = (bundle, left);
    }

    /// The earliest time at which a full packet may be sent: `now` or earlier if immediately.
    #[inline]
    pub(crate) fn ready_at(&self) -> Instant {
        let missing = self.needed - self.credit;
        if missing <= 0 {
            return self.updated;
        }
        self.updated + Duration::from_nanos(missing as u64) + self.lateness
    }

    /// Whether a full packet may be sent. Every attempt fills the bucket to its current depth, once it has one.
    #[inline]
    pub(crate) fn is_ready(&mut self, now: Instant) -> bool {
        if now != self.updated && !self.mtu.is_zero() {
            self.refill(now);
            (self.left, self.needed) = (0, self.bundle_time());
        }
        self.credit >= self.needed
    }

    /// A packet is sent and consumes credit; the next wake-up will be `lateness` late.
    #[inline]
    pub(crate) fn spend(&mut self, now: Instant, size: u32, lateness: Duration) {
        if self.bundle > 1 {
            self.go_on_with_bundle(now);
        }
        self.refill(now);
        let cost = match self.mtu.as_u64() {
            0 => 0,
            mtu if mtu == u64::from(size) => self.packet_time,
            mtu => (self.packet_time * i64::from(size)).div_euclid(mtu as i64) + 1,
        };
        self.credit -= cost;
        self.lateness = lateness;
    }

    /// A packet begins a bundle, or is the next one of it.
    #[inline(never)] // few hosts send in bundles
    fn go_on_with_bundle(&mut self, now: Instant) {
        let left = if self.begins_bundle(now) {
            self.bundle
        } else {
            self.left
        };
        self.left = left - 1;
        self.needed = self.next_time();
    }

    #[inline]
    fn refill(&mut self, now: Instant) {
        let gained = i64::try_from((now - self.updated).as_nanos()).unwrap_or(i64::MAX / 4);
        // A probe packet may be sent without credit; the debt is limited to one packet.
        self.credit = (self.credit.max(-self.packet_time) + gained).min(self.depth);
        self.updated = now;
    }
}

/// Time of `size` at `rate` in nanoseconds, at least 1; a rate of zero means a packet per minute.
fn nanos(rate: Rate, size: Bytes) -> i64 {
    let limit = Duration::from_secs(60);
    rate.time_for(size).min(limit).as_nanos().max(1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    /// Sends as soon as allowed until `end` and returns the bytes sent.
    fn sent_by(pacer: &mut Pacer, size: u32, end: Instant) -> u64 {
        let (mut now, mut bytes) = (pacer.updated, 0);
        loop {
            now = now.max(pacer.ready_at());
            if now > end {
                return bytes;
            }
            pacer.spend(now, size, Duration::ZERO);
            bytes += u64::from(size);
        }
    }

    #[test]
    fn a_second_carries_the_rate_and_one_bucket_neither_more_nor_less() {
        let mut pacer = Pacer::new(Instant::START);
        let rate = Rate::from_bytes_per_sec(2_500_000);
        pacer.set(rate, Bytes::new(10_000), Bytes::new(1440));
        assert!(pacer.is_ready(at(10_000))); // 10 ms at this rate are more than a bucket
        let bytes = sent_by(&mut pacer, 1440, at(1_010_000));
        // rate * 1 s + bucket, give or take one packet
        assert!(
            (2_510_000 - 1440..=2_510_000 + 1440).contains(&bytes),
            "{bytes}"
        );
    }

    #[test]
    fn time_since_the_last_packet_counts_at_the_rate_that_is_set_after_it() {
        let mut pacer = Pacer::new(Instant::START);
        pacer.spend(at(40_000), 1252, Duration::ZERO);
        // 250 kB/s: a packet of 1250 bytes takes 5 ms, a bucket of 32 500 bytes 130 ms; 80 ms have passed.
        let rate = Rate::from_bytes_per_sec(250_000);
        pacer.set(rate, Bytes::new(32_500), Bytes::new(1250));
        for _ in 0..16 {
            assert!(pacer.is_ready(at(120_000)));
            pacer.spend(at(120_000), 1250, Duration::ZERO);
        }
        assert!(!pacer.is_ready(at(120_000)));
    }

    #[test]
    fn a_late_wake_up_loses_no_capacity() {
        let mut pacer = Pacer::new(Instant::START);
        pacer.set(
            Rate::from_bytes_per_sec(1_440_000),
            Bytes::new(5_760),
            Bytes::new(1440),
        );
        sent_by(&mut pacer, 1440, at(0));
        // 3 ms late at one packet a millisecond: three packets leave at once
        assert!(pacer.is_ready(at(3_000)));
        for _ in 0..3 {
            assert!(pacer.is_ready(at(3_000)));
            pacer.spend(at(3_000), 1440, Duration::ZERO);
        }
        assert!(!pacer.is_ready(at(3_000)));
    }

    #[test]
    fn a_bundle_waits_for_its_whole_time_and_leaves_at_once() {
        let mut pacer = Pacer::new(Instant::START);
        // A packet in a millisecond, bundles of four, and a bucket of six.
        pacer.set_bundle(4);
        let rate = Rate::from_bytes_per_sec(1_440_000);
        pacer.set(rate, Bytes::new(6 * 1440), Bytes::new(1440));
        let send = |pacer: &mut Pacer, micros: u64| {
            let mut sent = 0;
            while pacer.is_ready(at(micros)) {
                pacer.spend(at(micros), 1440, Duration::ZERO);
                sent += 1;
            }
            sent
        };
        // After six milliseconds there is credit for one bundle and half of the next, which waits for its other half.
        assert_eq!((send(&mut pacer, 6_000), pacer.ready_at()), (4, at(8_000)));
        assert_eq!((send(&mut pacer, 7_999), send(&mut pacer, 8_000)), (0, 4));
        assert_eq!(pacer.ready_at(), at(12_000));
        // What a window has cut short is no longer begun at another instant.
        assert!(pacer.is_ready(at(12_000)) && pacer.begins_bundle(at(12_000)));
        pacer.spend(at(12_000), 1440, Duration::ZERO);
        assert!(!pacer.begins_bundle(at(12_000)) && pacer.begins_bundle(at(12_001)));
        assert!(!pacer.is_ready(at(12_001)));
        assert_eq!(pacer.ready_at(), at(13_000));
        // Four seconds carry 4000 packets and the first bundle, in bundles.
        let mut pacer = Pacer::new(Instant::START);
        pacer.set_bundle(4);
        pacer.set(rate, Bytes::new(1440), Bytes::new(1440));
        let (mut now, mut sent) = (0, 0);
        while now <= 4_000_000 {
            sent += send(&mut pacer, now);
            now = (pacer.ready_at() - Instant::START)
                .as_nanos()
                .div_ceil(1000);
        }
        assert_eq!(sent, 4000);
    }

    #[test]
    fn nothing_binds_before_a_rate_is_set() {
        let mut pacer = Pacer::new(Instant::START);
        for _ in 0..100 {
            assert!(pacer.is_ready(at(0)));
            pacer.spend(at(0), 1252, Duration::ZERO);
        }
    }
    #[test]
    fn nothing_binds_once_a_rate_is_released() {
        let mut pacer = Pacer::new(at(0));
        pacer.set(
            Rate::from_bytes_per_sec(1000),
            Bytes::new(1252),
            Bytes::new(1252),
        );
        for _ in 0..3 {
            pacer.spend(at(0), 1252, Duration::from_micros(5));
        }
        assert!(!pacer.is_ready(at(0)));
        pacer.release();
        for _ in 0..100 {
            assert!(pacer.is_ready(at(0)) && pacer.ready_at() == at(0));
            pacer.spend(at(0), 1252, Duration::from_micros(5));
        }
    }
}
