//! Behaviour of picoquic's Cubic, from picoquic-controllers.md section 3.

use super::curve::cube_root;
use crate::tests::flow;
use thalweg_control::fake_transport::Flow;
use thalweg_units::{Bytes, Duration, Rate};

const RTT: Duration = Duration::from_millis(40);
const NAME: &str = "cubic:variant=picoquic";
const DCUBIC: &str = "cubic:variant=dcubic";

/// A flow with 40 packets in flight, in the initial slow start.
fn forty_packets(name: &str) -> Flow {
    let mut flow = flow(name);
    flow.round(RTT);
    flow.round(RTT);
    flow.fill_window();
    flow
}

#[test]
fn two_losses_in_a_row_are_ignored_and_the_third_reduces_the_window() {
    let mut flow = forty_packets(NAME);
    let sent = flow.in_flight();
    flow.lose(sent[0]);
    flow.lose(sent[1]);
    assert_eq!(flow.packets(), 40.0);
    flow.lose(sent[2]);
    // Fast convergence applies to the first reaction: W_max = 40 * 7/8 = 35, window = 35 * 7/8 = 30.6.
    // The cube root may be 1 % too large, its cube 3 %: at most 0.03 * 35/8 = 0.13 packets less.
    let packets = flow.packets();
    assert!((30.49..=30.63).contains(&packets), "{packets}");
    assert_eq!(flow.variable("w_max_packets"), Some(35.0));
    assert_eq!(flow.variable("ssthresh"), Some(30_625.0));
}

#[test]
fn isolated_losses_are_never_congestion() {
    let mut flow = forty_packets(NAME);
    for _ in 0..10 {
        let window = flow.window();
        flow.fill_window();
        flow.lose(flow.in_flight()[0]);
        flow.advance(RTT);
        flow.ack_all(&flow.in_flight());
        assert!(flow.window() >= window);
    }
}

#[test]
fn a_ce_mark_reduces_the_window_at_once() {
    let mut flow = forty_packets(NAME);
    flow.mark_ce(flow.in_flight()[0]);
    assert!(flow.packets() < 31.0 && flow.packets() > 30.0);
    let mut flow = forty_packets(DCUBIC);
    flow.mark_ce(flow.in_flight()[0]);
    assert_eq!(flow.packets(), 40.0, "dCubic ignores ECN");
}

#[test]
fn slow_start_grows_only_while_the_window_blocks_the_sender() {
    let mut flow = forty_packets(NAME);
    flow.path.window_limited = false;
    flow.advance(RTT);
    flow.ack_next();
    assert_eq!(flow.packets(), 40.0);
    flow.path.window_limited = true;
    flow.ack_next();
    assert_eq!(flow.packets(), 41.0);
}

#[test]
fn slow_start_holds_at_least_half_of_the_peak_rate_times_the_rtt() {
    let mut flow = forty_packets(NAME);
    flow.path.peak_rate = Rate::from_bytes_per_sec(5_000_000);
    flow.path.window_limited = false;
    flow.advance(RTT);
    flow.ack_next();
    // 5 MB/s * 40 ms / 2 = 100 000
    assert_eq!(flow.window(), Bytes::new(100_000));
}

#[test]
fn a_timeout_collapses_the_window_and_its_spurious_repeat_returns_to_slow_start() {
    let mut flow = forty_packets(NAME);
    let first = flow.in_flight()[0];
    flow.timeout();
    assert_eq!(flow.window(), Bytes::new(3_072));
    assert_eq!(flow.state(), "slow start");
    flow.spurious(first);
    assert_eq!(flow.packets(), 40.0);
    let window = flow.window();
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    assert_eq!(flow.window(), window * 2, "the threshold is infinite again");
}

#[test]
fn slow_start_after_a_timeout_ends_at_the_threshold_with_half_the_window_for_reno() {
    let mut flow = forty_packets(NAME);
    flow.timeout();
    assert_eq!(flow.variable("ssthresh"), Some(30_625.0)); // 40 * 7/8 * 7/8
    flow.advance(RTT);
    for packet in flow.in_flight().into_iter().take(27) {
        flow.ack(packet);
    }
    assert_eq!(
        (flow.window(), flow.state()),
        (Bytes::new(30_072), "slow start")
    );
    flow.ack_next();
    assert_eq!(
        (flow.window(), flow.state()),
        (Bytes::new(31_072), "congestion avoidance")
    );
    assert_eq!(flow.variable("w_reno"), Some(15_536.0));
}

#[test]
fn an_idle_sender_restarts_the_curve_when_it_was_last_idle() {
    let mut flow = forty_packets(NAME);
    flow.mark_ce(flow.in_flight()[0]);
    let (k, w_max) = (
        flow.variable("k").unwrap(),
        flow.variable("w_max_packets").unwrap(),
    );
    flow.advance(Duration::from_secs(30));
    flow.path.last_idle = flow.now;
    flow.advance(Duration::from_secs(1));
    let packet = flow.send();
    flow.advance(Duration::from_secs(1));
    flow.ack(packet);
    // Two seconds on the curve, not 32: then it would stand at 35 + 0.4 * 30^3 = 10 800 packets.
    let expected = w_max + 0.4 * (2.0 - k) * (2.0 - k) * (2.0 - k);
    assert!(
        (flow.packets() - expected).abs() < 0.002,
        "{} {expected}",
        flow.packets()
    );
}

