//! Behaviour of CUBIC, clause by clause.

use crate::fake_transport::Flow;
use thalweg_units::Duration;

const RTT: Duration = Duration::from_millis(100);

/// A flow that lost a packet at a window of 160 packets, in recovery, its other packets acknowledged:
/// 10 -> 20 -> 40 -> 80 -> 160.
fn reduced_from_160(name: &str) -> Flow {
    let mut flow = Flow::new(name);
    for _ in 0..4 {
        flow.round(RTT);
    }
    flow.fill_window();
    flow.lose(flow.in_flight()[0]);
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    flow
}

#[test]
fn a_loss_leaves_seven_tenths_of_the_window() {
    // RFC 9438 section 4.6: 160 * 0.7 = 112
    let flow = reduced_from_160("cubic");
    assert_eq!(flow.packets(), 112.0);
    assert_eq!(flow.variable("w_max"), Some(160_000.0));
    assert_eq!(flow.state(), "recovery");
}

#[test]
fn the_window_is_back_after_k_slowly_around_the_plateau_and_faster_beyond() {
    let mut flow = reduced_from_160("cubic");
    // A steady RTT and a window above the Reno-friendly region: K = cbrt(160 * 0.3 / 0.4) = 4.932 s,
    // 50 rounds of 100 ms. The window follows W_cubic one RTT ahead.
    flow.round(RTT); // starts the stage
    let k = flow.variable("k").unwrap();
    assert!((k - 4.932_424).abs() < 1e-6, "{k}");
    let mut windows = vec![flow.packets()];
    for _ in 0..70 {
        flow.round(RTT);
        windows.push(flow.packets());
    }
    // W_est passes 160 after (160 - 112) / 0.53 = 91 rounds: the curve governs all the way.
    assert!((windows[48] - 160.0).abs() < 0.1, "{}", windows[48]);
    let growth = |from: usize| windows[from + 10] - windows[from];
    assert!(
        growth(0) > 10.0 * growth(40),
        "concave: {} {}",
        growth(0),
        growth(40)
    );
    assert!(
        growth(60) > 2.0 * growth(45),
        "convex: {} {}",
        growth(60),
        growth(45)
    );
    assert!(
        windows.windows(2).all(|pair| pair[0] <= pair[1]),
        "never shrinks"
    );
}

#[test]
fn on_a_small_path_the_window_grows_as_fast_as_reno_would_on_average() {
    // RFC 9438 section 4.3: alpha = 3 * (1 - 0.7) / (1 + 0.7) = 0.529 packets for each round, up to the
    // window before the loss, and one packet for each round beyond. 20 packets at 5 ms: cbrt(15) =
    // 2.5 s to the plateau, but AIMD needs (20 - 14) / 0.529 = 11.3 rounds.
    let rtt = Duration::from_millis(5);
    let mut flow = Flow::new("cubic");
    flow.round(rtt);
    flow.fill_window();
    flow.lose(flow.in_flight()[0]);
    flow.advance(rtt);
    flow.ack_all(&flow.in_flight());
    assert_eq!(flow.packets(), 14.0);
    for _ in 0..11 {
        flow.round(rtt);
    }
    // Full windows only, so slightly less than 14 + 11 * 0.529 = 19.8.
    assert!((19.3..19.9).contains(&flow.packets()), "{}", flow.packets());
    flow.round(rtt);
    flow.round(rtt);
    let before = flow.packets();
    assert!(before > 20.0);
    for _ in 0..5 {
        flow.round(rtt);
    }
    let growth = flow.packets() - before;
    assert!((4.6..=5.0).contains(&growth), "{growth}");
}

#[test]
fn aimd_with_these_constants_has_the_average_window_of_reno() {
    // A fixed loss rate of one packet in N: Reno's average window is sqrt(3/2 * N) (RFC 9438 section
    // 4.3); N = 600 gives 30 packets.
    let average = |name: &str| {
        let (rtt, n) = (Duration::from_millis(1), 600);
        let mut flow = Flow::new(name);
        let (mut sum, mut rounds, mut sent) = (0.0, 0, 0);
        for round in 0..4_000 {
            flow.fill_window();
            flow.advance(rtt);
            for packet in flow.in_flight() {
                sent += 1;
                if sent % n == 0 {
                    flow.lose(packet)
                } else {
                    flow.ack(packet)
                }
            }
            if round >= 400 {
                sum += flow.packets();
                rounds += 1;
            }
        }
        sum / f64::from(rounds)
    };
    let (cubic, reno) = (average("cubic"), average("reno"));
    assert!((reno / 30.0 - 1.0).abs() < 0.1, "{reno}");
    assert!((cubic / reno - 1.0).abs() < 0.1, "{cubic} {reno}");
}

