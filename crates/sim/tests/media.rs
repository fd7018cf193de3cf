//! Calls over paths that cannot carry them.

use proptest::prelude::*;
use std::time::Duration;
use thalweg_sim::{Scenario, run_trial};

/// A call of five seconds over `rate`, with random loss; it may last for 30 seconds.
fn thin(controller: &str, rate_kbps: u64, loss_percent: u64) -> Scenario {
    let text = format!(
        "title = \"thin\"\ntime_limit = \"30 s\"\n\
         [path]\nrate = \"{rate_kbps} kbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\nloss = {{ model = \"random\", rate = \"{loss_percent} %\" }}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ncall = \"5 s\"\n"
    );
    Scenario::from_toml(text.as_bytes(), "thin.toml", &[], &[]).unwrap()
}

#[test]
fn a_call_whose_last_datagrams_are_lost_ends_when_its_video_is_there() {
    for controller in ["c4", "cubic"] {
        let (outcome, _) = run_trial(&thin(controller, 1000, 0), 1, false);
        let completion = outcome.flows[0]
            .completion
            .expect("the video arrives in the end");
        let seconds = Duration::from_nanos(completion.as_nanos()).as_secs_f64();
        assert!((5.0..30.0).contains(&seconds), "{controller}: {seconds} s");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_call_over_any_path_is_complete_or_ends_with_the_time_limit(
        rate in 100u64..3000, loss in 0u64..20, seed in 1u64..100,
    ) {
        let (outcome, _) = run_trial(&thin("cubic", rate, loss), seed, false);
        let ended = outcome.flows[0].completion.unwrap_or(outcome.end);
        prop_assert!(ended.as_nanos() <= 30_000_000_000);
        prop_assert_eq!(outcome.flows[0].completion.is_none(), outcome.end.as_nanos() == 30_000_000_000);
    }
}