#[test]
fn dcubic_ignores_spurious_losses() {
    let mut flow = forty_packets(DCUBIC);
    let sent = flow.in_flight();
    for packet in &sent[..3] {
        flow.lose(*packet);
    }
    assert_eq!(flow.state(), "congestion avoidance");
    flow.timeout();
    flow.spurious(sent[3]);
    assert_eq!(flow.window(), Bytes::new(3_072));
}

#[test]
fn dcubic_leaves_slow_start_on_losses_with_its_whole_window() {
    let mut flow = forty_packets(DCUBIC);
    let sent = flow.in_flight();
    flow.lose(sent[0]);
    flow.lose(sent[1]);
    assert_eq!(flow.state(), "slow start");
    flow.lose(sent[2]);
    assert_eq!(flow.state(), "congestion avoidance");
    assert_eq!(flow.packets(), 40.0);
    assert_eq!(flow.variable("w_max_packets"), Some(40.0));
    // What is lost of the same flight counts then, at once.
    flow.lose(sent[3]);
    // 40 * 7/8 = 35: no fast convergence. The cube root may be 1 % too large: at most 0.03 * 40/8 = 0.15 packets less.
    let packets = flow.packets();
    assert!((34.85..=35.0).contains(&packets), "{packets}");
}

#[test]
fn dcubic_leaves_slow_start_on_a_timeout_with_its_whole_window() {
    let mut flow = forty_packets(DCUBIC);
    flow.timeout();
    assert_eq!(flow.state(), "congestion avoidance");
    assert_eq!(flow.packets(), 40.0);
}

#[test]
fn losses_that_a_reaction_of_dcubic_covers_advance_its_filter_and_those_of_cubic_do_not() {
    for (name, advances) in [(DCUBIC, true), (NAME, false)] {
        let mut flow = forty_packets(name);
        let sent = flow.in_flight();
        for packet in &sent[..4] {
            flow.lose(*packet);
        }
        let before = (flow.window(), flow.variable("loss_rate"));
        flow.lose(sent[4]);
        assert_eq!(flow.window(), before.0, "{name}");
        assert_eq!(flow.variable("loss_rate") != before.1, advances, "{name}");
    }
}

#[test]
fn dcubic_leaves_slow_start_on_delay_with_its_whole_window() {
    let mut flow = flow(DCUBIC);
    let before = delay_exit(&mut flow, RTT);
    // The same ACK may grow it by a packet.
    let kept = flow.window() - before;
    assert!((Bytes::ZERO..=Bytes::new(1_000)).contains(&kept), "{kept}");
}

/// Rounds of acknowledgements 2 ms apart until the flow leaves slow start; the largest window.
fn delay_exit(flow: &mut Flow, base: Duration) -> Bytes {
    let mut largest = flow.window();
    for round in 0..200 {
        flow.fill_window();
        flow.advance(if round == 0 { base } else { base * 2 });
        for packet in flow.in_flight().into_iter().take(10) {
            flow.advance(Duration::from_millis(2));
            flow.ack(packet);
            if flow.state() != "slow start" {
                return largest;
            }
            largest = flow.window();
        }
    }
    panic!("the delay test did not fire");
}

#[test]
fn a_delay_exit_halves_the_window_and_growth_goes_on_from_the_plateau() {
    let mut flow = flow(NAME);
    let before = delay_exit(&mut flow, RTT);
    // Half, then W_max = W_last_max: no fast convergence, and 7/8 of it through the curve.
    let expected = before.as_u64() as f64 / 2.0 * 7.0 / 8.0;
    let window = flow.window().as_u64() as f64;
    // The same ACK then grows the window: the epoch is K ago, so W(now) = W_max.
    assert!(
        window >= expected && window <= before.as_u64() as f64 / 2.0 + 1_000.0,
        "{window}"
    );
    let w_max = flow.variable("w_max_packets").unwrap();
    assert!(
        (w_max - before.as_u64() as f64 / 2_000.0).abs() < 1.0,
        "{w_max}"
    );
}

#[test]
fn a_delay_exit_on_a_long_path_gives_up_less() {
    let mut flow = flow(NAME);
    let before = delay_exit(&mut flow, Duration::from_millis(400)).as_u64() as f64;
    // Base delay of the first seven samples: between 402 and 416 ms. Target 100/base = 0.24 to 0.25 of
    // the window, half way there leaves 0.62 to 0.6244.
    let kept = flow.variable("ssthresh").unwrap() / before;
    // ssthresh is another 7/8 of it: 0.5425 to 0.5463.
    assert!((0.53..0.55).contains(&kept), "{kept}");
}

