//! Failed requests, and connections that end early: the reports, and their delay.

use crate::running::{config, controller, mb, serve};
use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration as Span, Instant};
use thalweg_quic_sockets::{
    Credentials, GetError, RequestHandle, ServeError, Server, ServerConfig, Workload, get,
};
use thalweg_units::Duration;

#[test]
fn a_wrong_fingerprint_is_reported_with_the_one_of_the_server() {
    let server = serve(config());
    let mut order = server.order(Workload::Download(mb(1)));
    order.fingerprint = Credentials::make().expect("random numbers").fingerprint();
    let error = get(&order, &RequestHandle::default()).expect_err("another server");
    assert!(error.is_refusal());
    assert!(
        error.to_string().contains(&server.fingerprint.to_string()),
        "{error}"
    );
    assert_eq!(server.stop().completed, 0);
}

#[test]
fn a_closed_port_and_a_silent_one_are_distinguished() {
    let closed = UdpSocket::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let server = serve(config());
    let mut order = server.order(Workload::Download(mb(1)));
    order.patience = Duration::from_millis(400);
    order.port = closed.port();
    let error = get(&order, &RequestHandle::default()).expect_err("nobody there");
    assert!(matches!(error, GetError::NothingListens(_)), "{error}");
    order.port = silent.local_addr().expect("an address").port();
    let error = get(&order, &RequestHandle::default()).expect_err("no answer");
    assert!(matches!(error, GetError::NoAnswer(..)), "{error}");
    order.host = "no.such.host.invalid".into();
    let error = get(&order, &RequestHandle::default()).expect_err("no host");
    assert!(matches!(error, GetError::Name(..)), "{error}");
    server.stop();
}

#[test]
fn a_port_in_use_is_refused() {
    let first = Server::bind(config()).expect("a free port");
    let again = ServerConfig {
        address: first.address(),
        ..config()
    };
    let error = Server::bind(again).err().expect("in use");
    assert!(matches!(error, ServeError::Bind(address, _) if address == first.address()));
}

#[test]
fn clients_choose_a_controller_only_if_the_server_allows_it() {
    let mut strict = config();
    strict.offered = None;
    let server = serve(strict);
    let mut order = server.order(Workload::Download(mb(1)));
    order.server_controller = Some(controller("bbr"));
    let error = get(&order, &RequestHandle::default()).expect_err("refused");
    assert!(
        matches!(&error, GetError::Refused(_, reason) if reason.contains("choose")),
        "{error}"
    );
    assert!(server.get(Workload::Download(mb(1))).is_ok());
    server.stop();
}

#[test]
#[ignore = "in real time: make soak PART=engine"]
fn a_server_that_stops_tells_its_clients_and_ends_within_a_second() {
    let server = serve(config());
    thread::scope(|scope| {
        let client = scope.spawn(|| server.get(Workload::Download(mb(1_000_000))));
        thread::sleep(Span::from_millis(300));
        let begin = Instant::now();
        server.stop.store(true, Ordering::Relaxed);
        let error = client.join().expect("no panic").expect_err("stopped");
        assert!(
            matches!(&error, GetError::Ended(_, moved, why) if !moved.is_zero() && why.contains("stopped")),
            "{error}"
        );
        assert!(!error.is_refusal());
        assert!(
            begin.elapsed() < Span::from_secs(1),
            "{:?}",
            begin.elapsed()
        );
    });
    let totals = server.stop();
    assert_eq!((totals.completed, totals.failed), (0, 1));
}

#[test]
fn a_client_stops_when_interrupted() {
    let server = serve(config());
    let progress = RequestHandle::default();
    let error = thread::scope(|scope| {
        let client = scope.spawn(|| get(&server.order(Workload::Upload(mb(1_000_000))), &progress));
        thread::sleep(Span::from_millis(200));
        progress.stop.store(true, Ordering::Relaxed);
        client.join().expect("no panic").expect_err("stopped")
    });
    assert!(
        matches!(error, GetError::Interrupted(moved) if !moved.is_zero()),
        "{error}"
    );
    let served = server.served();
    assert!(served.error.is_some());
    server.stop();
}

#[test]
#[ignore = "in real time: make soak PART=engine"]
fn a_client_that_disappears_times_out() {
    let mut short = config();
    short.limits.idle = Duration::from_millis(500);
    let server = serve(short);
    // A relay that stops relaying: to the server, its client falls silent.
    let relay = UdpSocket::bind("127.0.0.1:0").expect("a port");
    relay
        .set_read_timeout(Some(Span::from_millis(20)))
        .expect("an option");
    let port = relay.local_addr().expect("an address").port();
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = vec![0; 65_536];
            let mut client = None;
            while begin.elapsed() < Span::from_millis(400) {
                let Ok((length, from)) = relay.recv_from(&mut buffer) else {
                    continue;
                };
                let to = match from == server.address {
                    true => client,
                    false => {
                        client = Some(from);
                        Some(server.address)
                    }
                };
                if let Some(to) = to {
                    let _ = relay.send_to(&buffer[..length], to);
                }
            }
        });
        let mut order = server.order(Workload::Download(mb(1_000_000)));
        (order.port, order.idle) = (port, Duration::from_millis(700));
        let error = get(&order, &RequestHandle::default()).expect_err("cut off");
        assert!(matches!(error, GetError::Vanished(..)), "{error}");
        assert!(
            begin.elapsed() < Span::from_secs(3),
            "{:?}",
            begin.elapsed()
        );
    });
    let served = server.served();
    assert!(
        served
            .error
            .is_some_and(|error| error.contains("stopped answering"))
    );
    server.stop();
}

#[test]
fn a_full_server_says_so_and_serves_again_when_there_is_room() {
    let mut small = config();
    small.limits.connections = 1;
    let server = serve(small);
    let progress = RequestHandle::default();
    thread::scope(|scope| {
        let first =
            scope.spawn(|| get(&server.order(Workload::Download(mb(1_000_000))), &progress));
        thread::sleep(Span::from_millis(200));
        let error = server.get(Workload::Download(mb(1))).expect_err("no room");
        assert!(matches!(error, GetError::Busy(_)), "{error}");
        progress.stop.store(true, Ordering::Relaxed);
        assert!(first.join().expect("no panic").is_err());
    });
    // It has room once it has heard of the end, which takes longer on a busy machine.
    let begin = Instant::now();
    while let Err(error) = server.get(Workload::Download(mb(1))) {
        assert!(matches!(error, GetError::Busy(_)), "{error}");
        assert!(begin.elapsed() < Span::from_secs(10), "{error}");
        thread::sleep(Span::from_millis(50));
    }
    server.stop();
}
