//! Encoders that follow what congestion control allows, whatever the controller, and pauses.

use super::{Case, REAL_TIME, mean_kbps, video};
use thalweg_sim::{Outcome, Scenario};

/// A call of one stream with these keys over 20 Mbps and 40 ms.
fn alone(controller: &str, keys: &str) -> Scenario {
    let text = format!(
        "title = \"alone\"\ntime_limit = \"20 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\nbackground = true\n\
         [[flow.media]]\nname = \"video\"\nper_second = 30\nduration = \"10 s\"\ngroup = 30\n{keys}\n"
    );
    Scenario::from_toml(text.as_bytes(), "alone.toml", &[], &[]).expect("a right scenario")
}

#[test]
fn an_encoder_of_one_rate_without_variation_is_a_stream_of_fixed_frames() {
    // 960 kbps are 30 frames of 4000 bytes a second.
    let rate = "rate = { least = \"960 kbps\", most = \"960 kbps\", variation = \"0 %\" }";
    let hash = |keys| super::run_trial(&alone("c4", keys), 1, false).0.trace_hash;
    assert_eq!(hash(rate), hash("frame = \"4 kB\""));
    assert_ne!(hash(rate), hash("frame = \"4001 B\""));
    // The same with a first frame of twice the size: 992 kbps are 31 times 4000 bytes a second.
    let key =
        "rate = { least = \"992 kbps\", most = \"992 kbps\", variation = \"0 %\", key_frame = 2 }";
    assert_eq!(hash(key), hash("frame = \"4 kB\"\nfirst_frame = \"8 kB\""));
}

