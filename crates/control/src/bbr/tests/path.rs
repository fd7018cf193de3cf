//! BBRv3 over a bottleneck (draft-ietf-ccwg-bbr-06 appendix A names many of these cases).

use crate::fake_transport::{Bottleneck, PICOQUIC};
use thalweg_units::{Bytes, Duration, Rate};

const MTU: Bytes = PICOQUIC.mtu;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// 20 Mbit/s and 80 ms: a BDP of 20e6 / 8 * 0.080 = 200 kB.
fn path(buffer_bdp_percent: u64) -> Bottleneck {
    Bottleneck::new("bbr", 20, 80, Bytes::new(2_000 * buffer_bdp_percent))
}

#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_known_to_two_percent() {
    // Appendix A.1. Doubling from 15 360 bytes to 200 kB takes 4 rounds, the plateau 3 more.
    let mut path = path(400);
    path.run_to("Drain");
    let max_bw = path.variable("max_bw");
    assert!((19.6e6..=20.4e6).contains(&max_bw), "{max_bw}");
    assert!(
        path.flow.now.as_secs_f64() > 6.0 * 0.080 && path.flow.now.as_secs_f64() < 15.0 * 0.080
    );
    assert_eq!(path.dropped, 0);
}

#[test]
fn drain_empties_the_queue_at_half_the_bandwidth() {
    // Appendix A.3
    let mut path = path(400);
    path.run_to("Drain");
    assert_eq!(path.variable("pacing_gain"), 0.5);
    assert!(
        path.queue() > path.bdp() / 2,
        "Startup builds up to one BDP of queue"
    );
    let began = path.flow.now;
    path.run_to("ProbeBW_CRUISE"); // DOWN has nothing left to do
    assert!(path.queue() < MTU * 4, "{}", path.queue());
    // One BDP of queue leaves at half of the bandwidth in two round trips.
    assert!((1.5..=2.5).contains(&((path.flow.now - began).as_secs_f64() / 0.080)));
}

#[test]
fn startup_ends_on_loss_when_the_buffer_is_short() {
    // Section 5.3.1.3: half a BDP of buffer overflows before the plateau has lasted three rounds.
    let mut path = path(20);
    path.run_to("Drain");
    assert!(path.dropped > 6);
    let bound = path.variable("inflight_longterm");
    assert!(
        (200e3..=260e3).contains(&bound),
        "between BDP and BDP plus buffer: {bound}"
    );
}

#[test]
fn the_cycle_is_down_cruise_refill_up() {
    let mut path = path(400);
    path.run_for(seconds(20));
    let cycle: Vec<_> = path
        .flow
        .states
        .iter()
        .map(|(_, name)| *name)
        .skip(2)
        .collect();
    for pair in cycle.windows(2) {
        let next: &[&str] = match pair[0] {
            "ProbeBW_DOWN" => &["ProbeBW_CRUISE", "ProbeRTT"],
            "ProbeBW_CRUISE" => &["ProbeBW_REFILL", "ProbeRTT"],
            "ProbeBW_REFILL" => &["ProbeBW_UP", "ProbeRTT"],
            "ProbeBW_UP" => &["ProbeBW_DOWN", "ProbeRTT"],
            "ProbeRTT" => &["ProbeBW_CRUISE"],
            other => panic!("{other} after Drain"),
        };
        assert!(next.contains(&pair[1]), "{} after {}", pair[1], pair[0]);
    }
    for name in ["ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"] {
        assert!(
            cycle.iter().filter(|state| **state == name).count() >= 3,
            "{name}"
        );
    }
}

