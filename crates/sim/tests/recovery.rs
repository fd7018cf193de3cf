//! After any disturbance of the path, every controller fills a clean link again.

use crate::lists::controllers;
use audited::run_trial;
use proptest::prelude::*;
use thalweg_control::Purpose;
use thalweg_sim::Scenario;

mod audited;

/// The disturbances end here ...
const CLEAN_FROM: u64 = 4;
/// ... and this much later the link must be in full use: two ProbeRTT intervals of BBRv1.
const WITHIN: u64 = 20;
/// Over a span of this length.
const MEASURED: u64 = 10;

/// One change of the path during the disturbance: rate in kbps, RTT and jitter in milliseconds.
type Disturbance = (u64, u64, u64);

fn scenario(controller: &str, disturbances: &[Disturbance], seconds: u64) -> Scenario {
    let mut text = String::from(
        "title = \"t\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"80 ms\"\n",
    );
    let step = CLEAN_FROM * 1000 / (disturbances.len() as u64 + 1);
    for (index, (rate, rtt, jitter)) in disturbances.iter().enumerate() {
        let at = step * (index as u64 + 1);
        text += &format!(
            "[[path.change]]\nat = \"{at} ms\"\nrate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\njitter = {{ model = \"wifi\", mean = \"{jitter} ms\" }}\n"
        );
    }
    text += &format!(
        "[[path.change]]\nat = \"{CLEAN_FROM} s\"\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\njitter = {{ model = \"none\" }}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\n"
    );
    let text = format!("time_limit = \"{seconds} s\"\n{text}");
    Scenario::from_toml(text.as_bytes(), "recovery.toml", &[], &[]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_controller_is_back_at_nine_tenths_of_a_clean_link_within_twenty_seconds(
        disturbances in prop::collection::vec(
            (prop_oneof![Just(0u64), 500u64..40_000], 4u64..300, 0u64..30), 1..5),
        seed in 1u64..1000,
    ) {
        // A constant rate fills what it is told to; for LEDBAT++ a route that was shorter once stays the base for ten minutes.
        // Controllers of media grow by what an encoder may add in a second, not to fill a link: tests/calls has their outages.
        for name in controllers(&[Purpose::Internet, Purpose::DataCenter]) {
            let begin = CLEAN_FROM + WITHIN;
            let delivered = |seconds| {
                let scenario = scenario(name, &disturbances, seconds);
                run_trial(&scenario, seed, false).0.flows[0].bytes_delivered.as_u64()
            };
            let bytes = delivered(begin + MEASURED) - delivered(begin);
            // 1406 of 1468 bytes (1440 and 28 of IP and UDP) are data
            let clean = 10_000_000 / 8 * MEASURED * 1406 / 1468;
            prop_assert!(
                bytes * 10 >= clean * 9 && bytes <= clean * 101 / 100,
                "{name}: {bytes} of {clean} bytes"
            );
        }
    }
}
