//! Every call is short, however slow the link and however often its noise changes, and the result is the same.

use super::tests::packet;
use super::*;
use crate::test_packet::{TestPacket, at, ms};
use crate::{Change, NoiseConfig};
use proptest::prelude::*;
use thalweg_units::Bytes;
use thalweg_units::Rate;

/// A link on which a packet takes longer than `STRETCHES` intervals of noise.
fn slow_and_noisy(bits_per_sec: u64, sd: u64, every: Duration) -> LinkConfig {
    let mut config = LinkConfig::new(Rate::from_bits_per_sec(bits_per_sec), ms(3));
    config.noise = Some(NoiseConfig {
        rate_sd: Rate::from_bits_per_sec(sd),
        every,
        ..NoiseConfig::default()
    });
    config
}

#[test]
fn no_call_into_a_slow_link_with_noise_takes_long() {
    // At 1 bit/s a packet takes 8000 s, and there are 8 * 10^8 intervals to look at.
    let config = slow_and_noisy(1, 1, Duration::from_micros(10));
    let mut link = Link::<TestPacket>::new(&config, 1, 2);
    let mut longest = std::time::Duration::ZERO;
    let mut timed = |call: &mut dyn FnMut()| {
        let begin = std::time::Instant::now();
        call();
        longest = longest.max(begin.elapsed());
    };
    for number in 0..100 {
        timed(&mut || link.push(at(0), packet(number, 1000)));
    }
    for _ in 0..200 {
        let next = link.next().expect("packets wait");
        timed(&mut || assert!(link.pop(next).is_none()));
    }
    // Looking at all of them would take some 4 s; a busy machine may hold a call up for a tenth of that.
    assert!(longest.as_secs() < 2, "{longest:?}");
    assert_eq!((link.in_flight(), link.queue().packets), (1, 99));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    /// Transmissions computed in parts end when those computed at once do.
    #[test]
    fn a_long_transmission_ends_when_it_would_if_it_were_computed_at_once(
        rate in 500u64..4_000, sd in 1u64..6_000, every_us in 10u64..80,
        sizes in prop::collection::vec(1u64..250, 1..4),
        changes in prop::collection::vec((1u64..3_000, 0u64..3_000), 0..4),
        repeat in prop::option::of(3_000u64..5_000), seed: u64,
    ) {
        let mut config = slow_and_noisy(rate, sd, Duration::from_micros(every_us));
        let mut times: Vec<_> = changes;
        times.sort_unstable();
        config.changes = times.into_iter().map(|(at, rate)| Change {
            at: ms(at), rate: Some(Rate::from_bits_per_sec(rate)), ..Change::default()
        }).collect();
        config.repeat = repeat.map(ms);
        let mut punctual = Link::<TestPacket>::new(&config, seed, 2);
        let mut late = Link::<TestPacket>::new(&config, seed, 2);
        let (mut expected, mut free, mut credit) = (Vec::new(), at(0), 0);
        for (number, size) in (0..).zip(&sizes) {
            let course = punctual.course();
            let work = u128::from(nanobits(Bytes::new(*size)).saturating_sub(credit));
            let departure = course.depart(course.position_at(free), free, work);
            credit = departure.credit + credit.saturating_sub(nanobits(Bytes::new(*size)));
            free = departure.at;
            expected.push((number, free + ms(3)));
        }
        for (number, size) in (0..).zip(&sizes) {
            punctual.push(at(0), packet(number, *size));
            late.push(at(0), packet(number, *size));
        }
        let end = at(600_000);
        let expected: Vec<_> = expected.into_iter().filter(|(_, at)| *at <= end).collect();
        let mut seen = Vec::new();
        while let Some(now) = punctual.next().filter(|now| *now <= end) {
            // Nothing is delayed beyond the bound of the link.
            prop_assert!(now <= punctual.port.now() + punctual.course().patience());
            seen.extend(punctual.pop(now).map(|packet| (packet.number, now)));
        }
        prop_assert_eq!(&seen, &expected);
        let mut count = 0;
        while late.pop(end).is_some() {
            count += 1;
        }
        punctual.advance(end);
        prop_assert_eq!(count, expected.len());
        prop_assert_eq!(late.stats(), punctual.stats());
    }
}