#[test]
fn bandwidth_is_probed_every_two_to_three_seconds() {
    // Section 5.3.3.8.2: T_bbr is 2 s to 3 s from DOWN to REFILL; T_reno is 63 rounds of 80 ms = 5 s.
    let mut path = path(400);
    path.run_for(seconds(30));
    let mut waits = 0;
    let mut clock = None;
    let mut before = "";
    for (time, name) in path.flow.states.iter().copied() {
        match name {
            // The clock starts in DOWN, which Drain and ProbeRTT leave for CRUISE in the same ACK.
            "ProbeBW_DOWN" => clock = Some(time),
            "ProbeBW_CRUISE" if before != "ProbeBW_DOWN" => clock = Some(time),
            "ProbeBW_REFILL" => {
                let wait = (time - clock.unwrap()).as_secs_f64();
                assert!((2.0..=3.01).contains(&wait), "{wait}");
                waits += 1;
            }
            _ => {}
        }
        before = name;
    }
    assert!(waits >= 5, "{waits}");
}

#[test]
fn the_steady_queue_is_small_and_the_link_is_full() {
    let mut path = path(400);
    path.run_for(seconds(3));
    path.reset_extremes();
    let before = path.flow.path.delivered;
    path.run_for(seconds(20));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
    assert!((0.94..=1.0).contains(&utilisation), "{utilisation}");
    // UP sends 25 % too fast until three rounds show no growth; the window allows 1.25 BDP of queue.
    assert!(
        path.max_queue <= path.bdp().mul_div(130, 100),
        "{}",
        path.max_queue
    );
}

#[test]
fn probe_rtt_holds_half_a_bdp_for_200_ms_every_five_seconds() {
    // Appendix A.10
    let mut path = path(400);
    path.run_to("ProbeRTT");
    let first = path.flow.now;
    assert_eq!(path.variable("cwnd_gain"), 0.5);
    path.reset_extremes();
    path.run_to("ProbeBW_CRUISE");
    let length = (path.flow.now - first).as_secs_f64();
    // One round trip at most to come down, 200 ms, and the rest of a round.
    assert!((0.2..=0.45).contains(&length), "{length}");
    let half = path.bdp() / 2;
    assert!(path.min_in_flight <= half && path.min_in_flight > half.mul_div(9, 10));
    let left = path.flow.now;
    path.run_to("ProbeRTT");
    let interval = (path.flow.now - left).as_secs_f64();
    assert!((5.0..=5.2).contains(&interval), "{interval}");
}

#[test]
fn loss_above_two_percent_bounds_the_volume_in_flight() {
    // 10 % of random loss: every probe meets more than LossThresh.
    let mut path = path(400);
    path.run_for(seconds(2));
    assert_eq!(path.variable("inflight_longterm"), f64::INFINITY);
    path.loss_permille = 100;
    path.run_for(seconds(10));
    let bound = path.variable("inflight_longterm");
    assert!((2.0 * 1440.0..=250e3).contains(&bound), "{bound}");
    assert!(path.flow.control().window.as_u64() as f64 <= bound.max(4.0 * 1440.0));
}

#[test]
fn one_percent_of_loss_costs_almost_nothing() {
    // Section 5.3.3.8.3 aims at 1 % of loss with no loss of throughput beyond it.
    let mut path = path(400);
    path.loss_permille = 10;
    path.run_for(seconds(3));
    let before = path.flow.path.delivered;
    path.run_for(seconds(20));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
    assert!((0.75..=1.0).contains(&utilisation), "{utilisation}");
}

#[test]
fn app_limited_samples_do_not_lower_the_bandwidth() {
    // Section 5.5.4: an application at a tenth of the rate, for many cycles.
    let mut path = path(400);
    path.run_for(seconds(3));
    let max_bw = path.variable("max_bw");
    path.app_rate = Some(Rate::from_bits_per_sec(2_000_000));
    path.run_for(seconds(30));
    assert_eq!(path.variable("max_bw"), max_bw);
    assert!(
        path.flow.path.delivered < Bytes::new(20_000_000),
        "the application was slow"
    );
}

#[test]
fn twice_the_capacity_is_found_within_a_few_cycles() {
    // 1.25 a round in UP, as long as it grows: 1.25^4 > 2.
    let mut path = path(400);
    path.run_for(seconds(4));
    path.rate = Rate::from_bits_per_sec(40_000_000);
    path.run_for(seconds(9));
    assert!(
        path.variable("max_bw") > 38e6,
        "{}",
        path.variable("max_bw")
    );
}

