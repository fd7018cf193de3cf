//! Responses of BBRv3 to single events: spurious losses, timeouts, marks, idle periods.

use crate::event::{EcnCounts, Lost, SpuriousLoss, Timeout};
use crate::fake_transport::{Bottleneck, PICOQUIC};
use thalweg_units::{Bytes, Duration, Ecn, Rate};

const MTU: Bytes = PICOQUIC.mtu;

fn path(spec: &str) -> Bottleneck {
    Bottleneck::new(spec, 20, 80, Bytes::new(800_000))
}

fn returned(lost: &Lost) -> SpuriousLoss {
    SpuriousLoss {
        packet: lost.packet,
        size: lost.size,
        sent: lost.snapshot.sent,
        timeout_only: false,
    }
}

fn timeout(count: u32, path: &Bottleneck) -> Timeout {
    Timeout {
        count,
        packet: 0,
        snapshot: path.flow.snapshot(),
    }
}

#[test]
fn too_much_loss_ends_the_probe_and_sets_the_bound_in_the_same_moment() {
    // Appendix A.21; 2 % of 1.25 BDP is 5 kB: the fourth packet of 1440 bytes crosses it.
    let mut path = path("bbr");
    path.run_to("ProbeBW_UP");
    path.run_for(Duration::from_millis(170)); // losses now belong to UP
    assert_eq!(path.state(), "ProbeBW_UP");
    path.declare_lost(2);
    assert_eq!(path.state(), "ProbeBW_UP");
    path.declare_lost(10);
    assert_eq!(path.state(), "ProbeBW_DOWN");
    let bound = path.variable("inflight_longterm");
    assert!((0.7 * 200e3..=260e3).contains(&bound), "{bound}");
}

#[test]
fn a_false_alarm_in_a_probe_is_undone_when_its_last_packet_has_returned() {
    // Appendix A.18, section 5.5.11.2
    let mut path = path("bbr");
    path.run_to("ProbeBW_UP");
    path.run_for(Duration::from_millis(170));
    let window = path.flow.control().window;
    let lost = path.declare_lost(12);
    assert_eq!(path.state(), "ProbeBW_DOWN");
    for event in &lost[..11] {
        path.flow
            .call(|controller, cx| controller.on_spurious_loss(&returned(event), cx));
        assert_eq!(path.state(), "ProbeBW_DOWN", "one packet is still missing");
    }
    path.flow
        .call(|controller, cx| controller.on_spurious_loss(&returned(&lost[11]), cx));
    assert_eq!(path.state(), "ProbeBW_REFILL");
    assert_eq!(path.variable("inflight_longterm"), f64::INFINITY);
    assert!(path.flow.control().window >= window);
}

#[test]
fn a_false_alarm_in_startup_returns_to_startup() {
    // Section 5.5.11.2; it is the mark that ends Startup, in the same episode as the losses.
    let mut path = path("bbr:ecn");
    path.run_for(Duration::from_millis(400));
    let lost = path.declare_lost(3);
    let marks = EcnCounts {
        ect0: 100,
        ect1: 0,
        ce: 10,
        largest_acked: 100,
    };
    path.flow
        .call(|controller, cx| controller.on_ecn(&marks, cx));
    path.run_for(Duration::from_millis(10));
    assert_ne!(path.state(), "Startup");
    for event in &lost {
        path.flow
            .call(|controller, cx| controller.on_spurious_loss(&returned(event), cx));
    }
    assert_eq!(path.state(), "Startup");
    path.run_to("Drain");
    assert!(
        path.variable("max_bw") > 19.6e6,
        "the search goes on to the end"
    );
}

#[test]
fn an_alarm_is_not_false_while_one_lost_packet_is_missing() {
    // A buffer of half a BDP drops packets in the same episode as the false alarm.
    let mut path = Bottleneck::new("bbr", 20, 80, Bytes::new(100_000));
    path.run_for(Duration::from_millis(400));
    let lost = path.declare_lost(20);
    path.run_while(thalweg_units::Instant::NEVER, |path| {
        path.state() == "Startup"
    });
    for event in &lost {
        path.flow
            .call(|controller, cx| controller.on_spurious_loss(&returned(event), cx));
    }
    assert_eq!(path.state(), "Drain");
}