#[test]
fn dcubic_reacts_to_delay_in_congestion_avoidance_once_per_round_trip() {
    let mut flow = flow(DCUBIC);
    delay_exit(&mut flow, RTT);
    let mut reductions = 0;
    for _ in 0..3 {
        flow.fill_window();
        flow.advance(RTT * 2);
        let mut seen = 0;
        for packet in flow.in_flight() {
            flow.advance(Duration::from_micros(1_100));
            let before = flow.window();
            flow.ack(packet);
            seen += u32::from(flow.window() < before);
        }
        assert!(seen <= 2, "{seen} reductions in a round trip");
        reductions += seen;
    }
    assert!(reductions >= 1);
}

#[test]
fn the_window_is_back_at_its_maximum_after_k() {
    let mut flow = forty_packets(NAME);
    for packet in flow.in_flight().into_iter().take(3) {
        flow.lose(packet);
    }
    // K = cbrt(35 * (1/8) / 0.4) = cbrt(10.94) = 2.2199 s, up to 1 % more
    let k = flow.variable("k").unwrap();
    assert!((2.219..2.243).contains(&k), "{k}");
    // Many small acknowledgements would let the Reno window pass: look only at the curve.
    flow.advance(Duration::from_secs_f64(k));
    flow.ack_next();
    assert!((flow.packets() - 35.0).abs() < 0.01, "{}", flow.packets());
}

#[test]
fn the_cube_root_is_at_most_one_percent_too_large() {
    for x in [1e-6, 0.3, 1.0, 8.0, 9.0, 10.94, 64.0, 1e4, 3e15] {
        let error = cube_root(x) / libm::cbrt(x) - 1.0;
        assert!((-1e-12..=0.011).contains(&error), "{x}: {error}");
    }
    // Just above a power of eight the seed is twice the root: 2 -> 1.4167 -> 1.1105 -> 1.0106.
    assert!((cube_root(1.000_001) - 1.010_6).abs() < 1e-3);
    assert_eq!(cube_root(0.0), 0.0);
}

#[test]
fn the_window_paces_the_flow() {
    let flow = forty_packets(NAME);
    // 40 000 bytes in 40 ms = 1 MB/s, a quarter more in slow start; a quarter of the window at once
    assert_eq!(
        flow.control().pacing,
        Some(Rate::from_bytes_per_sec(1_250_000))
    );
    assert_eq!(flow.control().quantum, Bytes::new(10_000));
}

#[test]
fn a_repair_in_congestion_avoidance_returns_to_the_old_curve() {
    let mut flow = forty_packets(NAME);
    flow.mark_ce(flow.in_flight()[0]); // W_last_max = 40, epoch = now, in avoidance
    let epoch = flow.now;
    flow.advance(RTT);
    flow.ack_all(&flow.in_flight());
    let next = flow.send();
    flow.mark_ce(next);
    let reduced = flow.packets();
    let maximum = flow.variable("w_max_packets").unwrap();
    flow.advance(Duration::from_millis(10));
    flow.spurious(next);
    // W_max = W_last_max, which fast convergence set to the window before: 7/8 of it was W_max.
    let w_max = flow.variable("w_max_packets").unwrap();
    assert!(
        (w_max - maximum * 8.0 / 7.0).abs() < 1e-9,
        "{w_max} {maximum}"
    );
    // The window is W(now) on the curve that began at the old epoch, 7/8 of W_max and a little growth.
    let t = flow.now.since(epoch).as_secs_f64() - flow.variable("k").unwrap();
    let expected = w_max + 0.4 * t * t * t;
    assert!(
        (flow.packets() - expected).abs() < 0.002,
        "{} {expected}",
        flow.packets()
    );
    assert!(flow.packets() > reduced);
    // The only use of beta 3/4.
    assert!((flow.variable("ssthresh").unwrap() - w_max * 750.0).abs() <= 1.0);
}

#[test]
fn a_seed_ends_slow_start_at_the_remembered_window() {
    let mut flow = flow(NAME);
    flow.call(|controller, cx| controller.on_seed(Bytes::new(50_000), cx));
    assert_eq!(
        (flow.window(), flow.state()),
        (Bytes::new(50_000), "congestion avoidance")
    );
    assert!(flow.control().startup_done);
}

#[test]
fn the_first_flight_is_paced_by_the_initial_window_and_the_rtt_of_the_handshake() {
    for name in [
        NAME,
        DCUBIC,
        "reno:variant=picoquic",
        "bbr:variant=picoquic",
    ] {
        let mut flow = flow(name);
        flow.path.smoothed_rtt = Duration::from_millis(80);
        flow.path.min_rtt = flow.path.smoothed_rtt;
        flow.call(|controller, cx| controller.on_handshake_rtt(cx));
        let control = flow.control();
        // 10 000 bytes in 80 ms, times 5/4; beyond 60 ms of RTT at least 32 768 bytes may leave at once.
        assert_eq!(
            control.pacing,
            Some(Rate::from_bytes_per_sec(156_250)),
            "{name}"
        );
        assert_eq!(control.quantum, Bytes::new(32_768), "{name}");
    }
}
