//! Calls whose encoders follow congestion control: the test cases of RFC 8867, and what any rate control must do.

#[path = "../audited/mod.rs"]
mod audited;
mod encoders;
mod page;
mod probing;
mod repair;
mod rfc8867;
mod round_trips;
mod senders;

use audited::run_trial;
use thalweg_sim::{MediaOutcome, Outcome, Scenario, Trace};

/// The real-time controllers, and the variable that is the rate of their media.
const REAL_TIME: [(&str, &str); 3] = [
    ("nada", "r_ref"),
    ("gcc", "target_bitrate"),
    ("screamv2", "target_bitrate"),
];

/// A path in TOML, and calls on it.
struct Case {
    text: String,
    flows: usize,
}

impl Case {
    /// The path of RFC 8867 section 4.2, without jitter, for so many seconds.
    fn on_path(rate_kbps: u64, seconds: u64) -> Case {
        Case::on_path_of(100, rate_kbps, seconds)
    }

    /// The same with another RTT, in milliseconds.
    fn on_path_of(rtt: u64, rate_kbps: u64, seconds: u64) -> Case {
        let text = format!(
            "title = \"call\"\ntime_limit = \"{seconds} s\"\n\
             [path]\nrate = \"{rate_kbps} kbps\"\nrtt = \"{rtt} ms\"\nbuffer = \"300 ms\"\n"
        );
        Case { text, flows: 0 }
    }

    /// The rate of the path from a time on.
    fn change(mut self, at: u64, rate_kbps: u64) -> Case {
        self.text += &format!("[[path.change]]\nat = \"{at} s\"\nrate = \"{rate_kbps} kbps\"\n");
        self
    }

    /// Nothing arrives from one time to another, in seconds.
    fn outage(mut self, from: u64, until: u64) -> Case {
        for (at, loss) in [(from, 100), (until, 0)] {
            self.text += &format!("[[path.change]]\nat = \"{at} s\"\nloss = \"{loss} %\"\n");
        }
        self
    }

    /// A call of video and audio as RFC 8867 section 4.3 has it, with further keys of the video.
    fn call(mut self, controller: &str, start: u64, seconds: u64, keys: &str) -> Case {
        self.text += &format!(
            "[[flow]]\nname = \"f{}\"\ncontroller = \"{controller}\"\nstart = \"{start} s\"\nbackground = true\n\
             [[flow.media]]\nname = \"video\"\ncarriage = \"datagrams\"\nper_second = 30\nduration = \"{seconds} s\"\n\
             rate = {{ least = \"150 kbps\", most = \"1.5 Mbps\", reaction = \"100 ms\" }}\n{keys}\n\
             [[flow.media]]\nname = \"audio\"\ncarriage = \"datagrams\"\nper_second = 50\nduration = \"{seconds} s\"\n\
             frame = \"50 B\"\npriority = 2\n",
            self.flows
        );
        self.flows += 1;
        self
    }

    fn scenario(&self) -> Scenario {
        Scenario::from_toml(self.text.as_bytes(), "call.toml", &[], &[]).expect("a right scenario")
    }

    fn run(&self, seed: u64) -> (Outcome, Trace) {
        let (outcome, trace) = run_trial(&self.scenario(), seed, true);
        (outcome, trace.expect("asked for"))
    }
}

/// The video of a flow.
fn video(outcome: &Outcome, flow: usize) -> &MediaOutcome {
    &outcome.flows[flow].media[0]
}

/// A variable of the controller of a flow, in kbps if it is a rate: its mean over whole tenths of seconds of a span.
fn mean_kbps(trace: &Trace, flow: usize, name: &str, (from, until): (u64, u64)) -> f64 {
    let rows = trace.senders.variables.iter();
    let rows: Vec<_> = rows
        .filter(|row| row.flow == flow && row.name == name)
        .collect();
    let mut values = Vec::new();
    for tenth in from * 10..until * 10 {
        let now = tenth as f64 / 10.0;
        let last = rows.partition_point(|row| row.time.as_secs_f64() <= now);
        values.extend(last.checked_sub(1).map(|last| rows[last].value));
    }
    values.iter().sum::<f64>() / values.len() as f64 / 1e3
}
