//! Contents of a trace, and their consistency.

use std::collections::HashMap;
use thalweg_sim::{PacketFate, Scenario, Trace, run_trial};

mod passages;
mod probe;

fn trace(scenario: &str) -> Trace {
    let scenario = Scenario::from_toml(scenario.as_bytes(), "trace.toml", &[], &[]).unwrap();
    run_trial(&scenario, 1, true).1.unwrap()
}

/// A bottleneck that drops.
const DOWNLOAD: &str = r#"
    title = "A download"
    [path]
    rate = "10 Mbps"
    rtt = "40 ms"
    buffer = "1 bdp"
    [[flow]]
    name = "main"
    controller = "cubic"
    download = "3 MB"
"#;

#[test]
fn bytes_in_flight_of_each_sample_follow_from_the_packets_until_then() {
    let senders = trace(DOWNLOAD).senders;
    let mut packets = senders.packets.iter().map(|(_, event)| event).peekable();
    let (mut in_flight, mut compared, mut lost) = (0, 0, 0);
    // Packets that the server sent before the handshake was complete are in flight, but not in the trace.
    let mut before = None;
    for row in &senders.samples {
        while let Some(event) = packets.next_if(|event| event.time <= row.time) {
            let size = event.size as i64;
            match event.fate {
                PacketFate::Sent => in_flight += size,
                PacketFate::Acknowledged => in_flight -= size,
                PacketFate::Lost => (in_flight, lost) = (in_flight - size, lost + 1),
            }
        }
        if in_flight != 0 {
            let shown = row.in_flight.unwrap().as_u64() as i64;
            let before = *before.get_or_insert(shown - in_flight);
            assert_eq!(shown - before, in_flight, "at {}", row.time);
            compared += 1;
        }
    }
    // A ServerFinished and a probe of the MTU.
    assert_eq!(before, Some(222 + 1440));
    // 3 MB are 2134 packets, and an ACK frame stands for two or more.
    assert!((100..=2134).contains(&compared), "{compared}");
    assert!(lost > 0);
}

#[test]
fn a_link_is_sampled_when_more_has_changed_than_the_packet_in_transmission() {
    let trace = trace(DOWNLOAD);
    let mut last = HashMap::new();
    for row in &trace.links {
        let shown = (
            (row.queue_bytes, row.queue_packets, row.capacity),
            (row.delivered, row.dropped, row.marked),
        );
        assert_ne!(last.insert(row.link, shown), Some(shown), "at {}", row.time);
    }
    // One when a packet arrives, at most one more when another leaves, of 2134 data packets and retransmissions.
    let down = trace.links.iter().filter(|row| row.link == 0).count();
    assert!((2134..=4700).contains(&down), "{down}");
}
