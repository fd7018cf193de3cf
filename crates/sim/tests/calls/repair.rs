//! Loss repaired as media do it: by retransmission within a deadline, and by packets of repair.

use super::run_trial;
use thalweg_sim::{MediaOutcome, Outcome, Scenario};

/// A call of one stream of datagrams with these keys over a path with these keys.
fn call(path: &str, keys: &str) -> Scenario {
    let text = format!(
        "title = \"repair\"\noverhead = \"0 B\"\ntime_limit = \"400 s\"\n\
         [noise]\nwakeup = \"0 s\"\n[path]\nbuffer = \"1 s\"\n{path}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"cbr:rate=20Mbps\"\n\
         [[flow.media]]\nname = \"video\"\ncarriage = \"datagrams\"\nper_second = 50\n{keys}\n"
    );
    Scenario::from_toml(text.as_bytes(), "repair.toml", &[], &[]).expect("a right scenario")
}

/// Frames of five packets, 5 750 bytes, 50 times a second.
const FIVE: &str = "rate = { least = \"2.3 Mbps\", most = \"2.3 Mbps\", variation = \"0 %\" }\ndeadline = \"150 ms\"";

fn played(scenario: &Scenario) -> (Outcome, MediaOutcome) {
    let outcome = run_trial(scenario, 1, false).0;
    let media = outcome.flows[0].media[0].clone();
    (outcome, media)
}

/// The chance that at most `most` of `n` packets are lost, each with the chance `p`.
fn at_most(most: u32, n: u32, p: f64) -> f64 {
    let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
    let lost = |k: u32| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
    (0..=most).map(lost).sum()
}

#[test]
fn a_frame_is_lost_as_often_as_more_packets_of_it_are_than_those_of_repair() {
    let frames = 10_000.0;
    let one = "frame = \"100 B\"\ndeadline = \"150 ms\"";
    // Frames of 2300 and of 2400 bytes: two packets, and three of which the last has 100 bytes.
    let two = FIVE.replace("2.3 Mbps", "920 kbps");
    let three = FIVE.replace("2.3 Mbps", "960 kbps");
    for (keys, packets, fec, repair) in [
        (FIVE, 5, "", 0),
        (FIVE, 5, "repair = { fec = \"20 %\" }", 1),
        (FIVE, 5, "repair = { fec = \"21 %\" }", 2),
        (FIVE, 5, "repair = { fec = \"60 %\" }", 3),
        (one, 1, "repair = { fec = \"1 %\" }", 1),
        (&two, 2, "repair = { fec = \"20 %\" }", 1),
        (&three, 3, "repair = { fec = \"20 %\" }", 1),
    ] {
        for p in [0.02, 0.1] {
            let path = format!("rate = \"100 Mbps\"\nrtt = \"20 ms\"\nloss = \"{p}\"");
            let (_, media) = played(&call(
                &path,
                &format!("{keys}\nduration = \"200 s\"\n{fec}"),
            ));
            let lost = media.undelivered as f64;
            let expected = frames * (1.0 - at_most(repair, packets + repair, p));
            // Four standard deviations of a binomial, on both sides, and two frames where it is nearly zero.
            let within = 4.0 * (expected * (1.0 - expected / frames)).sqrt() + 2.0;
            assert!(
                (lost - expected).abs() < within,
                "{fec}, {p}: {lost} of {expected}"
            );
            let repaired = (repair > 0).then_some(media.repaired.unwrap_or(0));
            assert_eq!(media.repaired, repaired, "{fec}");
            assert!(repaired.is_none_or(|repaired| repaired > 100), "{fec}, {p}");
        }
    }
}

#[test]
fn without_loss_repair_costs_its_share_and_delays_nothing() {
    let path = "rate = \"100 Mbps\"\nrtt = \"20 ms\"";
    let keys = format!("{FIVE}\nduration = \"20 s\"");
    let (bare_trial, bare) = played(&call(path, &keys));
    for (fec, packets) in [("20 %", 1_u64), ("40 %", 2), ("100 %", 5)] {
        let keys = format!("{keys}\nrepair = {{ retransmit = true, fec = \"{fec}\" }}");
        let (trial, media) = played(&call(path, &keys));
        assert_eq!((media.repaired, media.undelivered), (Some(0), 0), "{fec}");
        // 1000 frames, each with so many packets of 1150 bytes.
        let bytes = media.repair_bytes.expect("it has repair").as_u64();
        assert_eq!(bytes, 1_000 * packets * 1_150, "{fec}");
        let of_media = media.media_rate.unwrap();
        assert_eq!(Some(of_media), bare.media_rate);
        assert_eq!(
            trial.flows[0].bytes_delivered,
            bare_trial.flows[0].bytes_delivered
        );
        // What repair sent was sent after the frame, and the next comes 20 ms later: 5 packets need 0.5 ms.
        assert_eq!(
            (media.mean_delay, media.max_delay),
            (bare.mean_delay, bare.max_delay),
            "{fec}"
        );
    }
}

