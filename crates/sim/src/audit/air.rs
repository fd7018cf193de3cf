//! A medium for which stations contend: none begins while it senses another, nothing arrives from a frame that another has
//! destroyed, a frame that is sent again has the same packets, and shares of airtime add up to at most one.

use super::finding::{Verdict, hold};
use thalweg_path::Transmitted;
use thalweg_path::wifi::{AccessEvent, AccessStep, Graph, WifiConfig};
use thalweg_units::{Duration, Instant};

/// State of the check.
pub(super) struct AuditedAir {
    graph: Graph,
    slot: Duration,
    most_packets: usize,
    attempts: u32,
    stations: Vec<Station>,
    /// The frames of both ends that ended last.
    landed: [Landed; 2],
    now: Instant,
    /// Time in the air of frames that arrived and of their acknowledgements, of all that no two of which can overlap: the access
    /// point receives or hears them.
    useful: Duration,
}

#[derive(Clone, Copy, Default)]
struct Station {
    phase: Phase,
    began: Instant,
    /// When its acknowledgement began.
    answered: Instant,
    /// When its frame ends, or its acknowledgement.
    ends: Instant,
    is_hit: bool,
    failures: u32,
    /// Packets of its frame that have neither arrived nor been given up.
    packets: usize,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Silent,
    Sends,
    Acknowledged,
}

/// The end of a frame.
#[derive(Clone, Copy, Default)]
struct Landed {
    at: Instant,
    is_received: bool,
    /// Packets of it whose fate is still to be told.
    packets: usize,
}

impl AuditedAir {
    pub(super) fn new(config: &WifiConfig) -> Self {
        let graph = Graph::new(config);
        AuditedAir {
            slot: config.phy.timing().slot,
            most_packets: config.packets as usize,
            attempts: config.attempts,
            stations: vec![Station::default(); graph.len()],
            graph,
            landed: [Landed::default(); 2],
            now: Instant::START,
            useful: Duration::ZERO,
        }
    }

