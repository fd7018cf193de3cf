//! Invalid and hostile datagrams: how they are answered, and whether others are served.

use crate::running::{config, controller, mb, serve};
use std::net::UdpSocket;
use std::thread;
use std::time::Duration as Span;
use thalweg_quic_sockets::{Credentials, Limits, Order, RequestHandle, Workload, get};
use thalweg_units::Duration;

/// The first datagram of a client of the stack.
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
    assert!(get(&order, &RequestHandle::default()).is_err());
    let mut datagram = vec![0; 2048];
    let (length, _) = silent.recv_from(&mut datagram).expect("a datagram");
    datagram.truncate(length);
    assert!(length >= 1200, "RFC 9000 section 14.1: {length}");
    datagram
}

/// Bytes that arrive at a socket until there is silence.
fn drain(socket: &UdpSocket, patience: Span) -> usize {
    socket.set_read_timeout(Some(patience)).expect("an option");
    let mut buffer = [0; 4096];
    let mut total = 0;
    while let Ok(length) = socket.recv(&mut buffer) {
        total += length;
    }
    total
}

/// RFC 9000 section 8.1: at most three times the bytes received, until the address is validated. The stack
/// retransmits its handshake packets with growing timeouts; all of them count.
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
fn malformed_datagrams_are_answered_with_at_most_three_times_their_size_and_do_no_harm() {
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
            let position = (seed >> 33) as usize % if round % 2 == 0 { 40 } else { bad.len() };
            bad[position] ^= (seed >> 25) as u8 | 1;
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

/// First packets of clients that never continue, and one client that does.
#[test]
fn a_flood_of_half_open_handshakes_gets_retries_and_does_not_block_others() {
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
    // The half-open ones time out after a second.
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
fn handshakes_that_fell_silent_are_half_open_no_longer() {
    let mut tight = config();
    tight.limits = Limits {
        half_open: 2,
        retry_above: 2,
        patience: Duration::from_secs(60),
        idle: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = serve(tight);
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    silent.connect(server.address).expect("loopback");
    for _ in 0..2 {
        silent.send(&first_datagram()).expect("to send");
    }
    // Silence lasts for three probe timeouts at least (RFC 9000 section 10.1): 3 * (333 + 4 * 166.5 ms) = 3 s.
    thread::sleep(Span::from_secs(5));
    let summary = server.get(Workload::Download(mb(1))).expect("service");
    assert_eq!(summary.moved, mb(1));
    let totals = server.stop();
    assert_eq!((totals.accepted, totals.abandoned), (3, 2));
    assert_eq!((totals.retried, totals.refused), (0, 0));
}
