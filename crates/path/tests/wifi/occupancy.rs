//! Whose the time of the medium was.

use crate::cell::{Cell, mbps, seconds, us};
use thalweg_path::wifi::{Heard, MediumUse, NeighbourConfig, Phy, ScanConfig, WifiConfig};
use thalweg_units::Duration;

fn all(used: &MediumUse) -> Duration {
    let of = &used.occupancy;
    of.ends[0] + of.ends[1] + of.neighbours + of.several + of.idle
}

/// Both ends send at random, so that there are collisions and times without any packet.
fn busy(config: &WifiConfig, span: f64) -> (Cell, MediumUse) {
    let mut cell = Cell::new(config, mbps(54.0), 11);
    let mut state = 1_u64;
    let mut time = seconds(0.0);
    loop {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        time += us((state >> 33) as f64 % 4000.0);
        if time > seconds(span) {
            break;
        }
        cell.run(time);
        cell.push(time, (state >> 60) as usize % 2, 40 + (state >> 40) % 1400);
    }
    cell.run(seconds(span));
    let used = cell.used(seconds(span));
    (cell, used)
}

#[test]
fn every_nanosecond_belongs_to_somebody_or_to_nobody() {
    for heard in [
        Heard::Both,
        Heard::AccessPoint,
        Heard::Client,
        Heard::Neither,
    ] {
        for bursts in [None, Some((us(20_000.0), us(50_000.0)))] {
            let mut config = WifiConfig::new(Phy::A);
            config.neighbours = vec![NeighbourConfig {
                heard,
                bursts,
                ..NeighbourConfig::saturated(3, us(700.0))
            }];
            let length = Duration::from_millis(100);
            config.scan = Some(ScanConfig {
                every: length * 7,
                length,
            });
            let span = 5.0;
            let (mut cell, used) = busy(&config, span);
            assert_eq!(all(&used), seconds(span) - seconds(0.0));
            // Each exchange is of one station: where several are in the air, the sum of the stations has more.
            let counters = cell.counters(seconds(span));
            let exchanges: Duration = counters.iter().map(|one| one.useful + one.wasted).sum();
            let occupied = seconds(span) - seconds(0.0) - used.occupancy.idle;
            let (least, most) = (occupied, occupied + used.occupancy.several * 4);
            // Five exchanges may be under way at the end, of 4 ms at most.
            assert!(exchanges + us(20_000.0) >= least && exchanges <= most + us(20_000.0));
            assert!(used.occupancy.several > Duration::ZERO);
            for end in [0, 1] {
                let share = counters[end].wasted.as_nanos() as f64 / span / 1e9;
                assert_eq!(used.failed[end] == 0, share == 0.0);
                assert!(used.attempts[end] >= counters[end].received + used.failed[end]);
            }
        }
    }
}

#[test]
fn a_station_alone_has_the_time_of_its_frames_and_of_their_acknowledgements() {
    let mut cell = Cell::new(&WifiConfig::new(Phy::Ac), mbps(65.0), 1);
    for place in 0..1000 {
        let time = seconds(0.0) + us(1000.0) * place;
        cell.run(time);
        cell.push(time, 1, 1500);
    }
    let used = cell.used(seconds(1.0));
    // 8 x (4 + 1540) + 22 bits are 48 symbols of 260 bits, 192 us after a preamble of 40 us; 16 + 28 us of acknowledgement.
    let expected = us(40.0 + 192.0 + 16.0 + 28.0) * 1000;
    assert_eq!(used.occupancy.ends, [Duration::ZERO, expected]);
    assert_eq!(used.occupancy.idle, us(1e6) - expected);
    assert_eq!(
        used.occupancy.several + used.occupancy.neighbours,
        Duration::ZERO
    );
    assert_eq!((used.attempts, used.failed), ([0, 1000], [0, 0]));
}

#[test]
fn saturated_neighbours_collide_for_the_time_that_their_frames_overlap() {
    // All hear each other and have frames of one length: who collides begins in one slot, so the overlap is a frame but for a slot.
    let mut config = WifiConfig::new(Phy::A);
    (config.attempts, config.packets) = (u32::MAX, 1);
    config.neighbours = vec![NeighbourConfig::saturated(5, us(1000.0))];
    let mut cell = Cell::new(&config, mbps(54.0), 3);
    let used = cell.used(seconds(20.0));
    let counters = cell.counters(seconds(20.0));
    let wasted: Duration = counters.iter().map(|one| one.wasted).sum();
    // Mostly two at a time, and sometimes three, whose time counts once here and three times there.
    let of_two = used.occupancy.several.as_nanos() as f64 * 2.0 / wasted.as_nanos() as f64;
    assert!((0.85..=1.0).contains(&of_two), "{of_two}");
    let useful: Duration = counters.iter().map(|one| one.useful).sum();
    let alone = used.occupancy.neighbours.as_nanos() as f64 / useful.as_nanos() as f64;
    assert!((0.999..1.01).contains(&alone), "{alone}");
}
