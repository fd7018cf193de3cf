use crate::event::Arrival;
use crate::fake_transport::Flow;
use thalweg_units::Duration;

/// Acknowledges a packet of 1250 bytes each 20 ms, 500 kbps, each of which takes so much longer than the one before
/// as `longer` says, in microseconds; the states that the controller shows.
fn drive(flow: &mut Flow, packets: u64, longer: u64) -> Vec<&'static str> {
    let mut states = Vec::new();
    for number in 0..packets {
        let packet = flow.send();
        let sent = flow.now;
        flow.advance(Duration::from_millis(20));
        let arrival = Arrival {
            packet,
            size: thalweg_units::Bytes::new(1_250),
            sent,
            arrived: sent + Duration::from_millis(50) + Duration::from_micros(longer * number),
        };
        flow.call(|controller, cx| controller.on_arrival(&arrival, cx));
        flow.ack(packet);
        states.push(flow.state());
    }
    states
}

#[test]
fn a_steady_delay_lets_the_rate_grow_by_eight_percent_a_second() {
    let mut flow = Flow::new("gcc:min_rate=100kbps");
    let states = drive(&mut flow, 250, 0);
    assert!(states.iter().all(|state| *state == "increase"));
    // GCC draft section 5.5: 100 kbps * 1.08^5 after 5 s
    let rate = flow.variable("a_hat").unwrap();
    assert!((rate / 146_933.0 - 1.0).abs() < 0.001, "{rate}");
}

#[test]
fn the_rate_stays_below_one_and_a_half_of_what_arrives() {
    let mut flow = Flow::new("gcc:min_rate=100kbps,max_rate=10Mbps");
    drive(&mut flow, 1_500, 0);
    // 25 or 26 packets of 10 000 bit in half a second
    let rate = flow.variable("a_hat").unwrap();
    assert!((750_000.0..=780_000.0).contains(&rate), "{rate}");
}

#[test]
fn a_growing_delay_is_overuse_and_leaves_085_of_what_arrives() {
    let mut flow = Flow::new("gcc:min_rate=100kbps");
    drive(&mut flow, 1_500, 0);
    // The queue grows by 5 ms in each 20 ms: a fifth less arrives than is sent.
    let states = drive(&mut flow, 40, 5_000);
    assert!(states.contains(&"decrease"));
    let (rate, received) = (
        flow.variable("a_hat").unwrap(),
        flow.variable("r_hat").unwrap(),
    );
    assert!(rate < 0.86 * 510_000.0, "{rate} of {received}");
    // Without the gain of WebRTC, a change of 5 ms is below the threshold of 12.5 ms, or what it has fallen to, 6.
    let mut flow = Flow::new("gcc:min_rate=100kbps,gain=1");
    drive(&mut flow, 1_500, 0);
    let states = drive(&mut flow, 40, 5_000);
    assert!(!states.contains(&"decrease"));
}
