//! What a station does after a frame that nobody could read: its sender waits for an acknowledgement (IEEE 802.11-2020, 10.3.2.11),
//! and who saw it begin waits for EIFS (10.3.2.3.7).

use crate::cell::{Cell, mbps, seconds, us};
use thalweg_path::wifi::{
    AccessEvent, AccessStep, Category, Heard, NeighbourConfig, Phy, WifiConfig,
};
use thalweg_units::Duration;

/// DIFS with 802.11a.
const SPACE: f64 = 34.0;
/// The short space, a slot, and the start of a frame.
const TIMEOUT: f64 = 16.0 + 9.0 + 20.0;

/// Everything that the stations do in ten seconds in which both ends always have a packet.
fn accesses(neighbours: Vec<NeighbourConfig>) -> Vec<AccessEvent> {
    let mut config = WifiConfig::new(Phy::A);
    (config.packets, config.category) = (1, Category::Dcf);
    config.neighbours = neighbours;
    let mut cell = Cell::new(&config, mbps(54.0), 3);
    cell.medium.record_accesses(true);
    for _ in 0..40_000 {
        cell.push(seconds(0.0), 0, 100);
        cell.push(seconds(0.0), 1, 1500);
    }
    cell.run(seconds(10.0));
    std::iter::from_fn(|| cell.medium.take_access()).collect()
}

#[test]
fn who_has_collided_waits_for_an_acknowledgement_that_does_not_come() {
    let neighbours = vec![NeighbourConfig {
        category: Category::Dcf,
        ..NeighbourConfig::saturated(4, us(248.0))
    }];
    let mut failed = [None; 6];
    let mut shortest = Duration::from_secs(1);
    for AccessEvent {
        at, station, step, ..
    } in accesses(neighbours)
    {
        match step {
            AccessStep::Begins { .. } => {
                if let Some(end) = failed[station].take() {
                    shortest = shortest.min(at - end);
                }
            }
            AccessStep::Fails { .. } => failed[station] = Some(at),
            AccessStep::Received { .. } => {}
        }
    }
    assert_eq!(shortest, us(TIMEOUT + SPACE));
}

#[test]
fn who_saw_a_frame_begin_and_could_not_read_it_waits_for_eifs() {
    // The neighbour and the client do not hear each other, and the access point hears both. It sees a frame begin if nothing else
    // is in the air, and nothing else begins before it can be sensed.
    let events = accesses(vec![NeighbourConfig {
        heard: Heard::AccessPoint,
        category: Category::Dcf,
        ..NeighbourConfig::saturated(1, us(248.0))
    }]);
    let mut in_air = [None; 3];
    let mut sees = [true; 3];
    let mut answers_until = seconds(0.0);
    // The ends of the last frame that failed since something arrived, and of the last of those that the access point saw.
    let (mut last, mut last_seen) = (None, None);
    let (mut waits_of_seen, mut waits) = (Vec::new(), Vec::new());
    for AccessEvent {
        at, station, step, ..
    } in events
    {
        match step {
            AccessStep::Begins { .. } => {
                if station == 0 {
                    waits_of_seen.extend(last_seen.map(|end| at - end));
                    waits.extend(last.map(|end| at - end));
                }
                sees[station] = in_air == [None; 3] && answers_until <= at;
                for (sees, began) in sees.iter_mut().zip(in_air) {
                    *sees &= began.is_none_or(|began| at >= began + us(4.0));
                }
                in_air[station] = Some(at);
            }
            AccessStep::Received { until } => {
                (in_air[station], answers_until) = (None, until);
                (last, last_seen) = (None, None);
            }
            AccessStep::Fails { .. } => {
                in_air[station] = None;
                last = Some(at);
                if station == 0 {
                    last_seen = None;
                } else if sees[station] {
                    last_seen = Some(at);
                }
            }
        }
    }
    // EIFS is longer than DIFS by the short space and an acknowledgement at 6 Mbps. A slot follows, of those that it has left.
    assert!(waits_of_seen.len() > 1000 && waits.len() > waits_of_seen.len() + 1000);
    assert_eq!(
        waits_of_seen.iter().min(),
        Some(&us(16.0 + 44.0 + SPACE + 9.0))
    );
    assert_eq!(waits.iter().min(), Some(&us(SPACE)));
}

#[test]
fn who_reads_a_frame_that_fails_waits_for_the_acknowledgement_that_it_announces() {
    // The first neighbour destroys frames of the client at the access point; the second does not hear it, and reads them.
    let kind = |heard, airtime| NeighbourConfig {
        heard,
        category: Category::Dcf,
        ..NeighbourConfig::saturated(1, us(airtime))
    };
    let events = accesses(vec![
        kind(Heard::AccessPoint, 248.0),
        kind(Heard::Client, 100.0),
    ]);
    let (client, reader) = (1, 3);
    // From the end of a frame of the client that the reader has read to the next access of the reader.
    let (mut is_read, mut sends, mut end) = (false, false, None);
    let mut waits = Vec::new();
    for AccessEvent {
        at, station, step, ..
    } in events
    {
        match step {
            AccessStep::Begins { .. } if station == reader => {
                waits.extend(end.take().map(|end| at - end));
                (sends, is_read) = (true, false);
            }
            AccessStep::Begins { .. } if station == client => is_read = !sends,
            AccessStep::Fails { .. } if station == client => end = is_read.then_some(at),
            _ if station == reader => sends = false,
            _ => {}
        }
    }
    // The short space, an acknowledgement at 24 Mbps, and DIFS; or longer, but never less.
    let least = us(16.0 + 28.0 + SPACE);
    assert!(waits.len() > 300, "{}", waits.len());
    assert!(waits.iter().all(|wait| *wait >= least));
    assert!(waits.iter().min() <= Some(&(least + us(9.0))));
}

#[test]
fn a_frame_is_sensed_after_four_microseconds() {
    let mut config = WifiConfig::new(Phy::A);
    config.category = Category::Dcf;
    for (apart, collide) in [(0.0, true), (3.9, true), (4.0, false), (8.9, false)] {
        let mut cell = Cell::new(&config, mbps(54.0), 1);
        let first = seconds(1.0);
        cell.push(first, 0, 1500);
        cell.run(first + us(apart));
        cell.push(first + us(apart), 1, 1500);
        // Frames of 248 us after a space of 34.
        let arrived = cell.run(first + us(apart + 34.0 + 248.0)).len();
        assert_eq!(arrived, usize::from(!collide), "{apart}");
    }
}
