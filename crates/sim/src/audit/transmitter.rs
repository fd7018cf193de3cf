//! The transmitter of a link: one packet at a time, never more than the capacity and never less while
//! busy, and arrivals after the delay.

use super::finding::{Verdict, hold};
use super::schedule::Schedule;
use thalweg_path::Transmitted;
use thalweg_units::{Bytes, Duration, Instant};

/// A rate of one bit per second moves one nanobit in a nanosecond.
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;

pub(super) fn nanobits(size: Bytes) -> u128 {
    u128::from(size.as_u64()) * NANOBITS_PER_BYTE
}

/// State of the check.
#[derive(Default)]
pub(super) struct Transmitter {
    free: Instant,
    /// Nanobits that could have been sent in the nanosecond in which the last bits left: they belong to the
    /// next packet, so that a busy link runs exactly at its rate.
    spare: u128,
    last_arrival: Instant,
    /// Packets so far.
    count: u64,
}

impl Transmitter {
    /// A transmission was determined; `able` nanobits could be sent between its start and its end, and
    /// `nanosecond` of them in its last nanosecond, since times are whole nanoseconds.
    pub(super) fn check(
        &mut self,
        sent: &Transmitted,
        able: u128,
        nanosecond: u128,
        schedule: &Schedule,
        in_order: bool,
    ) -> Verdict {
        let Transmitted { from, until, .. } = *sent;
        let free = std::mem::replace(&mut self.free, until);
        hold(from >= free, || {
            format!("starts a packet at {from} while it sends another until {free}")
        })?;
        if until == Instant::NEVER {
            return hold(sent.arrival.is_none_or(|at| at == Instant::NEVER), || {
                "a packet that is never sent arrives".to_owned()
            });
        }
        hold(until >= from, || {
            format!("ends a transmission at {until}, before it began at {from}")
        })?;
        // In an opportunity of a trace the link may be faster than the schedule.
        let nanosecond = nanosecond.max(u128::from(schedule.largest_rate.as_bits_per_sec()));
        let (need, have) = (nanobits(sent.size), able + self.spare);
        hold(have >= need, || {
            let could = able / NANOBITS_PER_BYTE;
            format!(
                "sends {} from {from} to {until}, when its capacity was {could} bytes",
                sent.size
            )
        })?;
        hold(able <= need + nanosecond, || {
            let could = able / NANOBITS_PER_BYTE;
            format!(
                "takes from {from} to {until} for {}, when its capacity was {could} bytes",
                sent.size
            )
        })?;
        self.spare = (have - need).min(nanosecond);
        self.fate(sent, false, schedule, in_order)
    }

    /// What becomes of a packet that was sent, unless its medium has given it up.
    pub(super) fn fate(
        &mut self,
        sent: &Transmitted,
        given_up: bool,
        schedule: &Schedule,
        in_order: bool,
    ) -> Verdict {
        let until = sent.until;
        let loss = schedule.loss(until);
        hold(sent.arrival.is_none() || !loss.is_certain(), || {
            format!("delivers a packet sent until {until}, when every packet is lost")
        })?;
        let may_lose = given_up || schedule.loses_marked || !loss.is_impossible();
        hold(sent.arrival.is_some() || may_lose, || {
            format!("loses a packet sent until {until}, when none is lost")
        })?;
        self.count += 1;
        if let Some(is_lost) = schedule.takes(self.count) {
            let may_lose = given_up || schedule.loses_marked;
            let is_right = is_lost == sent.arrival.is_none() || may_lose && !is_lost;
            hold(is_right, || {
                let (count, word) = (self.count, if is_lost { "delivers" } else { "loses" });
                format!("{word} packet {count} of those that it has sent, against its loss")
            })?;
        }
        match sent.arrival {
            Some(arrival) => self.arrival(until, arrival, schedule, in_order),
            None => Ok(()),
        }
    }

    /// A packet whose last bit is sent at `until` arrives at `arrival`.
    fn arrival(
        &mut self,
        until: Instant,
        arrival: Instant,
        schedule: &Schedule,
        in_order: bool,
    ) -> Verdict {
        let delay: Duration = schedule.delay(until);
        let before = std::mem::replace(&mut self.last_arrival, arrival);
        if in_order {
            hold(arrival >= before, || {
                format!("delivers a packet at {arrival}, before another at {before}")
            })?;
        }
        if schedule.is_even {
            let least = until + delay;
            let expected = if in_order { least.max(before) } else { least };
            return hold(arrival == expected, || {
                format!("delivers a packet at {arrival} that is due at {expected}")
            });
        }
        let least = until + delay.min(schedule.least_delay);
        hold(arrival >= least, || {
            format!("delivers a packet at {arrival}, but cannot before {least}")
        })
    }

