//! Criteria on links on the way of a flow.

use super::audited::run_trial;
use thalweg_sim::Scenario;

const PATH: &str = "rate = \"65 Mbps\"\nrtt = \"20 ms\"";
const WIFI: &str = "medium = { model = \"wifi\", preset = \"home\" }\n";

/// A download over hops with these names and lines, and one over another hop, with this criterion.
fn text(medium: &str, pass: &str) -> String {
    format!(
        "title = \"links\"\ntime_limit = \"20 s\"\n[[link]]\nname = \"wire\"\n{PATH}\n[[link]]\nname = \"air\"\n{PATH}\n{medium}[[link]]\nname = \"far\"\n{PATH}\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"1 MB\"\nroute = [\"wire\", \"air\"]\n[[pass]]\nflow = \"main\"\n{pass}\n"
    )
}

fn read(text: &str) -> Result<Scenario, String> {
    let read = Scenario::from_toml(text.as_bytes(), "links.toml", &[], &[]);
    read.map_err(|error| error.to_string())
}

#[test]
fn a_criterion_on_a_link_has_the_number_of_that_link() {
    for link in ["air", "air up"] {
        for metric in [
            "link-airtime",
            "link-airtime-of-neighbours",
            "link-airtime-of-several",
            "link-airtime-idle",
            "link-failed-attempts",
            "link-utilisation",
            "link-mean-queue-delay",
            "link-dropped",
        ] {
            let bound = if metric.ends_with("delay") {
                "1 s"
            } else {
                "90 %"
            };
            let pass = format!("link = \"{link}\"\nmetric = \"{metric}\"\nat_most = \"{bound}\"");
            let scenario = read(&text(WIFI, &pass)).unwrap();
            let (outcome, _) = run_trial(&scenario, 3, false);
            let own = outcome.links.iter().find(|one| one.name == link).unwrap();
            let medium = own.medium.unwrap();
            let offered = own.delivered_packets + own.dropped_packets + own.lost_packets;
            let expected = match metric {
                "link-airtime" => medium.airtime,
                "link-airtime-of-neighbours" => medium.neighbours,
                "link-airtime-of-several" => medium.several,
                "link-airtime-idle" => medium.idle,
                "link-failed-attempts" => medium.failed_attempts.unwrap(),
                "link-utilisation" => own.utilisation,
                "link-mean-queue-delay" => own.mean_queue_delay.as_secs_f64(),
                _ => own.dropped_packets as f64 / offered as f64,
            };
            let seen = [(format!("{metric} of {link}"), Some(expected))];
            assert_eq!(outcome.flows[0].watched, seen);
            // What is looked at changes nothing of the trial.
            let plain = read(&text(WIFI, "metric = \"completion\"\nat_most = \"9 s\"")).unwrap();
            let (other, _) = run_trial(&plain, 3, false);
            assert_eq!(outcome.trace_hash, other.trace_hash);
            assert_ne!(scenario.resolved(), plain.resolved());
        }
    }
}

#[test]
fn a_link_that_a_criterion_cannot_have_is_refused_with_those_that_it_can() {
    let refusal = |medium: &str, pass: &str| read(&text(medium, pass)).unwrap_err();
    let cases = [
        (
            WIFI,
            "metric = \"link-airtime\"\nat_most = \"9 %\"",
            "is missing for \"link-airtime\"; accepted: \"air\", \"air up\"",
        ),
        (
            WIFI,
            "metric = \"link-dropped\"\nat_most = \"9 %\"\nlink = \"far\"",
            "flow \"main\" does not cross a link \"far\"; accepted: \"wire\", \"wire up\", \"air\", \"air up\"",
        ),
        (
            WIFI,
            "metric = \"link-airtime\"\nat_most = \"9 %\"\nlink = \"ari\"",
            "flow \"main\" does not cross a link \"ari\" (did you mean \"air\"?); accepted: \"air\", \"air up\"",
        ),
        (
            WIFI,
            "metric = \"link-airtime\"\nat_most = \"9 %\"\nlink = \"wire\"",
            "\"link-airtime\" requires a medium for which stations contend; \"wire\" has none; accepted: \"air\", \"air up\"",
        ),
        (
            "",
            "metric = \"link-airtime\"\nat_most = \"9 %\"\nlink = \"air\"",
            "\"link-airtime\" requires a medium for which stations contend; \"air\" has none; accepted: a link with medium = \"wifi\"",
        ),
        (
            WIFI,
            "metric = \"completion\"\nat_most = \"9 s\"\nlink = \"air\"",
            "cannot be combined with metric \"completion\"",
        ),
    ];
    for (medium, pass, problem) in cases {
        let refused = refusal(medium, pass);
        assert!(
            refused.ends_with(&format!("pass.0.link: {problem}")),
            "{refused}"
        );
    }
    let refused = refusal(
        WIFI,
        "metric = \"link-airtime\"\nat_most = \"9 ms\"\nlink = \"air\"",
    );
    assert!(refused.contains("pass.0.at_most"), "{refused}");
}
