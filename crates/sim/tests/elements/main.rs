//! Elements of a path under real flows: what a sender sees of them, and what is refused.

#[path = "../audited/mod.rs"]
mod audited;
mod cake;
mod ecn;
mod handover;
mod holding;
mod loss;
mod medium;
mod propagation;
mod refusals;
mod tunnels;
mod wifi;

use thalweg_sim::{Outcome, Scenario};

/// Long flows on 20 Mbps and 40 ms for 10 s, with these lines of the path.
fn flows(lines: &str, controllers: &[&str]) -> Outcome {
    let mut text = format!(
        "title = \"elements\"\ntime_limit = \"10 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n{lines}\n"
    );
    for (index, controller) in controllers.iter().enumerate() {
        text += &format!(
            "[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "elements.toml", &[], &[]);
    audited::run_trial(&scenario.expect("a right scenario"), 1, false).0
}
