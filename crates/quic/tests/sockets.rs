//! The stack over UDP sockets of this machine.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Span, Instant};
use thalweg_control::ControllerSpec;
use thalweg_quic::net::{
    Credentials, Fingerprint, GetError, Limits, Order, Progress, ServeError, Served, Server,
    ServerConfig, Summary, Totals, Workload, get,
};
use thalweg_units::{Bytes, Duration};

fn controller(name: &str) -> ControllerSpec {
    name.parse().expect("a controller")
}

fn config() -> ServerConfig {
    ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials: Credentials::make().expect("random numbers"),
        controller: controller("cubic"),
        clients_choose: true,
        limits: Limits::default(),
        trace: false,
    }
}

/// A server on a thread of its own.
struct Running {
    address: SocketAddr,
    fingerprint: Fingerprint,
    stop: Arc<AtomicBool>,
    served: Mutex<mpsc::Receiver<Served>>,
    thread: JoinHandle<Totals>,
}

fn serve(config: ServerConfig) -> Running {
    let fingerprint = config.credentials.fingerprint();
    let mut server = Server::bind(config).expect("a free port");
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, served) = mpsc::channel();
    let thread = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut tell = |one| tell.send(one).expect("a listener");
            server
                .serve(&stop, None, false, &mut tell)
                .expect("a socket that works")
        }
    });
    Running {
        address,
        fingerprint,
        stop,
        served: Mutex::new(served),
        thread,
    }
}

impl Running {
    fn order(&self, workload: Workload) -> Order {
        Order {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            fingerprint: self.fingerprint,
            workload,
            controller: controller("cubic"),
            server_controller: None,
            patience: Duration::from_secs(3),
            idle: Duration::from_secs(5),
            trace: false,
        }
    }

    fn get(&self, workload: Workload) -> Result<Summary, GetError> {
        get(&self.order(workload), &Progress::default())
    }

    /// The report of the next connection that is over.
    fn served(&self) -> Served {
        let served = self.served.lock().expect("no panic");
        served.recv_timeout(Span::from_secs(5)).expect("a report")
    }

    fn stop(self) -> Totals {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a server that ends")
    }
}

fn mb(count: u64) -> Bytes {
    Bytes::new(count * 1_000_000)
}

