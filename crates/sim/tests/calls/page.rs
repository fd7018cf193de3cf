//! The table of the page of controllers: what the real-time controllers do on the paths of RFC 8867.

use super::{Case, REAL_TIME, mean_kbps, video};

const PAGE: &str = include_str!("../../../../docs/reference/controllers.md");

/// Means over seeds 1 to 3 of what a case has for a controller, and of the rate of its media.
fn means(of: impl Fn(u64) -> Vec<f64>) -> Vec<f64> {
    let runs: Vec<Vec<f64>> = (1..=3).map(of).collect();
    (0..runs[0].len())
        .map(|column| runs.iter().map(|run| run[column]).sum::<f64>() / 3.0)
        .collect()
}

fn changing(controller: &str, rate: &str) -> Vec<f64> {
    means(|seed| {
        let case = Case::on_path(1_000, 100)
            .change(40, 2_500)
            .change(60, 600)
            .change(80, 1_000)
            .call(controller, 0, 99, "");
        let (outcome, trace) = case.run(seed);
        let (video, audio) = (video(&outcome, 0), &outcome.flows[0].media[1]);
        let mean = |span| mean_kbps(&trace, 0, rate, span);
        vec![
            mean((30, 40)),
            mean((50, 60)),
            mean((70, 80)),
            mean((90, 99)),
            outcome.links[0].mean_queue_delay.as_secs_f64() * 1e3,
            video.p95_delay.unwrap().as_secs_f64() * 1e3,
            video.frozen.as_secs_f64(),
            audio.mos.unwrap(),
        ]
    })
}

fn three(controller: &str, rate: &str) -> Vec<f64> {
    means(|seed| {
        let case = Case::on_path(3_500, 120)
            .call(controller, 0, 119, "")
            .call(controller, 20, 99, "")
            .call(controller, 40, 79, "");
        let (outcome, trace) = case.run(seed);
        let mut values = vec![outcome.links[0].mean_queue_delay.as_secs_f64() * 1e3];
        values.extend([0, 1, 2].map(|flow| mean_kbps(&trace, flow, rate, (90, 119))));
        values
    })
}

fn two(controller: &str, rate: &str) -> Vec<f64> {
    means(|seed| {
        let case = Case::on_path(1_000, 120)
            .call(controller, 0, 119, "")
            .call(controller, 10, 109, "");
        let (_, trace) = case.run(seed);
        let mut rates = [0, 1].map(|flow| mean_kbps(&trace, flow, rate, (60, 119)));
        rates.sort_unstable_by(f64::total_cmp);
        rates.to_vec()
    })
}

#[test]
fn the_table_of_the_page_has_the_numbers_of_these_cases() {
    let mut columns = Vec::new();
    for name in ["screamv2", "nada", "gcc"] {
        let (_, rate) = REAL_TIME
            .into_iter()
            .find(|(known, _)| *known == name)
            .unwrap();
        let (one, three, two) = (changing(name, rate), three(name, rate), two(name, rate));
        let [a, b, c, d, queue, p95, frozen, mos] = one[..] else {
            unreachable!()
        };
        columns.push([
            format!("{a:.0} kbps"),
            format!("{b:.0} kbps"),
            format!("{c:.0} kbps"),
            format!("{d:.0} kbps"),
            format!("{queue:.0} ms"),
            format!("{p95:.0} ms"),
            format!("{frozen:.2} s"),
            format!("{mos:.1}"),
            format!("{:.0}, {:.0}, {:.0} kbps", three[1], three[2], three[3]),
            format!("{:.0} ms", three[0]),
            format!("{:.0}, {:.0} kbps", two[0], two[1]),
        ]);
    }
    let rows = [
        "5.1: 30 to 40 s, 1 Mbps",
        "50 to 60 s, 2.5 Mbps",
        "70 to 80 s, 0.6 Mbps",
        "90 to 99 s, 1 Mbps",
        "mean delay of the queue",
        "p95 delay of video",
        "time in freezes",
        "mean opinion score of audio",
        "5.4: last 29 s of three on 3.5 Mbps",
        "mean delay of the queue",
        "two on 1 Mbps: the smaller and the larger, 60 to 119 s",
    ];
    let lines = rows.iter().enumerate().map(|(row, name)| {
        let cells: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
        format!("| {name} | {} |", cells.join(" | "))
    });
    let missing: Vec<String> = lines.filter(|line| !PAGE.contains(line)).collect();
    assert!(
        missing.is_empty(),
        "the page should have:\n{}",
        missing.join("\n")
    );
}
