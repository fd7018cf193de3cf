//! Requests are served completely, and traces record them.

use crate::running::{config, controller, mb, serve};
use std::thread;
use thalweg_quic_sockets::{RequestHandle, Workload, get};
use thalweg_units::Duration;

#[test]
fn every_controller_completes_a_download_and_an_upload() {
    let server = serve(config());
    for name in [
        "c4",
        "cubic",
        "bbr",
        "bbr1",
        "reno",
        "prague",
        "c4:rtt_floor=off",
    ] {
        for workload in [Workload::Download(mb(3)), Workload::Upload(mb(3))] {
            let mut order = server.order(workload);
            order.controller = controller(name);
            order.server_controller = Some(controller(name));
            let summary = get(&order, &RequestHandle::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(summary.moved, mb(3), "{name}");
            let (data, acks) = match workload {
                Workload::Download(_) => (&summary.sender, &summary.client),
                _ => (&summary.client, &summary.sender),
            };
            assert_eq!(
                (data.controller.as_str(), acks.controller.as_str()),
                (name, name)
            );
            // 3 MB in packets of at most 1452 bytes.
            assert!(
                data.packets_sent >= 2_067 && data.bytes_sent >= 3_000_000,
                "{data:?}"
            );
            assert!(acks.bytes_sent < 100_000, "{acks:?}");
            assert!(
                data.min_rtt_s > 0.0 && data.min_rtt_s <= data.mean_rtt_s,
                "{data:?}"
            );
            assert!(
                summary.elapsed < Duration::from_secs(20),
                "{name}: {}",
                summary.elapsed
            );
            let served = server.served();
            assert_eq!((served.error, served.moved), (None, mb(3)), "{name}");
        }
    }
    assert_eq!(server.stop().completed, 14);
}

#[test]
fn a_call_delivers_all_frames_both_ways_with_little_delay() {
    let server = serve(config());
    let summary = server
        .get(Workload::Call(Duration::from_millis(1500)))
        .expect("a call");
    let (ours, theirs) = summary.calls.expect("two reports");
    for report in [ours, theirs] {
        // 1.5 s of 50 and of 30 frames per second.
        assert_eq!((report.audio.frames, report.video.frames), (75, 45));
        assert_eq!(
            (report.audio.received, report.video.received),
            (75, 45),
            "{report:?}"
        );
        assert!(
            report.video.mean_delay_s < 0.2 && report.video.max_delay_s > 0.0,
            "{report:?}"
        );
    }
    assert!(
        summary.elapsed >= Duration::from_millis(1500),
        "{}",
        summary.elapsed
    );
    server.stop();
}

#[test]
fn traces_record_both_senders() {
    let mut with_trace = config();
    with_trace.trace = true;
    let server = serve(with_trace);
    let mut order = server.order(Workload::Download(mb(20)));
    order.trace = true;
    let summary = get(&order, &RequestHandle::default()).expect("a download");
    assert!(
        summary
            .samples
            .is_some_and(|samples| !samples.samples.is_empty())
    );
    let served = server.served();
    let samples = served.samples.expect("a trace").samples;
    assert!(samples.windows(2).all(|pair| pair[0].time < pair[1].time));
    let last = samples.last().expect("samples");
    assert!(
        last.delivered > mb(10) && last.smoothed_rtt.is_some(),
        "{last:?}"
    );
    server.stop();
}

#[test]
fn several_clients_are_served_at_once() {
    let server = serve(config());
    thread::scope(|scope| {
        let clients: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| server.get(Workload::Download(mb(2)))))
            .collect();
        for client in clients {
            assert_eq!(
                client.join().expect("no panic").expect("a download").moved,
                mb(2)
            );
        }
    });
    let totals = server.stop();
    assert_eq!((totals.completed, totals.failed), (6, 0));
}
