//! The numbers of a call are the numbers of the ends that send its media.

use super::audited::run_trial;
use thalweg_sim::{Outcome, PacketFate, Scenario, Trace};

const NOTHING: [&str; 2] = [""; 2];

/// A call over 12 Mbps down and 4.2 Mbps up, which loses 2 %; `media` are the ends of its streams, of 4 Mbps each.
/// `keys` are of the flow, and `more` stands at the end.
fn played(stack: &str, media: &[&str], [keys, more]: [&str; 2]) -> (Outcome, Trace) {
    let streams: String = (media.iter().enumerate())
        .map(|(number, from)| {
            format!(
                "[[flow.media]]\nname = \"video{number}\"\nfrom = \"{from}\"\nper_second = 25\nduration = \"10 s\"\n\
                 frame = \"20 kB\"\ngroup = 25\n"
            )
        })
        .collect();
    let text = format!(
        "title = \"t\"\ntime_limit = \"30 s\"\n[path]\nrate = \"12 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"100 ms\"\n\
         up = {{ rate = \"4.2 Mbps\", loss = \"2 %\" }}\n\
         [[flow]]\nname = \"live\"\ncontroller = \"cubic\"\nstack = \"{stack}\"\n{keys}\n{streams}{more}"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "live.toml", &[], &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let (outcome, trace) = run_trial(&scenario, 1, true);
    (outcome, trace.unwrap())
}

/// Packets that a sender of a trace has sent and lost.
fn packets(trace: &Trace, sender: &str) -> [u64; 2] {
    let of = |fate: PacketFate| {
        let own = trace.senders.packets.iter();
        let own =
            own.filter(|(flow, event)| trace.flow_names[*flow] == sender && event.fate == fate);
        own.map(|(_, event)| event.last - event.first + 1).sum()
    };
    [of(PacketFate::Sent), of(PacketFate::Lost)]
}

#[test]
fn media_from_the_client_has_the_loss_the_queue_and_the_trace_of_its_sender() {
    for stack in ["model", "quic"] {
        let (outcome, trace) = played(stack, &["client"], NOTHING);
        let flow = &outcome.flows[0];
        let loss = flow.packets_lost as f64 / flow.packets_sent as f64;
        assert!((0.01..0.04).contains(&loss), "{stack}: {loss}");
        // 250 frames of 20 kB in packets of at most 1440 bytes, and what is lost once more.
        assert!(
            (3_472..4_100).contains(&flow.packets_sent),
            "{stack}: {}",
            flow.packets_sent
        );
        assert_eq!(flow.bytes_delivered.as_u64(), 250 * 20_000, "{stack}");
        // A frame takes 39 ms of the 40 ms between two on the link up: half of it waits for the other half, as far as the
        // window lets it.
        let wait = flow.mean_queue_delay.unwrap().as_secs_f64();
        assert!((0.001..0.1).contains(&wait), "{stack}: {wait} s");
        assert!(flow.p95_queue_delay > flow.mean_queue_delay);
        let [down, up] = [0, 1].map(|link| outcome.links[link].utilisation);
        assert!(
            down < 0.03 && (0.5..=1.0).contains(&up),
            "{stack}: {down} {up}"
        );
        assert!((flow.utilisation.unwrap() - up).abs() < 0.01);
        assert!(
            (0.5..1.1).contains(&flow.load.unwrap()),
            "{stack}: {:?}",
            flow.load
        );
        assert!(flow.packets_lost_at_random > 50 && flow.event_rtt.is_some());

        assert_eq!(trace.flow_names, ["live"]);
        let [sent, lost] = packets(&trace, "live");
        assert_eq!(lost, flow.packets_lost, "{stack}");
        assert!(sent.abs_diff(flow.packets_sent) <= 10, "{stack}: {sent}"); // but the packets of the handshake
        let most = trace
            .senders
            .samples
            .iter()
            .filter_map(|row| row.in_flight)
            .map(|bytes| bytes.as_u64())
            .max();
        assert!(
            most > Some(10_000),
            "{stack}: the window of the sender is filled"
        );
    }
}

#[test]
fn a_call_that_both_ends_send_has_the_numbers_of_both_and_a_line_for_each() {
    let (alone, _) = played("model", &["client"], NOTHING);
    let (outcome, trace) = played("model", &["client", "server"], NOTHING);
    let flow = &outcome.flows[0];
    assert_eq!(
        flow.bytes_delivered.as_u64(),
        2 * 250 * 20_000,
        "and no requests"
    );
    assert_eq!(trace.flow_names, ["live", "live/client", "live/server"]);
    let [client, server] = ["live/client", "live/server"].map(|sender| packets(&trace, sender));
    assert_eq!(packets(&trace, "live"), [0, 0]);
    assert!(
        client[0] > 3_400 && server[0] > 3_400,
        "{client:?} {server:?}"
    );
    assert_eq!(flow.packets_lost, client[1] + server[1]);
    let sent = client[0] + server[0];
    assert!(
        sent.abs_diff(flow.packets_sent) <= 20,
        "{sent} {}",
        flow.packets_sent
    );
    // The link down, of 12 Mbps, drops and loses nothing: half of the packets have no loss.
    let loss = |outcome: &Outcome| {
        let flow = &outcome.flows[0];
        flow.packets_lost as f64 / flow.packets_sent as f64
    };
    let (both, one) = (loss(&outcome), loss(&alone));
    assert!((0.3 * one..0.7 * one).contains(&both), "{both} {one}");
    // What both sent over what both directions carry: 8 Mbps of 16.2.
    assert!(
        (0.25..0.55).contains(&flow.load.unwrap()),
        "{:?}",
        flow.load
    );
    assert!(flow.utilisation.unwrap() > 0.5);
    let frames: Vec<_> = trace
        .frames
        .iter()
        .map(|row| trace.flow_names[row.flow].as_str())
        .collect();
    assert!(frames.len() == 500 && frames.iter().all(|flow| *flow == "live"));
}

#[test]
fn the_window_of_a_client_that_sends_is_watched_and_that_of_a_server_that_only_listens_is_not() {
    let watch = "[[pass]]\nflow = \"live\"\nmetric = \"variable\"\nvariable = \"in_flight\"\nat_most = \"1 MB\"\n";
    let most = |media: &[&str]| {
        played("model", media, ["", watch]).0.flows[0].watched[0]
            .1
            .unwrap()
    };
    let (client, both) = (most(&["client"]), most(&["client", "server"]));
    assert!(client > 10_000.0, "{client} bytes in flight");
    // The link down carries more: its window becomes larger.
    assert!(both >= client, "{both} {client}");
}

#[test]
fn a_breaker_sees_the_loss_of_media_from_the_client() {
    let breaker =
        "circuit_breaker = { model = \"transport\", loss = \"0.5 %\", interval = \"1 s\" }";
    let tripped = |media: &[&str]| {
        let (outcome, _) = played("model", media, [breaker, ""]);
        outcome.flows[0].tripped.is_some()
    };
    assert!(tripped(&["client"]));
    assert!(!tripped(&["server"]), "nothing is lost on the link down");
    // Half of the packets of both are on the link up: 1 % of all are lost.
    assert!(tripped(&["client", "server"]));
}

#[test]
fn frames_from_the_client_recover_from_changes_of_the_link_up() {
    let recovery = |from: &str, key: &str| {
        let change = format!(
            "[[path.change]]\nat = \"4 s\"\n{key} = \"2 Mbps\"\n[[path.change]]\nat = \"5 s\"\n{key} = \"12 Mbps\"\n"
        );
        let (outcome, _) = played("model", &[from], ["", &change]);
        outcome.flows[0].media[0]
            .recovery
            .map(|time| time.as_secs_f64())
    };
    // A second at half of the rate, or less, leaves frames of up to half a second behind.
    assert!(recovery("client", "up_rate").unwrap() > 0.5);
    assert!(recovery("server", "rate").unwrap() > 0.5);
}

#[test]
fn media_have_the_same_rate_in_streams_and_in_datagrams() {
    let of = |carriage: &str| {
        let text = format!(
            "title = \"t\"\ntime_limit = \"10 s\"\n[path]\nrate = \"12 Mbps\"\nrtt = \"20 ms\"\n\
             [[flow]]\nname = \"call\"\ncontroller = \"cubic\"\nbackground = true\n[[flow.media]]\nname = \"slides\"\n\
             {carriage}\nper_second = 50\nduration = \"5 s\"\nframe = \"1000 B\"\n\
             [[flow]]\nname = \"bulk\"\ncontroller = \"cubic\"\ndownload = \"100 MB\"\nbackground = true\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
        run_trial(&scenario, 1, false).0
    };
    for carriage in ["carriage = \"datagrams\"", "group = 50"] {
        let outcome = of(carriage);
        let [call, bulk] = &outcome.flows[..] else {
            unreachable!()
        };
        // 250 frames of 1000 B are 400 kbps for 5 s; the flow takes a little more, a second if a datagram was lost.
        let kbps = call.mean_rate.as_bits_per_sec() as f64 / 1e3;
        // The queue of the other flow may drop a few.
        let bytes = call.bytes_delivered.as_u64();
        assert!((245_000..=250_000).contains(&bytes), "{carriage}: {bytes}");
        assert!((325.0..400.0).contains(&kbps), "{carriage}: {kbps}");
        let (call, bulk) = (call.share.unwrap(), bulk.share.unwrap());
        assert!((call + bulk - 1.0).abs() < 1e-9);
        // Of 12 Mbps 11.6 are payload: 3.4 % for five of the five or six seconds, and the other flow starts slowly.
        assert!((0.027..0.045).contains(&call), "{carriage}: {call}");
        assert!(outcome.jain.is_some());
    }
}