/// A call over an idle link that is twice as fast as its encoders, under this controller.
fn on_twice_the_rate(controller: &str, (least, most): (u64, u64), streams: u64) -> Outcome {
    let mut text = format!(
        "title = \"idle\"\ntime_limit = \"40 s\"\n[path]\nrate = \"{} kbps\"\nrtt = \"40 ms\"\nbuffer = \"200 ms\"\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\nbackground = true\n",
        2 * most * streams
    );
    for stream in 0..streams {
        text += &format!(
            "[[flow.media]]\nname = \"s{stream}\"\ncarriage = \"datagrams\"\nper_second = 30\nduration = \"30 s\"\n\
             rate = {{ least = \"{least} kbps\", most = \"{most} kbps\" }}\n"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "idle.toml", &[], &[]).expect("right");
    super::run_trial(&scenario, 1, false).0
}

#[test]
fn on_an_idle_link_of_twice_the_rate_no_controller_has_a_late_frame() {
    for entry in thalweg_control::registry::ENTRIES {
        for (range, streams) in [
            ((300, 3_000), 1),
            ((500, 500), 1),
            ((20, 200), 2),
            ((20, 40), 50),
            ((100, 1_000), 10),
            ((1_000, 50_000), 1),
        ] {
            // 5 Mbps is the rate of a controller that follows nothing.
            if entry.name == "cbr" && range.1 * streams >= 5_000 {
                continue;
            }
            for media in &on_twice_the_rate(entry.name, range, streams).flows[0].media {
                let name = &media.name;
                let of = format!("{}, {range:?} kbps, {name} of {streams}", entry.name);
                assert_eq!((media.late, media.frames), (0, 900), "{of}");
                // All that the encoder made arrived, the first of it after a handshake and one way at least.
                assert_eq!(
                    (media.undelivered, media.media_rate),
                    (0, media.encoder_rate),
                    "{of}"
                );
                let first = media.first_frame.expect("it came");
                assert!((60..1_000).contains(&first.as_millis()), "{of}: {first}");
                let share = media.encoder_share.expect("it has an encoder");
                assert!(
                    (0.9 * range.0 as f64 / range.1 as f64..1.1).contains(&share),
                    "{of}: {share}"
                );
                assert!((1.0..4.5).contains(&media.mos.expect("video")), "{of}");
            }
        }
    }
}

#[test]
fn a_controller_of_media_has_the_limits_of_its_encoders_and_no_others_beside_them() {
    for (controller, rate) in REAL_TIME {
        let text = |options: &str| {
            format!(
                "title = \"limits\"\ntime_limit = \"60 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n\
                 [[flow]]\nname = \"main\"\ncontroller = \"{controller}{options}\"\nbackground = true\n\
                 [[flow.media]]\nname = \"a\"\nper_second = 30\nduration = \"59 s\"\nrate = {{ least = \"300 kbps\", most = \"2 Mbps\", start = \"500 kbps\" }}\n\
                 [[flow.media]]\nname = \"b\"\nper_second = 30\nduration = \"59 s\"\nrate = {{ least = \"100 kbps\", most = \"1 Mbps\" }}\n"
            )
        };
        let read = |options| Scenario::from_toml(text(options).as_bytes(), "l.toml", &[], &[]);
        let (_, trace) = super::run_trial(&read("").expect("right"), 1, true);
        // Together 400 kbps to 3 Mbps, from 600 on.
        let rows = trace.expect("asked for").senders.variables;
        let values: Vec<f64> = (rows.iter())
            .filter(|row| row.name == rate)
            .map(|row| row.value)
            .collect();
        assert!((600e3..750e3).contains(&values[0]), "{}", values[0]);
        assert!(values.contains(&3e6), "{controller}");
        read(":min_rate=400kbps,max_rate=3Mbps").expect("the same limits twice");
        for (options, name, theirs) in [
            (":max_rate=2.9Mbps", "max_rate \"2.9 Mbps\"", "3 Mbps"),
            (":min_rate=150kbps", "min_rate \"150 kbps\"", "400 kbps"),
        ] {
            let error = read(options).expect_err("refused").to_string();
            let expected = format!(
                "l.toml:8: flow.0.controller: \"{controller}{options}\" has {name}, and the media of line 14 has \"{theirs}\"; accepted: "
            );
            assert!(error.starts_with(&expected), "{error}\n{expected}");
        }
    }
}

#[test]
fn a_download_which_no_encoder_limits_gets_what_pacing_allows_half_more_than_the_largest_rate() {
    for (controller, _) in REAL_TIME {
        let completion = |megabytes| {
            let text = format!(
                "title = \"download\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\n\
                 [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"{megabytes} MB\"\n"
            );
            let scenario = Scenario::from_toml(text.as_bytes(), "download.toml", &[], &[]);
            let outcome = super::run_trial(&scenario.expect("right"), 1, false).0;
            outcome.flows[0].completion.expect("it ends").as_secs_f64()
        };
        // The second 6 MB come after the ramp, which takes 30 s at most. Of 1440 bytes of UDP payload 40 or so are not data.
        let mbps = 48.0 / (completion(12) - completion(6));
        assert!(
            (2.25 * 0.96..2.25 * 0.99).contains(&mbps),
            "{controller}: {mbps}"
        );
    }
}

#[test]
fn draws_of_an_encoder_leave_those_of_everything_else_as_they_were() {
    // The other flow crosses another link in its own direction: nothing of it can differ but by draws.
    let text = |variation: &str| {
        format!(
            "title = \"draws\"\n\
             [[link]]\nname = \"a\"\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\njitter = \"5 ms\"\nloss = \"1 %\"\n\
             [[link]]\nname = \"b\"\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\njitter = \"5 ms\"\nloss = \"1 %\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"bbr\"\ndownload = \"5 MB\"\nroute = [\"a\"]\n\
             [[flow]]\nname = \"call\"\ncontroller = \"bbr\"\nbackground = true\nroute = [\"b\"]\n\
             [[flow.media]]\nname = \"video\"\nper_second = 30\nduration = \"10 s\"\n\
             rate = {{ least = \"1 Mbps\", most = \"2 Mbps\", variation = \"{variation}\" }}\n"
        )
    };
    let completion = |variation| {
        let scenario = Scenario::from_toml(text(variation).as_bytes(), "draws.toml", &[], &[]);
        let outcome = super::run_trial(&scenario.expect("right"), 1, false).0;
        (outcome.flows[0].completion, outcome.flows[1].packets_sent)
    };
    let (steady, varied) = (completion("0 %"), completion("30 %"));
    assert_eq!(steady.0, varied.0);
    assert_ne!(steady.1, varied.1);
}

#[test]
fn encoders_follow_any_controller_and_leave_the_rates_of_streams_with_fixed_frames() {
    for controller in ["c4", "bbr", "cubic", "reno", "nada"] {
        let text = format!(
            "title = \"streams\"\ntime_limit = \"60 s\"\n[path]\nrate = \"2 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\nbackground = true\nmeasure_from = \"20 s\"\n"
        );
        let stream = |name: &str, keys: &str| {
            format!(
                "[[flow.media]]\nname = \"{name}\"\ncarriage = \"datagrams\"\nper_second = 25\nduration = \"60 s\"\nmeasure_from = \"20 s\"\n{keys}\n"
            )
        };
        let encoder = "rate = { least = \"50 kbps\", most = \"5 Mbps\", uses = \"80 %\" }";
        // 25 frames of 1000 bytes are 200 kbps.
        let text = text
            + &stream("a", encoder)
            + &stream("b", encoder)
            + &stream("slides", "frame = \"1000 B\"");
        let text = text.replace(
            "background = true\nmeasure_from = \"20 s\"\n",
            "background = true\n",
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "streams.toml", &[], &[]).unwrap();
        let outcome = super::run_trial(&scenario, 1, false).0;
        let kbps = |stream: usize| {
            let rate = outcome.flows[0].media[stream].encoder_rate.unwrap();
            rate.as_bits_per_sec() as f64 / 1e3
        };
        let (a, b) = (kbps(0), kbps(1));
        assert_eq!(outcome.flows[0].media[2].encoder_rate, None);
        assert!((0.95..1.05).contains(&(a / b)), "{controller}: {a} and {b}");
        // Of 2 Mbps, 1.9 are payload, of which 0.2 belong to slides. Four fifths of the rest are 1.36; a
        // controller whose rate goes up and down allows less, and BBR, whose pacing and window make a queue, more.
        assert!(
            (900.0..1_700.0).contains(&(a + b)),
            "{controller}: {a} + {b}"
        );
    }
}

#[test]
fn a_stream_has_no_frames_while_it_pauses_and_its_rate_returns() {
    // As in RFC 8867 section 5.8, on a link that has room for both only while one pauses.
    let pauses = "pauses = [[\"40 s\", \"60 s\"]]";
    let case = Case::on_path(2_000, 120)
        .call("nada", 0, 119, "")
        .call("nada", 0, 119, pauses);
    let (outcome, trace) = case.run(1);
    // 30 frames a second for 99 s; some are lost where the queue overflows.
    let frames = video(&outcome, 1).frames;
    assert!((2_960..=2_970).contains(&frames), "{frames}");
    let rows = trace
        .frames
        .iter()
        .filter(|row| row.flow == 1 && row.stream == "video");
    let nominal: Vec<f64> = rows.map(|row| row.nominal.as_secs_f64()).collect();
    assert_eq!(nominal.len(), 2_970);
    // The call begins when its client is ready, a round trip after the start.
    assert!(!nominal.iter().any(|time| (40.2..60.0).contains(time)));
    // Twenty seconds without frames are not a freeze.
    assert!(video(&outcome, 1).frozen.as_secs_f64() < 1.0);
    let mean = |flow, span| mean_kbps(&trace, flow, "r_ref", span);
    let (before, alone, after) = (mean(0, (25, 40)), mean(0, (50, 60)), mean(0, (100, 119)));
    assert!((700.0..1_100.0).contains(&before), "{before}");
    assert!((1_400.0..=1_500.0).contains(&alone), "{alone}");
    assert!((700.0..1_200.0).contains(&after), "{after}");
}

#[test]
fn groups_without_frames_are_not_asked_for_and_the_call_ends() {
    for keys in ["group = 1", "group = 30", "carriage = \"datagrams\""] {
        let pause = "pauses = [[\"1 s\", \"3 s\"], [\"4.5 s\", \"5.2 s\"]]";
        let text = format!(
            "title = \"groups\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"c4\"\n\
             [[flow.media]]\nname = \"video\"\nper_second = 30\nduration = \"6 s\"\nframe = \"1 kB\"\n{keys}\n{pause}\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "groups.toml", &[], &[]).unwrap();
        let outcome = super::run_trial(&scenario, 1, false).0;
        let media = &outcome.flows[0].media[0];
        // 180 frames less 60 of the first pause and 21 of the second: the frames of 4.5, 4.533, ... 5.167 s
        assert_eq!(media.frames, 99, "{keys}");
        assert_eq!(media.freezes, 0, "{keys}");
        let end = outcome.flows[0].completion.expect("it ends").as_secs_f64();
        assert!((6.0..6.3).contains(&end), "{keys}: {end}");
    }
}