    /// Size of the packet in transmission at `now`.
    pub(super) fn is_busy(&self, now: Instant) -> bool {
        self.free > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_path::{Change, LinkConfig, LossConfig, LossScript};
    use thalweg_units::{Fraction, Rate};

    fn at(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    /// 8 Mbps, a byte in a microsecond, and 5 ms.
    fn schedule() -> Schedule {
        let rate = Rate::from_bits_per_sec(8_000_000);
        Schedule::new(&LinkConfig::new(rate, Duration::from_millis(5)))
    }

    fn sent(from: u64, until: u64, arrival: u64) -> Transmitted {
        Transmitted {
            flow: 0,
            size: Bytes::new(1000),
            from: at(from),
            until: at(until),
            arrival: Some(at(arrival)),
        }
    }

    /// The first problem that a series of transmissions has.
    fn problem(series: &[Transmitted]) -> Option<String> {
        let (schedule, mut transmitter) = (schedule(), Transmitter::default());
        (series.iter()).find_map(|sent| {
            let able = schedule.work(sent.from, sent.until);
            transmitter.check(sent, able, 0, &schedule, true).err()
        })
    }

    #[test]
    fn a_busy_link_at_its_rate_passes() {
        let series = [
            sent(0, 1000, 6000),
            sent(1000, 2000, 7000),
            sent(5000, 6000, 11_000),
        ];
        assert_eq!(problem(&series), None);
    }

    #[test]
    fn more_than_the_capacity_is_found() {
        let found = problem(&[sent(0, 1000, 6000), sent(1000, 1999, 6999)]).unwrap();
        assert!(found.contains("when its capacity was 999 bytes"), "{found}");
    }

    #[test]
    fn less_than_the_capacity_is_found() {
        let found = problem(&[sent(0, 1001, 6001)]).unwrap();
        assert!(found.contains("takes from"), "{found}");
    }

    #[test]
    fn two_packets_at_once_are_found() {
        let found = problem(&[sent(0, 1000, 6000), sent(999, 1999, 6999)]).unwrap();
        assert!(found.contains("while it sends another"), "{found}");
    }

    #[test]
    fn a_packet_that_outruns_the_delay_is_found_and_one_that_lags_behind_it() {
        for arrival in [5999, 6001] {
            let found = problem(&[sent(0, 1000, arrival)]).unwrap();
            assert!(found.contains("that is due at 6 ms"), "{found}");
        }
    }

    #[test]
    fn an_arrival_before_that_of_the_packet_before_it_is_found() {
        let (schedule, mut transmitter) = (schedule(), Transmitter::default());
        transmitter.last_arrival = at(9000);
        let sent = sent(0, 1000, 6000);
        let able = schedule.work(sent.from, sent.until);
        let found = transmitter
            .check(&sent, able, 0, &schedule, true)
            .unwrap_err();
        assert!(found.contains("before another at 9 ms"), "{found}");
    }

    #[test]
    fn a_packet_that_survives_an_outage_is_found_and_one_that_is_lost_without_one() {
        let rate = Rate::from_bits_per_sec(8_000_000);
        let mut config = LinkConfig::new(rate, Duration::from_millis(5));
        config.changes = vec![Change {
            at: Duration::from_millis(2),
            loss: Some(LossConfig::Random {
                rate: Fraction::ONE,
            }),
            ..Change::default()
        }];
        let schedule = Schedule::new(&config);
        let found = |packet: Transmitted| {
            let able = schedule.work(packet.from, packet.until);
            let mut transmitter = Transmitter::default();
            transmitter.check(&packet, able, 0, &schedule, true).err()
        };
        let lost = |packet| Transmitted {
            arrival: None,
            ..packet
        };
        // The first ends as the outage begins, the second a microsecond after that.
        let (before, within) = (sent(1000, 2000, 7000), sent(1001, 2001, 7001));
        assert_eq!((found(before), found(lost(within))), (None, None));
        assert!(found(lost(before)).unwrap().contains("none is lost"));
        assert!(found(within).unwrap().contains("every packet is lost"));
    }

    #[test]
    fn a_packet_that_is_lost_against_a_script_is_found_and_one_that_is_not() {
        let rate = Rate::from_bits_per_sec(8_000_000);
        let mut config = LinkConfig::new(rate, Duration::from_millis(5));
        config.loss = LossConfig::Scripted(LossScript::new([(2, 3)]));
        let schedule = Schedule::new(&config);
        let found = |lost: [bool; 4]| {
            let mut transmitter = Transmitter::default();
            (0u64..).zip(lost).find_map(|(number, lost)| {
                let mut packet = sent(1000 * number, 1000 * (number + 1), 1000 * number + 6000);
                packet.arrival = packet.arrival.filter(|_| !lost);
                let able = schedule.work(packet.from, packet.until);
                transmitter.check(&packet, able, 0, &schedule, true).err()
            })
        };
        assert_eq!(found([false, true, true, false]), None);
        let (early, late) = (
            found([true, true, true, false]),
            found([false, true, false, false]),
        );
        assert!(early.unwrap().contains("loses packet 1 of"));
        assert!(late.unwrap().contains("delivers packet 3 of"));
    }
}
