//! A medium that two links share: one of them transmits at a time, an access carries no more than it may, and its overhead
//! lies between an access and the next.

use super::air::AuditedAir;
use super::finding::{Verdict, hold};
use thalweg_path::{HalfDuplexConfig, MediumConfig, Transmitted};
use thalweg_units::Instant;

/// The rules of a medium.
pub(super) enum AuditedMedium {
    Turns(AuditedTurns),
    Air(Box<AuditedAir>),
}

impl AuditedMedium {
    pub(super) fn new(config: &MediumConfig) -> Self {
        match config {
            MediumConfig::HalfDuplex(config) => AuditedMedium::Turns(AuditedTurns::new(*config)),
            MediumConfig::Wifi(config) => AuditedMedium::Air(Box::new(AuditedAir::new(config))),
        }
    }
}

/// State of the check.
pub(super) struct AuditedTurns {
    config: HalfDuplexConfig,
    /// Which link transmitted last.
    holder: usize,
    busy_until: Instant,
    /// How many packets its access has carried.
    carried: u32,
}

impl AuditedTurns {
    fn new(config: HalfDuplexConfig) -> Self {
        AuditedTurns {
            config,
            holder: 0,
            busy_until: Instant::START,
            carried: 0,
        }
    }

    /// A transmission of the link `side` was determined.
    pub(super) fn check(&mut self, side: usize, sent: &Transmitted) -> Verdict {
        let busy_until = std::mem::replace(&mut self.busy_until, sent.until);
        hold(sent.from >= busy_until, || {
            let from = sent.from;
            format!("starts a packet at {from} on a medium that is busy until {busy_until}")
        })?;
        let goes_on = self.carried > 0
            && side == self.holder
            && sent.from == busy_until
            && self.carried < self.config.packets;
        if goes_on {
            self.carried += 1;
            return Ok(());
        }
        let is_first = self.carried == 0;
        (self.holder, self.carried) = (side, 1);
        let free = busy_until + self.config.overhead;
        hold(is_first || sent.from >= free, || {
            let from = sent.from;
            format!("gets access at {from} to a medium whose last access ends at {free}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Duration};

    fn at(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    /// The first problem of transmissions: link, start and end in microseconds; three packets an access, 100 us after it.
    fn problem(transmissions: &[(usize, u64, u64)]) -> Option<String> {
        let mut medium = AuditedTurns::new(HalfDuplexConfig {
            overhead: Duration::from_micros(100),
            packets: 3,
        });
        transmissions.iter().find_map(|&(side, from, until)| {
            let sent = Transmitted {
                flow: 0,
                size: Bytes::new(1000),
                from: at(from),
                until: at(until),
                arrival: None,
            };
            medium.check(side, &sent).err()
        })
    }

    #[test]
    fn accesses_in_turn_with_their_overhead_pass() {
        let series = [
            (0, 0, 10),
            (0, 10, 20),
            (0, 20, 30),
            (0, 130, 140),
            (1, 240, 250),
            (1, 400, 410),
        ];
        assert_eq!(problem(&series), None);
    }

    #[test]
    fn two_transmissions_at_once_are_found_of_two_links_and_of_one() {
        for side in [0, 1] {
            let found = problem(&[(0, 0, 10), (side, 9, 19)]).unwrap();
            assert!(found.contains("busy until 10 us"), "{found}");
        }
    }

    #[test]
    fn an_access_without_overhead_before_it_is_found_and_one_with_too_many_packets() {
        let early = problem(&[(0, 0, 10), (1, 109, 119)]).unwrap();
        assert!(early.contains("ends at 110 us"), "{early}");
        let fourth = problem(&[(0, 0, 10), (0, 10, 20), (0, 20, 30), (0, 30, 40)]).unwrap();
        assert!(fourth.contains("ends at 130 us"), "{fourth}");
    }
}