#[test]
fn every_controller_moves_a_download_and_an_upload() {
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
            let summary =
                get(&order, &Progress::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
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
fn a_call_brings_all_frames_of_both_sides_with_little_delay() {
    let server = serve(config());
    let summary = server
        .get(Workload::Call(Duration::from_millis(1500)))
        .expect("a call");
    let (ours, theirs) = summary.calls.expect("two reports");
    for report in [ours, theirs] {
        // 1.5 s of 50 and of 30 frames a second.
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
fn traces_hold_the_course_of_both_senders() {
    let mut with_trace = config();
    with_trace.trace = true;
    let server = serve(with_trace);
    let mut order = server.order(Workload::Download(mb(20)));
    order.trace = true;
    let summary = get(&order, &Progress::default()).expect("a download");
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

#[test]
fn a_wrong_fingerprint_is_told_with_the_one_that_was_seen() {
    let server = serve(config());
    let mut order = server.order(Workload::Download(mb(1)));
    order.fingerprint = Credentials::make().expect("random numbers").fingerprint();
    let error = get(&order, &Progress::default()).expect_err("another server");
    assert!(error.is_refusal());
    assert!(
        error.to_string().contains(&server.fingerprint.to_string()),
        "{error}"
    );
    assert_eq!(server.stop().completed, 0);
}

#[test]
fn a_port_where_nothing_listens_and_a_silent_one_are_told_apart() {
    let closed = UdpSocket::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let server = serve(config());
    let mut order = server.order(Workload::Download(mb(1)));
    order.patience = Duration::from_millis(400);
    order.port = closed.port();
    let error = get(&order, &Progress::default()).expect_err("nobody there");
    assert!(matches!(error, GetError::NothingListens(_)), "{error}");
    order.port = silent.local_addr().expect("an address").port();
    let error = get(&order, &Progress::default()).expect_err("no answer");
    assert!(matches!(error, GetError::NoAnswer(..)), "{error}");
    order.host = "no.such.host.invalid".into();
    let error = get(&order, &Progress::default()).expect_err("no host");
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
fn clients_choose_a_controller_only_where_they_may() {
    let mut strict = config();
    strict.clients_choose = false;
    let server = serve(strict);
    let mut order = server.order(Workload::Download(mb(1)));
    order.server_controller = Some(controller("bbr"));
    let error = get(&order, &Progress::default()).expect_err("refused");
    assert!(
        matches!(&error, GetError::Refused(_, reason) if reason.contains("choose")),
        "{error}"
    );
    assert!(server.get(Workload::Download(mb(1))).is_ok());
    server.stop();
}

#[test]
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
fn a_client_that_is_told_to_stop_does() {
    let server = serve(config());
    let progress = Progress::default();
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

/// The first datagram of a client, as the stack makes it.
fn first_datagram() -> Vec<u8> {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    silent
        .set_read_timeout(Some(Span::from_secs(5)))
        .expect("an option");
    let order = Order {
        host: "127.0.0.1".into(),
        port: silent.local_addr().expect("an address").port(),
        fingerprint: Credentials::make().expect("random numbers").fingerprint(),
        workload: Workload::Download(mb(1)),
        controller: controller("cubic"),
        server_controller: None,
        patience: Duration::from_millis(50),
        idle: Duration::from_secs(5),
        trace: false,
    };
    assert!(get(&order, &Progress::default()).is_err());
    let mut datagram = vec![0; 2048];
    let (length, _) = silent.recv_from(&mut datagram).expect("a datagram");
    datagram.truncate(length);
    assert!(length >= 1200, "RFC 9000 section 14.1: {length}");
    datagram
}

/// Bytes that come to a socket until there is silence.
fn drain(socket: &UdpSocket, patience: Span) -> usize {
    socket.set_read_timeout(Some(patience)).expect("an option");
    let mut buffer = [0; 4096];
    let mut total = 0;
    while let Ok(length) = socket.recv(&mut buffer) {
        total += length;
    }
    total
}

/// RFC 9000 section 8.1: at most three times the bytes that came, until the address is validated. The stack
/// repeats its handshake packets with growing timeouts; all of them count.
#[test]
fn a_client_that_does_not_prove_its_address_gets_at_most_three_times_what_it_sent() {
    let datagram = first_datagram();
    let server = serve(config());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.connect(server.address).expect("loopback");
    socket.send(&datagram).expect("to send");
    let answered = drain(&socket, Span::from_millis(1200));
    assert!(answered > 0 && answered <= 3 * datagram.len(), "{answered}");
    server.stop();
}

#[test]
fn malformed_datagrams_get_at_most_three_times_their_size_and_do_no_harm() {
    let datagram = first_datagram();
    let server = serve(config());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.connect(server.address).expect("loopback");
    let mut sent = 0;
    let mut seed = 1_u64;
    for round in 0..3_000 {
        let mut bad = datagram.clone();
        // A linear congruential generator: which bytes change and where the datagram ends.
        for _ in 0..1 + round % 7 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let place = (seed >> 33) as usize % if round % 2 == 0 { 40 } else { bad.len() };
            bad[place] ^= (seed >> 25) as u8 | 1;
        }
        if round % 3 == 0 {
            bad.truncate((seed >> 40) as usize % bad.len());
        }
        sent += bad.len();
        socket.send(&bad).expect("to send");
        if round % 100 == 0 {
            thread::sleep(Span::from_millis(1));
        }
    }
    let answered = drain(&socket, Span::from_millis(200));
    assert!(answered <= 3 * sent, "{answered} of {sent}");
    let summary = server
        .get(Workload::Download(mb(1)))
        .expect("service as before");
    assert_eq!(summary.moved, mb(1));
    server.stop();
}

/// First packets of clients that never go on, and one client that does.
#[test]
fn a_flood_of_half_open_handshakes_is_met_with_retry_and_does_not_lock_others_out() {
    let mut tight = config();
    tight.limits = Limits {
        connections: 40,
        half_open: 8,
        retry_above: 3,
        patience: Duration::from_secs(1),
        ..Limits::default()
    };
    let datagrams: Vec<Vec<u8>> = (0..20).map(|_| first_datagram()).collect();
    let server = serve(tight);
    let sockets: Vec<UdpSocket> = datagrams
        .iter()
        .map(|datagram| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
            socket.connect(server.address).expect("loopback");
            socket.send(datagram).expect("to send");
            socket
        })
        .collect();
    thread::sleep(Span::from_millis(50));
    // Three are half-open; a client that answers the Retry is served all the same.
    let summary = server
        .get(Workload::Download(mb(1)))
        .expect("service under load");
    assert_eq!(summary.moved, mb(1));
    // The half-open ones are given up after a second.
    thread::sleep(Span::from_millis(1500));
    for (datagram, socket) in datagrams.iter().zip(&sockets) {
        let answered = drain(socket, Span::from_millis(5));
        assert!(answered <= 3 * datagram.len(), "{answered}");
    }
    let totals = server.stop();
    assert_eq!(totals.accepted, 3 + 1);
    assert_eq!(
        (totals.retried, totals.abandoned, totals.completed),
        (17 + 1, 3, 1)
    );
}

#[test]
fn a_client_that_vanishes_is_forgotten() {
    let mut short = config();
    short.limits.idle = Duration::from_millis(500);
    let server = serve(short);
    // A relay that stops to relay: to the server, its client falls silent.
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
        let error = get(&order, &Progress::default()).expect_err("cut off");
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
    let progress = Progress::default();
    thread::scope(|scope| {
        let first =
            scope.spawn(|| get(&server.order(Workload::Download(mb(1_000_000))), &progress));
        thread::sleep(Span::from_millis(200));
        let error = server.get(Workload::Download(mb(1))).expect_err("no room");
        assert!(matches!(error, GetError::Busy(_)), "{error}");
        progress.stop.store(true, Ordering::Relaxed);
        assert!(first.join().expect("no panic").is_err());
    });
    thread::sleep(Span::from_millis(300));
    assert!(server.get(Workload::Download(mb(1))).is_ok());
    server.stop();
}
