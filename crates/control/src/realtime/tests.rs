//! What all real-time controllers do, whatever happens.

use crate::fake_transport::Flow;
use crate::fake_transport::any_events::{INIT, any_steps, stays_usable};
use proptest::prelude::*;
use thalweg_units::Rate;

const CONTROLLERS: [&str; 4] = ["screamv2", "screamv2:l4s=on", "nada", "gcc"];

proptest! {
    #[test]
    fn any_arrivals_and_events_leave_a_usable_decision_and_a_rate_of_the_range(steps in any_steps()) {
        for name in CONTROLLERS {
            let mut flow = Flow::named(name, &INIT);
            stays_usable(&mut flow, &steps)?;
            let rate = flow.controller.media_rate().unwrap();
            let range = Rate::from_bits_per_sec(150_000)..=Rate::from_bits_per_sec(1_500_000);
            prop_assert!(range.contains(&rate), "{name}: {rate}");
        }
    }
}

#[test]
fn they_want_to_know_when_packets_arrive_and_others_do_not() {
    for name in CONTROLLERS {
        assert!(Flow::new(name).controller.wants_arrivals(), "{name}");
    }
    for name in ["c4", "cubic", "bbr", "cbr"] {
        assert!(!Flow::new(name).controller.wants_arrivals(), "{name}");
        assert_eq!(Flow::new(name).controller.media_rate(), None, "{name}");
    }
}

#[test]
fn a_largest_rate_below_the_least_is_the_least() {
    for name in ["screamv2", "nada", "gcc"] {
        let flow = Flow::new(&format!("{name}:min_rate=2Mbps,max_rate=1Mbps"));
        assert_eq!(
            flow.controller.media_rate(),
            Some(Rate::from_bits_per_sec(2_000_000))
        );
    }
}
