//! The backlog never exceeds the buffer.

use super::finding::{Verdict, hold};
use super::transmitter::nanobits;
use thalweg_path::{Count, Limit};
use thalweg_units::{Bytes, Rate};

/// The backlog, and the packet in transmission; zero if none.
pub(super) struct Held {
    pub(super) waiting: Count,
    pub(super) sending: Bytes,
    /// The largest packet so far: a limit in time accepts a packet whatever its size.
    pub(super) largest: Bytes,
}

/// Checks the backlog against the limit; a limit in time is evaluated at `rate`.
pub(super) fn check(held: &Held, limit: Limit, rate: Rate) -> Verdict {
    let waiting = held.waiting;
    if waiting.packets == 0 {
        // The packet in transmission stays when the buffer shrinks below it.
        return Ok(());
    }
    match limit {
        Limit::Unlimited => Ok(()),
        Limit::Bytes(most) => hold(waiting.bytes + held.sending <= most, || {
            format!(
                "holds {} and {} in transmission, more than its {most}",
                waiting.bytes, held.sending
            )
        }),
        Limit::Packets(most) => {
            let sending = u64::from(!held.sending.is_zero());
            hold(waiting.packets + sending <= most, || {
                let packets = waiting.packets;
                format!(
                    "holds {packets} packets and {sending} in transmission, more than its {most}"
                )
            })
        }
        // A suspended link cannot evaluate it.
        Limit::Time(_) if rate.is_zero() => Ok(()),
        Limit::Time(most) => {
            let before = nanobits(waiting.bytes - held.largest);
            let room = u128::from(most.as_nanos()) * u128::from(rate.as_bits_per_sec());
            hold(before < room, || {
                format!("holds {}, more than {most} at {rate}", waiting.bytes)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    /// `packets` of 1000 bytes wait, another one is being transmitted.
    fn held(packets: u64) -> Held {
        Held {
            waiting: Count {
                packets,
                bytes: Bytes::new(1000 * packets),
            },
            sending: Bytes::new(1000),
            largest: Bytes::new(1000),
        }
    }

    #[test]
    fn a_full_buffer_passes_and_one_packet_more_is_found() {
        let rate = Rate::from_bits_per_sec(8_000_000);
        // Ten packets, 10 kB or 10 ms at a byte in a microsecond, the one in transmission included; a limit in
        // time accepts the packet before which 10 ms are not quite reached.
        for (limit, full) in [
            (Limit::Packets(10), 9),
            (Limit::Bytes(Bytes::new(10_000)), 9),
            (Limit::Time(Duration::from_millis(10)), 10),
        ] {
            assert_eq!(check(&held(full), limit, rate), Ok(()), "{limit:?}");
            assert!(check(&held(full + 1), limit, rate).is_err(), "{limit:?}");
        }
        assert_eq!(check(&held(1000), Limit::Unlimited, rate), Ok(()));
    }

    #[test]
    fn a_buffer_that_shrinks_keeps_what_is_being_transmitted() {
        let none = Limit::Bytes(Bytes::ZERO);
        assert_eq!(check(&held(0), none, Rate::ZERO), Ok(()));
        assert!(check(&held(1), none, Rate::ZERO).is_err());
    }

    #[test]
    fn a_suspended_link_has_no_limit_in_time() {
        let limit = Limit::Time(Duration::from_millis(10));
        assert_eq!(check(&held(1000), limit, Rate::ZERO), Ok(()));
    }
}