    /// A step of an access.
    pub(super) fn step(&mut self, event: &AccessEvent) -> Verdict {
        let AccessEvent { at, station, .. } = *event;
        hold(at >= self.now, || {
            format!("has an access at {at} after one at {}", self.now)
        })?;
        self.now = at;
        for sender in &mut self.stations {
            if sender.phase == Phase::Acknowledged && sender.ends <= at {
                sender.phase = Phase::Silent;
            }
        }
        match event.step {
            AccessStep::Begins { airtime } => self.begin(event, airtime)?,
            AccessStep::Received { until } => {
                self.ends(event)?;
                let is_hit = self.stations[station].is_hit;
                hold(!is_hit, || {
                    format!("receives at {at} from station {station}, whose frame was destroyed")
                })?;
                self.land(station, at, true);
                let sender = &mut self.stations[station];
                let began = sender.began;
                *sender = Station {
                    phase: Phase::Acknowledged,
                    answered: at,
                    ends: until,
                    failures: 0,
                    ..*sender
                };
                let receiver = self.graph.receiver(station);
                self.destroy(receiver);
                if receiver == 0 || station == 0 {
                    self.useful += until - began;
                }
                let (useful, passed) = (self.useful, until - Instant::START);
                hold(useful <= passed, || {
                    format!("was used for {useful} in {passed}")
                })?;
            }
            AccessStep::Fails { gives_up } => {
                self.ends(event)?;
                let (attempts, sender) = (self.attempts, &mut self.stations[station]);
                hold(sender.is_hit, || {
                    format!("loses a frame of station {station} at {at} that nothing destroyed")
                })?;
                sender.phase = Phase::Silent;
                sender.failures += 1;
                let failures = sender.failures;
                hold(gives_up == (failures == attempts), || {
                    format!(
                        "ends attempt {failures} of {attempts} of station {station}, giving up: {gives_up}"
                    )
                })?;
                if gives_up {
                    sender.failures = 0;
                    self.land(station, at, false);
                }
                self.keeps(event)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, event: &AccessEvent, airtime: Duration) -> Verdict {
        let AccessEvent { at, station, .. } = *event;
        let (silent, failures) = (
            self.stations[station].phase,
            self.stations[station].failures,
        );
        hold(silent == Phase::Silent, || {
            format!("has two frames of station {station} at once at {at}")
        })?;
        let mut is_hit = false;
        for (other, heard) in self.stations.iter().enumerate() {
            let receiver = self.graph.receiver(other);
            let emits = match heard.phase {
                Phase::Silent => continue,
                Phase::Sends => other,
                Phase::Acknowledged => receiver,
            };
            let hears = |one: usize| one != station && self.graph.hear(one, station);
            let senses = hears(other) && at >= heard.began + self.slot
                || heard.phase == Phase::Acknowledged
                    && hears(receiver)
                    && at >= heard.answered + self.slot;
            hold(!senses, || {
                let began = heard.began;
                format!(
                    "begins a frame of station {station} at {at}, which senses station {other} since {began}"
                )
            })?;
            is_hit |= self.graph.destroys(emits, station);
        }
        if failures > 0 || station > 1 {
            self.keeps(event)?;
        } else {
            let (packets, most) = (event.packets, self.most_packets);
            hold((1..=most).contains(&packets), || {
                format!("begins a frame of {packets} packets at {at}; it may have 1 to {most}")
            })?;
        }
        self.destroy(station);
        self.stations[station] = Station {
            phase: Phase::Sends,
            began: at,
            answered: Instant::NEVER,
            ends: at + airtime,
            is_hit,
            failures,
            packets: event.packets,
        };
        Ok(())
    }

    /// What `station` begins to send destroys other frames.
    fn destroy(&mut self, station: usize) {
        for (other, sender) in self.stations.iter_mut().enumerate() {
            sender.is_hit |= other != station && self.graph.destroys(station, other);
        }
    }

    fn ends(&self, event: &AccessEvent) -> Verdict {
        let AccessEvent { at, station, .. } = *event;
        let sender = &self.stations[station];
        hold(sender.phase == Phase::Sends && sender.ends == at, || {
            format!("ends a frame of station {station} at {at} that does not end then")
        })
    }

    /// The frame of a station still has all of its packets.
    fn keeps(&self, event: &AccessEvent) -> Verdict {
        let (before, now) = (self.stations[event.station].packets, event.packets);
        hold(before == now, || {
            let AccessEvent { at, station, .. } = event;
            format!("has {now} packets of station {station} at {at} that were {before} before")
        })
    }

    fn land(&mut self, station: usize, at: Instant, is_received: bool) {
        let packets = std::mem::take(&mut self.stations[station].packets);
        if let Some(landed) = self.landed.get_mut(station) {
            *landed = Landed {
                at,
                is_received,
                packets,
            };
        }
    }

    /// How many packets of a link are in a frame.
    pub(super) fn in_air(&self, side: usize) -> usize {
        self.stations[side].packets
    }

    /// The fate of a packet of the link `side` was determined. Whether the medium has given it up.
    pub(super) fn check(&mut self, side: usize, sent: &Transmitted) -> Result<bool, String> {
        let landed = &mut self.landed[side];
        let Transmitted { from, until, .. } = *sent;
        hold(landed.at == until && landed.packets > 0, || {
            format!("tells of a packet from {from} to {until}, when no frame with it ended")
        })?;
        landed.packets -= 1;
        hold(landed.is_received || sent.arrival.is_none(), || {
            format!("delivers a packet of a frame that was given up at {until}")
        })?;
        Ok(!landed.is_received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_path::wifi::{NeighbourConfig, Phy};

    fn at(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    /// The first problem of steps: time in microseconds, station, packets, what happens; a frame takes 100 us. One neighbour.
    fn problem(steps: &[(u64, usize, usize, &str)]) -> Option<String> {
        let mut config = WifiConfig::new(Phy::A);
        (config.packets, config.attempts) = (4, 2);
        config.neighbours = vec![NeighbourConfig::saturated(1, Duration::from_micros(100))];
        let mut air = AuditedAir::new(&config);
        steps.iter().find_map(|&(micros, station, packets, what)| {
            let step = match what {
                "begins" => AccessStep::Begins {
                    airtime: Duration::from_micros(100),
                },
                "received" => AccessStep::Received {
                    until: at(micros + 50),
                },
                "fails" => AccessStep::Fails { gives_up: false },
                _ => AccessStep::Fails { gives_up: true },
            };
            let event = AccessEvent {
                at: at(micros),
                station,
                packets,
                step,
            };
            air.step(&event).err()
        })
    }

    #[test]
    fn frames_one_after_another_and_a_collision_pass() {
        let steps = [
            (0, 0, 3, "begins"),
            (100, 0, 0, "received"),
            (200, 1, 2, "begins"),
            (204, 2, 0, "begins"),
            (300, 1, 2, "fails"),
            (304, 2, 0, "fails"),
            (400, 1, 2, "begins"),
            (500, 1, 0, "received"),
        ];
        assert_eq!(problem(&steps), None);
    }

    #[test]
    fn each_broken_rule_is_found() {
        let found = |steps: &[(u64, usize, usize, &str)]| problem(steps).unwrap_or_default();
        let senses = found(&[(0, 0, 1, "begins"), (9, 1, 1, "begins")]);
        assert!(senses.contains("senses station 0"), "{senses}");
        let answered = [(0, 0, 1, "begins"), (100, 0, 0, "received")];
        let early = found(&[&answered[..], &[(149, 2, 0, "begins")]].concat());
        assert!(early.contains("senses station 0"), "{early}");
        let collided = [(0, 0, 1, "begins"), (8, 1, 1, "begins")];
        let arrives = found(&[&collided[..], &[(100, 0, 0, "received")]].concat());
        assert!(arrives.contains("was destroyed"), "{arrives}");
        let loses = found(&[(0, 0, 1, "begins"), (100, 0, 1, "fails")]);
        assert!(loses.contains("nothing destroyed"), "{loses}");
        let fails = [&collided[..], &[(100, 0, 1, "fails"), (108, 1, 1, "fails")]].concat();
        let other = found(&[&fails[..], &[(200, 0, 2, "begins")]].concat());
        assert!(other.contains("were 1 before"), "{other}");
        let again = found(&[&collided[..], &[(100, 0, 0, "gives up")]].concat());
        assert!(again.contains("attempt 1 of 2"), "{again}");
        let many = found(&[(0, 0, 5, "begins")]);
        assert!(many.contains("1 to 4"), "{many}");
    }
}
