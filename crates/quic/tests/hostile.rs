//! The server under attack, drawn from a seed, and datagrams that it must not answer.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Span;
use thalweg_quic::net::hostile::{Account, assail};
use thalweg_quic::net::{Credentials, Limits, Server, ServerConfig};

/// Bytes that the process holds in memory (proc(5), `statm`).
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .expect("a column")
        .parse()
        .expect("a number");
    pages * 4096
}

#[test]
fn an_attack_neither_stops_the_server_nor_uses_its_memory_nor_blocks_others() {
    let assailed =
        |seed| assail(seed, 1_000).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    let first = assailed(1);
    let before = resident();
    let mut accounts = vec![first];
    accounts.extend((2..5).map(assailed));
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 32 << 20,
        "{grown} B more than after the first attack"
    );
    // Some attacks of each kind arrived. Their number depends on more than the seed: on a slow machine half-open
    // connections time out (`patience`) before there are enough of them for a Retry.
    let sum = |count: fn(&Account) -> u64| accounts.iter().map(count).sum::<u64>();
    assert!(sum(|account| account.datagrams) > 3_600, "{accounts:?}");
    assert!(sum(|account| account.answered) > 0, "{accounts:?}");
    assert!(sum(|account| account.negotiated) > 0, "{accounts:?}");
    assert!(sum(|account| account.rogues) > 0, "{accounts:?}");
    assert!(sum(|account| account.totals.accepted) > 10, "{accounts:?}");
    assert!(
        sum(|account| account.totals.retried + account.totals.refused) > 0,
        "{accounts:?}"
    );
}

/// Sends datagrams to a server, one after the other, and returns what answers each.
fn answers(datagrams: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let mut server = Server::bind(ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials: Credentials::make().expect("random numbers"),
        controller: "c4".parse().expect("a controller"),
        clients_choose: false,
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