#[test]
fn a_second_loss_below_the_old_maximum_releases_bandwidth() {
    // RFC 9438 section 4.7: the window is 112 < 160 when the next loss comes, so
    // W_max = 112 * (1 + 0.7) / 2 = 95.2 instead of 112.
    for (name, w_max) in [
        ("cubic", 95_200.0),
        ("cubic:fast_convergence=off", 112_000.0),
    ] {
        let mut flow = reduced_from_160(name);
        let packet = flow.send();
        flow.lose(packet);
        assert!(
            (flow.variable("w_max").unwrap() - w_max).abs() < 1e-6,
            "{name}"
        );
        assert!((flow.packets() - 78.4).abs() < 0.001, "112 * 0.7");
    }
}

#[test]
fn the_window_and_the_curve_stand_still_while_the_application_does_not_fill_the_window() {
    let mut flow = reduced_from_160("cubic");
    flow.round(RTT);
    let before = flow.packets();
    flow.app_limited = true;
    for _ in 0..300 {
        let packet = flow.send();
        flow.advance(RTT);
        flow.ack(packet);
    }
    assert_eq!(flow.packets(), before);
    // RFC 9438 section 5.8: 30 s later the curve continues where it stopped. Without the pause it would
    // stand at 160 + 0.4 * (30 - 4.9)^3 = 6500 packets and the window would jump by a half.
    flow.app_limited = false;
    flow.round(RTT);
    let growth = flow.packets() - before;
    assert!(growth > 0.0 && growth < 4.0, "{growth}");
}

#[test]
fn an_idle_period_is_not_part_of_the_curve() {
    let grown = |idle: u64| {
        let mut flow = reduced_from_160("cubic");
        flow.round(RTT);
        flow.advance(Duration::from_secs(idle));
        flow.call(|controller, cx| controller.on_idle_restart(cx));
        flow.round(RTT);
        flow.window()
    };
    assert_eq!(grown(0), grown(60));
}

#[test]
fn persistent_congestion_leaves_two_packets_and_the_next_stage_starts_on_its_plateau() {
    let mut flow = Flow::new("cubic");
    flow.round(RTT);
    flow.fill_window();
    let sent = flow.in_flight();
    flow.lose(sent[0]);
    for packet in &sent[1..19] {
        flow.lose(*packet);
    }
    flow.lose_persistently(sent[19]);
    assert_eq!(flow.packets(), 2.0);
    // The threshold is 0.7 * 20 = 14: 2 -> 4 -> 8 -> 14, where slow start ends within the round.
    for state in ["slow start", "slow start", "congestion avoidance"] {
        flow.round(RTT);
        assert_eq!(flow.state(), state);
    }
    // RFC 9438 section 4.8: K = 0 and W_max is the window at the start of the stage.
    assert_eq!(flow.variable("k"), Some(0.0));
    assert_eq!(flow.variable("w_max"), Some(14_000.0));
}

#[test]
fn a_window_that_has_outgrown_the_old_one_stays() {
    let mut flow = Flow::new("cubic");
    flow.round(RTT);
    flow.fill_window();
    let first = flow.in_flight()[0];
    flow.lose(first);
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    for _ in 0..60 {
        flow.round(RTT);
    }
    let window = flow.window();
    assert!(window.as_u64() > 20_000);
    flow.spurious(first);
    assert_eq!(flow.window(), window);
}

#[test]
fn a_hystart_exit_starts_the_stage_on_its_plateau() {
    // RFC 9438 section 4.10.
    let mut flow = Flow::new("cubic");
    for rtt in [40, 40, 60, 60, 60, 60, 60, 60] {
        flow.round(Duration::from_millis(rtt));
    }
    assert_eq!(flow.state(), "congestion avoidance");
    assert_eq!(flow.variable("k"), Some(0.0));
    assert_eq!(flow.variable("ssthresh"), flow.variable("w_max"));
}

#[test]
fn one_cycle_after_a_loss_beside_renos() {
    let mut flows = ["cubic", "reno"].map(reduced_from_160);
    let mut table = String::from("seconds cubic reno\n");
    for second in 0..=8 {
        let [cubic, reno] = flows.each_ref().map(|flow| flow.packets().round());
        table += &format!("{second:>7} {cubic:>5} {reno:>4}\n");
        for flow in &mut flows {
            for _ in 0..10 {
                flow.round(RTT);
            }
        }
    }
    // W_cubic at 1 s: 160 - 0.4 * (4.932 - 1)^3 = 135.7; at 8 s: 160 + 0.4 * (8 - 4.932)^3 = 171.5.
    // Reno: one packet for each of ten rounds in a second.
    insta::assert_snapshot!(table, @r"
    seconds cubic reno
          0   112   80
          1   135   90
          2   149  100
          3   157  110
          4   160  120
          5   160  130
          6   160  140
          7   163  150
          8   171  160
    ");
}