#[test]
fn ten_times_the_capacity_is_found() {
    // Appendix A.15
    let mut path = path(2000);
    path.run_for(seconds(4));
    path.rate = Rate::from_bits_per_sec(200_000_000);
    path.run_for(seconds(20));
    assert!(
        path.variable("max_bw") > 190e6,
        "{}",
        path.variable("max_bw")
    );
}

#[test]
fn half_the_capacity_is_believed_when_the_filter_has_forgotten_the_old_cycles() {
    // Appendix A.16, section 5.5.3. The change falls into one cycle; the filter forgets what was before
    // it when the next has ended.
    let mut path = path(100);
    path.run_for(seconds(4));
    path.rate = Rate::from_bits_per_sec(10_000_000);
    for _ in 0..3 {
        path.run_to("ProbeBW_UP");
        path.run_to("ProbeBW_DOWN");
    }
    path.run_for(Duration::from_millis(300)); // the filter advances one round trip after UP
    let max_bw = path.variable("max_bw");
    assert!((9.0e6..=10.3e6).contains(&max_bw), "{max_bw}");
    assert!(path.flow.now.as_secs_f64() < 25.0);
}

#[test]
fn the_window_never_falls_below_four_packets_on_a_tiny_path() {
    // Appendix A.14: 0.1 Mbit/s * 10 ms is 125 bytes.
    let mut path = Bottleneck::new("bbr", 1, 10, Bytes::new(30_000));
    path.rate = Rate::from_bits_per_sec(100_000);
    path.run_for(seconds(30));
    assert!(path.flow.control().window >= MTU * 4);
    let pacing = path.flow.control().pacing.unwrap();
    assert!(
        (80_000..=130_000).contains(&pacing.as_bits_per_sec()),
        "{pacing}"
    );
}

#[test]
fn idleness_takes_the_place_of_probe_rtt() {
    // Appendix A.11: silent for 6 s in ProbeBW.
    let mut path = path(400);
    path.run_for(seconds(3));
    let before = path.flow.states.len();
    path.app_rate = Some(Rate::from_bits_per_sec(1_920)); // one packet of 1440 bytes in 6 s
    path.run_for(seconds(8));
    path.app_rate = None;
    path.run_for(seconds(1));
    assert!(
        path.flow.states[before..]
            .iter()
            .all(|(_, name)| *name != "ProbeRTT")
    );
}

#[test]
fn an_app_limited_flow_stays_in_startup_and_returns_to_it_from_probe_rtt() {
    // Appendices A.7 and A.20: 2 Mbit/s of application data on a path of 20 Mbit/s. A step of the path's
    // delay makes ProbeRTT due, since no sample reaches the old minimum again.
    let mut path = path(400);
    path.app_rate = Some(Rate::from_bits_per_sec(2_000_000));
    path.run_for(seconds(1));
    path.delay = Duration::from_millis(90);
    path.run_for(seconds(20));
    let names: Vec<_> = path.flow.states.iter().map(|(_, name)| *name).collect();
    assert!(names.contains(&"ProbeRTT"), "{names:?}");
    assert!(
        names
            .iter()
            .all(|name| ["Startup", "ProbeRTT"].contains(name)),
        "{names:?}"
    );
    assert!(!path.flow.control().startup_done);
}

#[test]
fn a_link_that_delivers_in_bursts_is_filled_and_adds_one_burst_to_the_window() {
    // Appendices A.12 and A.13: bursts of 40 ms hold 20e6 / 8 * 0.040 = 100 kB.
    let mut path = path(400);
    path.burst = Duration::from_millis(40);
    path.run_for(seconds(3));
    let extra = path.variable("extra_acked");
    assert!((60e3..=110e3).contains(&extra), "{extra}");
    let before = path.flow.path.delivered;
    path.run_for(seconds(20));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
    assert!((0.93..=1.003).contains(&utilisation), "{utilisation}");
    let max_bw = path.variable("max_bw");
    assert!(
        (19e6..=26e6).contains(&max_bw),
        "no faster than it was sent: {max_bw}"
    );
}
