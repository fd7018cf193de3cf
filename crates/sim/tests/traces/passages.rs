//! The passages of packets agree with the trace, the counts and the hash of the same trial, and parts of them with the whole.

use std::collections::BTreeMap;
use thalweg_path::{DropCause, Passage};
use thalweg_sim::{PassageRow, Passages, Progress, Scenario, Watch, run_trial, run_watched};
use thalweg_units::{Duration, Instant};

const PATHS: [(&str, &str); 7] = [
    ("drop-tail", "buffer = \"20 ms\"\n"),
    ("codel", "queue = { model = \"codel\", ecn = true }\n"),
    (
        "fq-codel",
        "queue = { model = \"fq-codel\" }\nloss = \"1 %\"\n",
    ),
    (
        "cake",
        "queue = { model = \"cake\", bandwidth = \"9 Mbps\", ack_filter = \"aggressive\" }\n",
    ),
    ("dualpi2", "queue = { model = \"dualpi2\" }\n"),
    (
        "step",
        "queue = { model = \"step\", threshold = \"10 packets\" }\n",
    ),
    (
        "wifi",
        "buffer = \"100 ms\"\njitter = { model = \"wifi\", mean = \"7 ms\" }\n",
    ),
];

/// Two flows of which one stays, so that packets wait and travel when the trial ends.
fn scenario(path: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\n{path}\
         [[flow]]\nname = \"main\"\ncontroller = \"prague\"\ndownload = \"2 MB\"\n\
         [[flow]]\nname = \"other\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n"
    );
    Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap()
}

fn passages(scenario: &Scenario, from: Instant, most: usize) -> Passages {
    let watch = Watch { from, most };
    run_watched(scenario, 3, watch, &Progress::default())
        .unwrap()
        .1
}

#[test]
fn what_waits_by_the_passages_is_what_the_trace_samples() {
    for (name, path) in PATHS {
        let scenario = scenario(path);
        let (outcome, trace) = run_trial(&scenario, 3, true);
        let trace = trace.unwrap();
        let (watched, all) = {
            let watch = Watch {
                from: Instant::START,
                most: usize::MAX,
            };
            run_watched(&scenario, 3, watch, &Progress::default()).unwrap()
        };
        assert_eq!(watched.outcome, outcome, "{name}");
        // The last of several samples of one instant stays.
        let samples: BTreeMap<_, _> = (trace.links.iter())
            .map(|row| {
                (
                    (row.time, row.link as usize),
                    (row.queue_packets, row.queue_bytes),
                )
            })
            .collect();
        assert!(samples.len() > 1000, "{name}");
        let mut busy = 0;
        for ((time, link), (packets, bytes)) in samples {
            let waiting: Vec<_> = (all.rows.iter())
                .filter(|row| row.link == link)
                .map(|row| row.passage)
                .filter(|passage| passage.entered <= time && time < passage.left)
                .collect();
            let sum: u64 = waiting.iter().map(|passage| passage.size.as_u64()).sum();
            assert_eq!(
                (waiting.len() as u32, sum),
                (packets, bytes.as_u64()),
                "{name} at {time}"
            );
            busy += u64::from(packets > 0);
        }
        assert!(busy > 100, "{name}: {busy}");
    }
}

