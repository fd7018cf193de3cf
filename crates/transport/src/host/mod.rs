//! The host of an endpoint: what its operating system does between the endpoint and the link.
//!
//! An ideal host reads each packet when it arrives, sends each packet by itself and wakes up when it wants to. Real
//! ones save work: they read what has arrived at once (GRO, `recvmmsg`, moderated interrupts), hand over many packets
//! at once (TSO, UDP GSO), and have timers that tick.
//!
//! The endpoint paces in bundles and waits with an incomplete one ([`bundle`]). Its driver reads
//! in batches and makes one packet of a bundle for links that do not split it: only it sees several packets.

pub(crate) mod bundle;

pub use bundle::{Bundle, LARGEST_BUNDLE};
use thalweg_units::{Duration, Instant};

/// When a host reads what has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Each packet when it arrives; it is answered before the next is read.
    #[default]
    Each,
    /// All that has arrived by this instant, before it answers (RFC 9000 section 13.2.2: it may).
    All,
    /// All that has arrived when this time has passed since the first: the moderation of interrupts.
    Within(Duration),
}

/// What a host does. The default is an ideal one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// When it reads.
    pub reading: Reading,
    /// How much it sends at once.
    pub bundle: Bundle,
    /// Its timers fire at multiples of this time after the start of a connection; zero for exact ones.
    pub timer: Duration,
}

impl Host {
    /// One that does nothing to packets and timers.
    pub const IDEAL: Host = Host {
        reading: Reading::Each,
        bundle: Bundle::Single,
        timer: Duration::ZERO,
    };
    /// Linux: NAPI and GRO hand over what has arrived (`Documentation/networking/napi.rst`), TCP makes bundles whose size
    /// follows its pacing rate (`tcp_tso_autosize`), and paces them with high-resolution timers.
    pub const LINUX: Host = Host {
        reading: Reading::All,
        bundle: Bundle::Autosized,
        timer: Duration::ZERO,
    };
    /// The simulator of picoquic (`picoquic_ns.c`): arrivals come before answers of the same instant; each call for a
    /// packet makes one.
    pub const PICOQUIC: Host = Host {
        reading: Reading::All,
        bundle: Bundle::Single,
        timer: Duration::ZERO,
    };

    /// When a timer fires that is set to `due` on a connection that began at `start`.
    pub fn fires(&self, due: Instant, start: Instant) -> Instant {
        if self.timer.is_zero() || due == Instant::NEVER {
            return due;
        }
        let ticks = (due - start).as_nanos().div_ceil(self.timer.as_nanos());
        start + Duration::from_nanos(ticks.saturating_mul(self.timer.as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_at_the_next_tick_and_never_early() {
        let at = |micros| Instant::START + Duration::from_micros(micros);
        let host = Host {
            timer: Duration::from_millis(4),
            ..Host::IDEAL
        };
        let start = at(500);
        for (due, fires) in [(500, 500), (501, 4_500), (4_500, 4_500), (4_501, 8_500)] {
            assert_eq!(host.fires(at(due), start), at(fires), "{due}");
        }
        assert_eq!(Host::IDEAL.fires(at(501), start), at(501));
        assert_eq!(host.fires(Instant::NEVER, start), Instant::NEVER);
    }
}