#[test]
fn what_is_lost_comes_a_round_trip_later_and_only_within_the_deadline() {
    let frames = 1_000;
    for (rtt, deadline, comes) in [(40, 250, true), (40, 30, false), (200, 150, false)] {
        let path = format!("rate = \"100 Mbps\"\nrtt = \"{rtt} ms\"\nloss = \"3 %\"");
        let keys = |repair: &str| {
            let keys = FIVE.replace("150 ms", &format!("{deadline} ms"));
            format!("{keys}\nduration = \"20 s\"\n{repair}")
        };
        let (_, bare) = played(&call(&path, &keys("")));
        let (_, media) = played(&call(&path, &keys("repair = { retransmit = true }")));
        let (repaired, bytes) = (
            media.repaired.unwrap(),
            media.repair_bytes.unwrap().as_u64(),
        );
        assert_eq!(media.frames + media.undelivered, frames);
        // 1 - 0.97^5 = 14 % of the frames lose a packet.
        assert!(
            (100..190).contains(&bare.undelivered),
            "{}",
            bare.undelivered
        );
        if !comes {
            assert_eq!((repaired, bytes), (0, 0), "{rtt} ms, {deadline} ms");
            assert_eq!(media.undelivered, bare.undelivered);
            continue;
        }
        // Of 5 000 packets 150 are lost: four standard deviations are 48. Of those sent again 3 % are lost again.
        assert!((100..200).contains(&repaired), "{repaired}");
        let sent = bytes / 1_150;
        assert!(
            (repaired..repaired + 20).contains(&sent),
            "{sent}, {repaired}"
        );
        assert!(media.undelivered <= 2, "{}", media.undelivered);
        assert_eq!(media.late, 0);
        // A request, and one way: a round trip. What is lost is known one later, with the next frame, and comes in half.
        let most = media.max_delay.unwrap().as_millis();
        assert!((2 * rtt..=5 * rtt).contains(&most), "{most}");
        assert_eq!(media.p50_delay, bare.p50_delay);
    }
}

#[test]
fn what_error_correction_repairs_is_not_sent_again() {
    let path = "rate = \"100 Mbps\"\nrtt = \"40 ms\"\nloss = \"5 %\"";
    let bytes = |repair: &str| {
        let keys = format!("{FIVE}\nduration = \"100 s\"\nrepair = {{ {repair} }}");
        let media = played(&call(path, &keys)).1;
        (media.repair_bytes.unwrap().as_u64(), media.undelivered)
    };
    let (fec, lost) = bytes("fec = \"20 %\"");
    let (both, left) = bytes("fec = \"20 %\", retransmit = true");
    // 164 of 5 000 frames lose two or more of their six packets; after the first loss nothing is sent again, which would
    // be 6 * 5 000 * 5 % = 1 500 packets.
    let again = (both - fec) / 1_150;
    assert!((100..260).contains(&lost), "{lost}");
    assert!(
        (lost..lost + 60).contains(&again),
        "{again} for {lost} frames"
    );
    assert!(left <= 3, "{left}");
}

#[test]
fn what_cannot_leave_before_the_deadline_is_dropped() {
    // A packet of 1184 bytes needs 95 ms at 100 kbps. A loss is known after some 85 ms, by the probe of a timeout, or with
    // the next frame; then the deadline is at most 5 ms away, and its turn 10 ms. Only a second probe may bring it in time.
    let text = |repair: &str| {
        format!(
            "title = \"slow\"\noverhead = \"0 B\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\nloss = \"20 %\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"cbr:rate=100kbps\"\n\
             [[flow.media]]\nname = \"video\"\ncarriage = \"datagrams\"\nper_second = 10\nduration = \"60 s\"\n\
             frame = \"1150 B\"\ndeadline = \"90 ms\"\n{repair}\n"
        )
    };
    let read = |repair: &str| {
        Scenario::from_toml(text(repair).as_bytes(), "slow.toml", &[], &[]).expect("right")
    };
    let without = played(&read("")).1;
    let with = played(&read("repair = { retransmit = true }")).1;
    let lost = without.undelivered;
    assert!((80..160).contains(&lost), "{lost}");
    // A fifth of what is sent again is lost again; most is not sent at all.
    let sent = with.repair_bytes.unwrap().as_u64() / 1_150;
    assert!((1..lost / 3).contains(&sent), "{sent} of {lost}");
    assert!(
        (sent / 2..=sent).contains(&with.repaired.unwrap()),
        "{sent}"
    );
    // With time enough all of it is.
    let patient = text("repair = { retransmit = true }").replace("90 ms", "2 s");
    let patient = Scenario::from_toml(patient.as_bytes(), "slow.toml", &[], &[]).expect("right");
    let sent = played(&patient).1.repair_bytes.unwrap().as_u64() / 1_150;
    assert!(
        (lost * 9 / 10..2 * lost).contains(&sent),
        "{sent} of {lost}"
    );
}
