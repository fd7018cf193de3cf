//! Calls over paths that cannot carry them.

use audited::run_trial;
use proptest::prelude::*;
use std::time::Duration;
use thalweg_sim::Scenario;

mod audited;

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

/// The whole call, whose RTT grows from 30 to 100 ms at 1 s, measured from `from` on.
fn longer_path(from: &str) -> Scenario {
    let text = format!(
        "title = \"longer\"\n[path]\nrate = \"100 Mbps\"\nrtt = \"30 ms\"\n\
         [[path.change]]\nat = \"1 s\"\nrtt = \"100 ms\"\n\
         [[flow]]\nname = \"main\"\ncontroller = \"c4\"\ncall = \"5 s\"\nmeasure_from = \"{from}\"\n"
    );
    Scenario::from_toml(text.as_bytes(), "longer.toml", &[], &[]).unwrap()
}

#[test]
fn audio_is_measured_from_the_start_of_measurement_as_video_is_and_the_way_of_the_reference_stands_beside_it()
 {
    let (late, _) = run_trial(&longer_path("2 s"), 1, false);
    let (whole, _) = run_trial(&longer_path("0 s"), 1, false);
    assert_eq!(late.trace_hash, whole.trace_hash);
    // Audio is asked for once, which took 15 ms, and then takes 50 ms; each group of video asks again: 100 ms. Before
    // the change both have 30 ms, for a fifth of the call.
    for (stream, per_second, after) in [("audio", 50, 65.0), ("video", 30, 100.0)] {
        let of = |outcome: &thalweg_sim::Outcome| {
            let mut streams = outcome.flows[0].media.iter();
            streams.find(|media| media.name == stream).cloned().unwrap()
        };
        let (late, whole) = (of(&late), of(&whole));
        assert_eq!(whole.frames, 5 * per_second, "{stream}");
        // The call begins when its client is ready, 30 ms and at most 1 ms of noise after 0, so that the frames of
        // 1.97 s and later are the frames of 2 s and later on the clock of the trial.
        assert!(
            (3 * per_second..=3 * per_second + 2).contains(&late.frames),
            "{stream}: {}",
            late.frames
        );
        let ms = |delay: Option<thalweg_units::Duration>| delay.unwrap().as_secs_f64() * 1e3;
        let mixed = 0.2 * 30.0 + 0.8 * after;
        assert!(
            (after - 0.1..after + 3.0).contains(&ms(late.mean_delay)),
            "{stream}: {:?}",
            late.mean_delay
        );
        assert!(
            (mixed - 1.0..mixed + 3.0).contains(&ms(whole.mean_delay)),
            "{stream}: {:?}",
            whole.mean_delay
        );
        assert_eq!(late.mean_delay_from_start, whole.mean_delay);
        assert_eq!(late.max_delay_from_start, whole.max_delay);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_call_over_any_path_is_complete_or_ends_with_the_time_limit(
        rate in 100u64..3000, loss in 0u64..20, seed in 1u64..100,
    ) {
        let (outcome, _) = run_trial(&thin("cubic", rate, loss), seed, false);
        // The trial waits for the close exchange, whose packets may be lost as well.
        let ended = outcome.flows[0].closed.unwrap_or(outcome.end);
        prop_assert!(ended.as_nanos() <= 30_000_000_000);
        prop_assert_eq!(outcome.flows[0].closed.is_none(), outcome.end.as_nanos() == 30_000_000_000);
    }
}

#[test]
fn the_time_that_a_call_shares_ends_with_the_call_also_where_its_last_datagrams_are_lost() {
    let text = b"title = \"two calls\"\n\
        [path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nloss = { model = \"random\", rate = \"3 %\" }\n\
        [[flow]]\nname = \"long\"\ncontroller = \"c4\"\ncall = \"3 s\"\n\
        [[flow]]\nname = \"short\"\ncontroller = \"c4\"\ncall = \"1 s\"\n";
    let scenario = Scenario::from_toml(text, "two.toml", &[], &[]).unwrap();
    let mut lossy = 0;
    for seed in 1..=6 {
        let (outcome, _) = run_trial(&scenario, seed, false);
        let short = &outcome.flows[1];
        let completion = short.completion.expect("it ends").as_secs_f64();
        let overlap = outcome.overlap.as_secs_f64();
        // Both start within a millisecond of noise.
        assert!(
            overlap <= completion && overlap > completion - 0.002,
            "seed {seed}: {overlap} s, {completion} s"
        );
        lossy += u32::from(completion > 1.5); // it has waited for datagrams that do not come
    }
    assert!(lossy >= 3, "{lossy}");
}
