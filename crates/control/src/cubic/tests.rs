//! What the options of CUBIC beyond RFC 9438 do: Cuback, ABE and Rate-Limited Increase, and the options of Reno likewise.

use crate::fake_transport::{Bottleneck, Flow};
use thalweg_units::{Bytes, Duration};

const RTT: Duration = Duration::from_millis(100);

/// A flow that filled windows of 10, 20, 40 and 80 packets.
fn grown(name: &str) -> Flow {
    let mut flow = Flow::new(name);
    for _ in 0..4 {
        flow.round(RTT);
    }
    flow.fill_window();
    flow
}

#[test]
fn abe_keeps_more_of_the_window_at_a_mark_than_at_a_loss() {
    // RFC 8511 section 3.1: beta_ecn is 0.85 for CUBIC and 0.8 for Reno; 160 packets are 136 and 128.
    for (name, marked, lost) in [
        ("cubic:abe=on,start=classic", 136.0, 112.0),
        ("reno:abe=on", 128.0, 80.0),
        ("cubic:start=classic", 112.0, 112.0),
        ("reno", 80.0, 80.0),
    ] {
        let mut flow = grown(name);
        let sent = flow.in_flight();
        flow.mark_ce(sent[0]);
        assert!(
            (flow.packets() - marked).abs() < 1e-3,
            "{name}: {}",
            flow.packets()
        );
        // Section 4.2: no response to a loss in the same round trip.
        flow.lose(sent[1]);
        assert!((flow.packets() - marked).abs() < 1e-3, "{name}");
        let mut flow = grown(name);
        flow.lose(flow.in_flight()[0]);
        assert!(
            (flow.packets() - lost).abs() < 1e-3,
            "{name}: {}",
            flow.packets()
        );
    }
}

/// The window after so many packets leave, pause and arrive, one flight after the other.
fn flights(name: &str, flights: &[usize]) -> f64 {
    let mut flow = Flow::new(name);
    for packets in flights {
        for _ in 0..*packets {
            flow.send();
        }
        flow.app_limited = true;
        flow.advance(RTT);
        for packet in flow.in_flight() {
            flow.ack(packet);
        }
    }
    flow.packets()
}

#[test]
fn the_example_of_the_draft_ends_with_a_window_of_twenty_packets() {
    // draft-ietf-ccwg-ratelimited-increase-11 section 3.1.2: 10 packets, a pause, 4 packets. Without a rule the window would be 24.
    for name in ["reno", "cubic:start=classic"] {
        let name = match name.contains(':') {
            true => format!("{name},rate_limited_increase=on"),
            false => format!("{name}:rate_limited_increase=on"),
        };
        assert_eq!(flights(&name, &[10]), 20.0, "{name}");
        assert_eq!(flights(&name, &[10, 4]), 20.0, "{name}");
        assert_eq!(flights(&name, &[10, 4, 15]), 30.0, "{name}");
    }
    // RFC 9002 section 7.8: an application-limited window does not grow at all.
    assert_eq!(flights("reno", &[10, 4, 15]), 20.0);
}

#[test]
fn in_congestion_avoidance_a_rate_limited_window_stays_a_packet_above_its_largest_flight() {
    let mut flow = grown("reno:rate_limited_increase=on");
    flow.lose(flow.in_flight()[0]);
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    assert_eq!(flow.packets(), 80.0);
    flow.app_limited = true;
    // draft-ietf-ccwg-ratelimited-increase-11 section 3: limit(maxFS) = SMSS + maxFS, and maxFS starts afresh with the reduction.
    for _ in 0..300 {
        for _ in 0..30 {
            flow.send();
        }
        flow.advance(RTT);
        for packet in flow.in_flight() {
            flow.ack(packet);
        }
    }
    let window = flow.packets();
    assert!((30.0..=81.0).contains(&window), "{window}");
    let largest = window;
    // A larger flight raises it again, by a packet each window.
    for _ in 0..5 {
        flow.app_limited = false;
        flow.round(RTT);
    }
    assert!(flow.packets() > largest, "{} {largest}", flow.packets());
}

#[test]
fn cuback_fills_a_bottleneck_as_cubic_does() {
    let delivered = |name: &str| {
        let mut path = Bottleneck::new(name, 50, 40, Bytes::new(250_000));
        path.run_for(Duration::from_secs(60));
        (path.flow.path.delivered.as_u64() as f64, path.dropped)
    };
    let (cubic, cuback) = (delivered("cubic"), delivered("cubic:variant=cuback"));
    assert!(
        (0.97..1.03).contains(&(cuback.0 / cubic.0)),
        "{cubic:?} {cuback:?}"
    );
    assert!(cuback.1 > 0);
}

#[test]
fn cuback_does_not_advance_while_nothing_is_acknowledged() {
    // CUBIC's clock is paused too, but only if the sender knows that it did not use its window.
    let pause = |name: &str| {
        let mut flow = grown(name);
        flow.lose(flow.in_flight()[0]);
        flow.advance(RTT);
        flow.ack_all(&flow.in_flight());
        flow.round(RTT);
        let before = flow.packets();
        flow.fill_window();
        flow.advance(Duration::from_secs(30));
        let sent = flow.in_flight();
        flow.ack_all(&sent[..1]);
        flow.packets() - before
    };
    let cuback = pause("cubic:variant=cuback,start=classic");
    assert!((0.0..=1.0).contains(&cuback), "{cuback}");
}

#[test]
fn cuback_restores_its_stage_when_a_loss_was_spurious() {
    // draft-kazuho-ccwg-cuback-00 section 3.2.
    let mut flow = grown("cubic:variant=cuback,start=classic");
    flow.lose(flow.in_flight()[0]);
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    for _ in 0..3 {
        flow.round(RTT);
    }
    flow.fill_window();
    let (window, k) = (flow.packets(), flow.variable("k"));
    let suspect = flow.in_flight()[0];
    flow.lose(suspect);
    assert!(flow.packets() < window);
    flow.spurious(suspect);
    assert_eq!((flow.packets(), flow.variable("k")), (window, k));
}
