//! Any sequence of events leaves any controller of the BBR family with a usable decision.

use crate::fake_transport::Flow;
use crate::fake_transport::any_events::{INIT, any_steps, stays_usable};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_sequence_of_events_leaves_a_window_a_quantum_and_a_pacing_rate(steps in any_steps()) {
        for spec in ["bbr", "bbr:ecn", "bbr1"] {
            stays_usable(&mut Flow::named(spec, &INIT), &steps)?;
        }
    }
}