#[test]
fn the_first_probe_timeout_changes_nothing_and_the_second_leaves_room_for_one_packet() {
    // RFC 9002 section 6.2; draft section 5.6.4.4
    let mut path = path("bbr");
    path.run_for(Duration::from_secs(2));
    let window = path.flow.control().window;
    let event = timeout(1, &path);
    path.flow
        .call(|controller, cx| controller.on_timeout(&event, cx));
    assert_eq!(path.flow.control().window, window);
    let event = timeout(2, &path);
    path.flow
        .call(|controller, cx| controller.on_timeout(&event, cx));
    assert_eq!(
        path.flow.control().window,
        path.flow.path.bytes_in_flight + MTU
    );
    // A round trip later a packet is acknowledged that left after the timeout.
    path.run_for(Duration::from_millis(200));
    assert_eq!(path.flow.control().window, window);
}

#[test]
fn a_timeout_that_proves_spurious_gives_the_window_back() {
    // Appendix A.19
    let mut path = path("bbr");
    path.run_for(Duration::from_secs(2));
    let window = path.flow.control().window;
    let event = Timeout {
        packet: path.flow.path.next_packet - 50,
        ..timeout(2, &path)
    };
    path.flow
        .call(|controller, cx| controller.on_timeout(&event, cx));
    let spurious = SpuriousLoss {
        packet: event.packet,
        size: MTU,
        sent: path.flow.now,
        timeout_only: true,
    };
    assert!(path.flow.control().window < window);
    path.flow
        .call(|controller, cx| controller.on_spurious_loss(&spurious, cx));
    assert_eq!(path.flow.control().window, window);
}

#[test]
fn marks_are_ignored_unless_ecn_is_claimed() {
    let marks = EcnCounts {
        ect0: 100,
        ect1: 0,
        ce: 10,
        largest_acked: 100,
    };
    for (spec, codepoint, leaves) in [("bbr", Ecn::NotEct, false), ("bbr:ecn", Ecn::Ect0, true)] {
        let mut path = path(spec);
        path.run_for(Duration::from_millis(300));
        assert_eq!(
            (path.flow.controller.ecn(), path.state()),
            (codepoint, "Startup")
        );
        path.flow
            .call(|controller, cx| controller.on_ecn(&marks, cx));
        path.run_for(Duration::from_millis(50));
        assert_eq!(path.state() != "Startup", leaves);
    }
}

#[test]
fn marks_in_cruise_lower_the_short_term_bounds_once_a_round() {
    // RFC 3168 section 5: a mark counts as a loss. Section 5.5.10.3: down to what was delivered.
    let mut path = path("bbr:ecn");
    path.run_to("ProbeBW_CRUISE");
    path.run_for(Duration::from_millis(500));
    let marks = EcnCounts {
        ect0: 100,
        ect1: 0,
        ce: 10,
        largest_acked: 100,
    };
    path.flow
        .call(|controller, cx| controller.on_ecn(&marks, cx));
    assert_eq!(path.variable("bw_shortterm"), f64::INFINITY);
    path.run_for(Duration::from_millis(200));
    let bound = path.variable("bw_shortterm");
    assert!((0.7 * 20e6..=20e6).contains(&bound), "{bound}");
}

#[test]
fn a_flow_restarts_from_idle_at_exactly_its_bandwidth() {
    // Section 5.4.1: gain 1 less the pacing margin of 1 %, whatever the state.
    let mut path = path("bbr");
    path.run_to("ProbeBW_UP");
    path.run_for(Duration::from_millis(10));
    let bandwidth = path.variable("bw");
    path.flow.path.app_limited = true;
    path.flow
        .call(|controller, cx| controller.on_idle_restart(cx));
    let pacing = path.flow.control().pacing.unwrap();
    assert_eq!(
        pacing,
        Rate::from_bits_per_sec(bandwidth as u64).mul_div(99, 100)
    );
}

#[test]
fn the_first_rtt_replaces_the_guess_behind_the_initial_pacing_rate() {
    // Section 5.6.2: 2.77 * 15 360 bytes over 1 ms, then over the measured RTT.
    let mut path = path("bbr");
    assert_eq!(
        path.flow.control().pacing,
        Some(Rate::from_bits_per_sec(340_377_600))
    );
    path.flow.path.min_rtt = Duration::from_millis(80);
    path.flow.path.smoothed_rtt = Duration::from_millis(80);
    path.run_for(Duration::from_millis(1));
    assert_eq!(
        path.flow.control().pacing,
        Some(Rate::from_bits_per_sec(4_254_720))
    );
}