#[test]
fn fates_are_those_that_the_links_count() {
    for (name, path) in PATHS {
        let scenario = scenario(path);
        let (outcome, trace) = run_trial(&scenario, 3, true);
        let all = passages(&scenario, Instant::START, usize::MAX);
        let end = all.until;
        for (index, link) in outcome.links.iter().enumerate() {
            let of = || {
                (all.rows.iter())
                    .filter(|row| row.link == index)
                    .map(|row| row.passage)
            };
            // The trial ends amid an instant: what arrives then may or may not have been taken.
            let arrived = |most: Instant| {
                of().filter(|p| p.end.is_ok_and(|time| time <= most))
                    .count() as u64
            };
            let delivered = arrived(end - Duration::from_nanos(1))..=arrived(end);
            assert!(
                delivered.contains(&link.delivered_packets),
                "{name} {index}"
            );
            let marked = of()
                .filter(|p| p.marked.is_some_and(|time| time <= end))
                .count() as u64;
            assert_eq!(marked, link.marked_packets, "{name} {index}");
        }
        let trace = trace.unwrap();
        let held = |passage: Passage| Some(passage.end.ok()? - passage.due?);
        let late = |row: &&PassageRow| row.passage.end.is_ok_and(|time| time < end);
        let delays = all
            .rows
            .iter()
            .filter(late)
            .filter_map(|row| held(row.passage));
        let delays = delays.filter(|delay| *delay > Duration::ZERO);
        let told = trace.held.iter().filter(|row| row.time < end);
        let (mut seen, mut told): (Vec<_>, Vec<_>) =
            (delays.collect(), told.map(|row| row.held).collect());
        seen.sort();
        told.sort();
        assert_eq!(seen, told, "{name}");
        assert_eq!(!told.is_empty(), name == "wifi", "{name}");
        let mut drops = trace.drops;
        drops.retain(|row| row.time <= end);
        let told = |lost: bool| {
            drops
                .iter()
                .filter(|row| (row.cause == DropCause::Lost) == lost)
                .count()
        };
        let seen = |lost: bool| {
            let ends = all.rows.iter().filter(|row| row.passage.gone() <= end);
            ends.filter(|row| {
                row.passage
                    .end
                    .err()
                    .is_some_and(|cause| (cause == DropCause::Lost) == lost)
            })
            .count()
        };
        assert_eq!(seen(false), told(false), "{name}");
        assert_eq!(told(true) > 0, name == "fq-codel", "{name}");
        assert!(
            told(false) > 0 || outcome.links[0].marked_packets > 0,
            "{name}"
        );
        assert_eq!(seen(true), told(true), "{name}");
    }
}

#[test]
fn a_part_has_the_rows_that_the_whole_has_of_it() {
    for (name, path) in PATHS {
        let scenario = scenario(path);
        let all = passages(&scenario, Instant::START, usize::MAX);
        for (from, most) in [(0, 1000), (700, 500), (1200, usize::MAX), (1300, 1)] {
            let from = Instant::START + Duration::from_millis(from);
            let part = passages(&scenario, from, most);
            let expected: Vec<_> = (all.rows.iter())
                .filter(|row| row.passage.gone() >= from && row.passage.entered < part.until)
                .copied()
                .collect();
            assert!(part.rows.len() <= most, "{name}");
            if part.until < all.until {
                assert_eq!(part.rows, expected, "{name} from {from}");
            } else {
                // To the end of the trial there are also packets that entered at its very end.
                assert!(part.rows.starts_with(&expected), "{name} from {from}");
            }
        }
    }
}

#[test]
fn a_limit_in_time_is_told_once() {
    let all = passages(&scenario(PATHS[0].1), Instant::START, 10);
    let of_link = |link: usize| all.limits.iter().filter(|row| row.link == link).count();
    assert_eq!((of_link(0), of_link(1)), (1, 1));
    assert_eq!(all.link_names.len(), 2);
    assert_eq!(all.flow_names, ["main", "other"]);
}

#[test]
fn the_rows_of_a_standing_queue_are_those_that_entered_first() {
    // 1 s of packets wait, and those that are dropped are the first whose fate is known.
    let text = "title = \"t\"\ntime_limit = \"8 s\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"1 s\"\n\
                [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\n";
    let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
    let from = Instant::START + Duration::from_secs(5);
    let all = passages(&scenario, from, usize::MAX);
    let waiting = (all.rows.iter()).filter(|row| row.passage.entered < from);
    let most = waiting.count() + 1;
    assert!(most > 400, "{most}");
    let part = passages(&scenario, from, most);
    assert!(part.until > from, "{}", part.until);
    assert!(part.rows.len() + 10 > most, "{}", part.rows.len());
    assert_eq!(part.rows, all.rows[..part.rows.len()]);
}

#[test]
fn any_number_is_a_time_to_watch_from() {
    let from = |seconds| Watch::from_seconds(seconds, 1).from;
    for none in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(from(none), Instant::START);
    }
    assert_eq!(from(1.5), Instant::START + Duration::from_millis(1500));
    assert!(from(f64::INFINITY) < Instant::NEVER);
}
