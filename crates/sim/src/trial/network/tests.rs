//! What the event loop does in one event, which the outcome of a trial does not show.

use super::Network;
use crate::outcome::trace::Record;
use crate::scenario::Scenario;
use std::sync::atomic::AtomicBool;

/// A trial at its start.
fn network(text: &str) -> Network {
    let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
    Network::new(&scenario, 1, Record::Nothing, &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_link_that_nothing_leaves_returns_to_the_event_loop() {
    let mut network = network(
        "title = \"t\"\ntime_limit = \"10000 s\"\n[path]\nrate = \"1 kbps\"\nrtt = \"50 ms\"\nbuffer = \"100 kB\"\n\
         noise = { rate_sd = \"100 bps\", every = \"10 us\" }\n\
         [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"9 kB\"\n",
    );
    let go_on = AtomicBool::new(false);
    for _ in 0..100 {
        let before = network.events;
        assert!(network.advance(1, &go_on).is_ok());
        let events = network.events - before;
        assert!(events <= 10, "{events} events, at {}", network.now);
    }
}

#[test]
fn a_bulk_sender_runs_ahead() {
    let mut network = network(
        "title = \"t\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"50 ms\"\nbuffer = \"100 kB\"\n\
         [[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n",
    );
    assert!(network.advance(u64::MAX, &AtomicBool::new(false)).is_ok());
    let (steps, packets) = (network.steps_ahead, 1_000_000 / 1500);
    assert!(steps > packets / 4, "{steps} steps ahead");
}
