use super::*;
use crate::fake_transport::Flow;

const INIT: Init = crate::fake_transport::INIT;

/// A controller at so many bits per second.
fn at(rate: f64) -> Nada {
    let rates = Rates {
        min: Rate::from_bits_per_sec(150_000),
        max: Rate::from_bits_per_sec(1_500_000),
        start: Rate::from_bits_per_sec(150_000),
        besides: Rate::ZERO,
    };
    Nada {
        mtu: INIT.mtu,
        rates,
        priority: 1.0,
        rate,
        feedback: Feedback::default(),
        signal: Signal::new(INIT.now),
        before: 0.0,
        mode: Mode::Gradual,
        updated: INIT.now,
        in_flight: MOST_SIGNAL,
        marks: 0,
    }
}

#[test]
fn the_gradual_update_is_that_of_equations_5_to_7() {
    let mut nada = at(500_000.0);
    nada.before = 0.02;
    nada.update_gradually(0.04, DELTA);
    // RFC 8698 section 4.3: x_offset = 40 - 10 * 3 = 10 ms, x_diff = 20 ms;
    // 1 - 0.5 * 100/500 * 10/500 - 0.5 * 2 * 20/500 = 1 - 0.002 - 0.04
    assert_eq!(nada.rate, 479_000.0);
    // In equilibrium, at x = XREF * RMAX / r = 30 ms and without change, it stays.
    let mut nada = at(500_000.0);
    nada.before = 0.03;
    nada.update_gradually(0.03, DELTA);
    assert!((nada.rate - 500_000.0).abs() <= 1.0, "{}", nada.rate);
    // A flow of twice the priority has its equilibrium at twice the signal.
    let mut nada = at(500_000.0);
    (nada.before, nada.priority) = (0.06, 2.0);
    nada.update_gradually(0.06, DELTA);
    assert!((nada.rate - 500_000.0).abs() <= 1.0, "{}", nada.rate);
}

#[test]
fn without_a_queue_the_rate_ramps_up_over_what_arrives_and_no_further() {
    let mut flow = Flow::new("nada");
    let mut rates = Vec::new();
    for _ in 0..400 {
        let packet = flow.send();
        flow.advance(Duration::from_millis(10));
        flow.ack(packet);
        rates.push(flow.controller.media_rate().unwrap());
    }
    assert_eq!(flow.state(), "accelerated ramp-up");
    // 1000 bytes each 10 ms are 800 kbps, of half a second with both its ends 816 kbps; RTT + DELTA + DFILT = 230 ms,
    // of which 50 ms are 0.217 (equations 3 and 4).
    let last = rates.last().unwrap().as_bits_per_sec() as f64;
    let expected = 816_000.0 * (1.0 + 0.05 / 0.23);
    assert!((last - expected).abs() < 1_000.0, "{last} {expected}");
    assert!(rates.is_sorted());
}

#[test]
fn what_arrives_is_the_same_however_long_its_report_takes() {
    for back in [0, 10, 100, 300, 700] {
        let mut flow = Flow::new("nada");
        for _ in 0..200 {
            let packet = flow.send();
            let arrival = Arrival {
                packet,
                size: crate::fake_transport::MTU,
                sent: flow.now,
                arrived: flow.now,
            };
            flow.advance(Duration::from_millis(back));
            flow.call(|controller, cx| controller.on_arrival(&arrival, cx));
            flow.ack(packet);
            flow.now = arrival.sent + Duration::from_millis(10);
        }
        // As above: 816 kbps, by the receiver's clock.
        assert_eq!(flow.variable("r_recv"), Some(816_000.0), "{back} ms");
    }
}

#[test]
fn a_timeout_halves_the_rate_and_persistent_congestion_takes_it_to_the_least() {
    let mut flow = Flow::of(Box::new(at(800_000.0)), &INIT);
    let rate = |flow: &Flow<Nada>| flow.controller.media_rate().unwrap().as_bits_per_sec();
    flow.send();
    flow.timeout();
    assert_eq!(rate(&flow), 400_000);
    let packet = flow.send();
    flow.lose_persistently(packet);
    assert_eq!(rate(&flow), 150_000);
}
