//! What limits a sender: flows of which one thing is known to do.

use super::audited::run_trial;
use thalweg_sim::{LimitedBy, Scenario};

/// The shares of one flow over 20 Mbps and 40 ms with a buffer of one BDP and these lines, in the order of
/// [`LimitedBy::ALL`].
fn shares(path: &str, flow: &str) -> [f64; 6] {
    let text = format!(
        "title = \"limits\"\ntime_limit = \"100 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n{path}\n\
         [[flow]]\nname = \"main\"\n{flow}\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "limits.toml", &[], &[]).expect("right");
    let (outcome, _) = run_trial(&scenario, 1, false);
    outcome.flows[0].limited.expect("a modelled endpoint")
}

fn share(shares: [f64; 6], by: LimitedBy) -> f64 {
    shares[by as usize]
}

#[test]
fn each_limit_is_found_where_it_alone_holds_a_sender_back() {
    let bulk = "download = \"20 MB\"";
    for (by, least, path, flow) in [
        // Acknowledgements clock a window-based sender, and a pacer one that follows a rate.
        (
            LimitedBy::Window,
            0.9,
            "",
            format!("controller = \"reno\"\n{bulk}"),
        ),
        (
            LimitedBy::Pacing,
            0.9,
            "",
            format!("controller = \"bbr\"\n{bulk}"),
        ),
        (
            LimitedBy::Pacing,
            0.9,
            "",
            format!("controller = \"cbr:rate=5Mbps\"\n{bulk}"),
        ),
        // 20 kB in a round trip of 40 ms are 4 Mbps of 20.
        (
            LimitedBy::FlowControl,
            0.6,
            "",
            format!("controller = \"reno\"\nreceive_window = \"20 kB\"\n{bulk}"),
        ),
        (
            LimitedBy::Application,
            0.8,
            "",
            "controller = \"cubic\"\ndownload = \"2 MB\"\napp_rate = \"1 Mbps\"".to_owned(),
        ),
        // From 1 to 9 s of about 15.
        (
            LimitedBy::Stalled,
            0.4,
            "[[path.change]]\nat = \"1 s\"\nrate = \"0 bps\"\n[[path.change]]\nat = \"9 s\"\nrate = \"20 Mbps\"",
            format!("controller = \"cubic\"\n{bulk}"),
        ),
        // 100 B: a handshake of a round trip and a half, and half of one for the data.
        (
            LimitedBy::Handshake,
            0.6,
            "",
            "controller = \"cubic\"\ndownload = \"100 B\"".to_owned(),
        ),
    ] {
        let found = shares(path, &flow);
        assert!(
            (least..=1.0).contains(&share(found, by)),
            "{by:?} {flow}: {found:?}"
        );
        let sum: f64 = found.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn a_limit_that_is_lifted_limits_no_more() {
    let flow = |window: &str| format!("controller = \"cubic\"\ndownload = \"20 MB\"\n{window}");
    // 100 kB are the BDP, which a buffer of one BDP doubles; 800 kB are four times as much.
    let limited = |window: &str| share(shares("", &flow(window)), LimitedBy::FlowControl);
    assert!(limited("receive_window = \"50 kB\"") > 0.4);
    assert_eq!(limited("receive_window = \"800 kB\""), 0.0);
    assert_eq!(limited(""), 0.0);
}
