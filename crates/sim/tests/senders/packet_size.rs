//! The packets of a flow have the size that its path carries, whoever sends and whatever steers it.

use super::audited::run_trial;
use crate::lists::controllers;
use thalweg_control::Purpose;
use thalweg_sim::Scenario;

/// Stream bytes for each numbered packet that arrived.
fn bytes_a_packet(stack: &str, controller: &str, direction: &str, loss: &str, seed: u64) -> f64 {
    let text = format!(
        "title = \"size\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nloss = \"{loss}\"\n\
         [[flow]]\nname = \"main\"\nstack = \"{stack}\"\ncontroller = \"{controller}\"\n{direction} = \"1 MB\"\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "size.toml", &[], &[]);
    let outcome = run_trial(&scenario.expect("a right scenario"), seed, false).0;
    let link = &outcome.links[usize::from(direction == "upload")];
    1e6 / (link.delivered_packets as f64)
}

#[test]
fn uploads_and_downloads_of_all_controllers_have_packets_of_the_path_mtu() {
    // Of 1440 bytes about 1400 are data, and 10 to 20 of 720 packets belong to the start; at 1252 bytes it would be 1210.
    let modelled = controllers(&[Purpose::Internet, Purpose::Background]);
    for (stack, controllers) in [("model", modelled), ("quic", vec!["cubic", "bbr"])] {
        for controller in controllers {
            for direction in ["upload", "download"] {
                let size = bytes_a_packet(stack, controller, direction, "0 %", 1);
                let what = format!("{stack}, {controller}, {direction}: {size}");
                assert!((1_330.0..1_405.0).contains(&size), "{what}");
            }
        }
    }
}

#[test]
fn a_lost_probe_does_not_decide_the_size_of_packets() {
    // All three probes are lost in one trial of 8000; a second one costs a round trip or two of smaller packets. What is
    // sent again counts twice: 5 % of the packets.
    for seed in 1..=40 {
        for direction in ["upload", "download"] {
            let size = bytes_a_packet("model", "bbr", direction, "5 %", seed);
            assert!(
                (1_300.0..1_405.0).contains(&size),
                "{direction}, {seed}: {size}"
            );
        }
    }
}
