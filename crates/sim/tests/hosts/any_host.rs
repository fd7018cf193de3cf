//! Any host on any path, under the auditor.

use super::{audited, read};
use proptest::prelude::*;
use thalweg_control::Purpose;
use thalweg_sim::run_trial;

fn host() -> impl Strategy<Value = String> {
    let model = prop::sample::select(vec!["ideal", "linux", "picoquic"]);
    let reads = prop::sample::select(vec!["each", "all", "50 us", "20 ms"]);
    let bundle = prop::sample::select(vec!["auto", "1 packet", "7 packets", "45 packets", "10 kB"]);
    let timer = prop::sample::select(vec!["0 s", "1 ms", "10 ms"]);
    let reports = prop::sample::select(vec!["each", "each", "1 rtt", "10 ms"]);
    (model, reads, bundle, any::<bool>(), timer, reports).prop_map(|(model, reads, bundle, pacing, timer, reports)| {
        format!(
            "host = {{ model = \"{model}\", reads = \"{reads}\", bundle = \"{bundle}\", pacing = {pacing}, timer = \"{timer}\", reports = \"{reports}\" }}\n"
        )
    })
}

fn path() -> impl Strategy<Value = String> {
    let queue = prop::sample::select(crate::lists::queues());
    let more = prop::sample::select(vec![
        "",
        "buffer = \"20 packets\"",
        "buffer = \"3 bdp\"",
        "buffer = \"120 ms\"\njitter = { model = \"wifi\", mean = \"7 ms\" }",
        "loss = \"2 %\"",
        "medium = \"half-duplex\"",
        "jitter = { model = \"wifi\", mean = \"7 ms\" }\nreorder = true",
        "change = [{ at = \"300 ms\", rate = \"0 bps\" }, { at = \"700 ms\", rate = \"3 Mbps\", rtt = \"5 ms\" }]",
        "policer = { rate = \"5 Mbps\", burst = \"80 kB\" }",
    ]);
    (500u64..200_000, 0u64..100, queue, more, any::<bool>()).prop_map(
        |(rate, rtt, queue, more, splits)| {
            let rtt = rtt.max(24_000_u64.div_ceil(rate)); // a buffer of 1 BDP holds two packets
            format!(
                "[path]\nrate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\nqueue = {queue}\nsplits = {splits}\n{more}\n"
            )
        },
    )
}

fn flows() -> impl Strategy<Value = String> {
    let controller = prop::sample::select(crate::lists::controllers(&[Purpose::Internet]));
    let workload = prop::sample::select(vec![
        "download = \"2 MB\"",
        "upload = \"1 MB\"",
        "call = \"2 s\"",
        "requests = { count = 5, mean_gap = \"100 ms\", p5 = \"2 kB\", p95 = \"200 kB\" }",
    ]);
    let one = (controller, workload, host());
    prop::collection::vec(one, 1..4).prop_map(|flows| {
        let flows = flows.into_iter().enumerate();
        let flows = flows.map(|(index, (controller, workload, host))| {
            format!(
                "[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\n{workload}\n{host}"
            )
        });
        flows.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_host_on_any_path_passes_the_audit_and_repeats(
        path in path(), flows in flows(), seed in 1u64..1000, rules in any::<bool>(), counted in any::<bool>(),
    ) {
        let acks = if counted { "counted" } else { "free" };
        let rules = if rules { "picoquic" } else { "rfc" };
        let text = format!(
            "title = \"t\"\ntime_limit = \"5 s\"\ntransport = {{ rules = \"{rules}\", acks = \"{acks}\" }}\n{path}{flows}"
        );
        let scenario = read(&text);
        let (plain, _) = run_trial(&scenario, seed, false);
        let (watched, _) = audited::run_trial(&scenario, seed, true);
        prop_assert_eq!(plain, watched, "{}", text);
    }
}
