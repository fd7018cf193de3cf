//! Datagrams that a server must not answer.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Span;
use thalweg_quic_sockets::{Credentials, Limits, Server, ServerConfig};

/// Sends datagrams to a server, one after the other, and returns what answers each.
fn answers(datagrams: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let mut server = Server::bind(ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials: Credentials::make().expect("random numbers"),
        controller: "c4".parse().expect("a controller"),
        offered: None,
        limits: Limits::default(),
        trace: false,
    })
    .expect("a free port");
    let (address, stop): (SocketAddr, _) = (server.address(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| server.serve(&stop, None, false, &mut |_| {}));
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        socket.connect(address).expect("loopback");
        let patience = Some(Span::from_millis(500));
        socket.set_read_timeout(patience).expect("an option");
        let mut buffer = [0; 2048];
        let mut exchange = |datagram: &Vec<u8>| {
            socket.send(datagram).expect("to send");
            let length = socket.recv(&mut buffer).ok()?;
            Some(buffer[..length].to_vec())
        };
        let answers = datagrams.iter().map(&mut exchange).collect();
        stop.store(true, Ordering::Relaxed);
        answers
    })
}

/// RFC 9000 sections 5.2.2, 6.1 and 14.1.
#[test]
fn version_negotiation_answers_only_datagrams_of_at_least_1200_bytes() {
    // A long header of version 0x1a2a3a4a with connection IDs 7 and 8, padded.
    let unknown = |length: usize| {
        let mut datagram = vec![0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 1, 7, 1, 8];
        datagram.resize(length, 0);
        datagram
    };
    let answers = answers(&[unknown(9), unknown(1199), unknown(1200), unknown(1472)]);
    assert_eq!((&answers[0], &answers[1]), (&None, &None));
    for answer in &answers[2..] {
        let answer = answer.as_ref().expect("an answer");
        // Version 0, the connection IDs the other way round, and version 1 among what is offered.
        assert_eq!(&answer[1..9], &[0, 0, 0, 0, 1, 8, 1, 7]);
        assert!(answer[9..].chunks(4).any(|version| version == [0, 0, 0, 1]));
    }
}
