//! Bulk data over the loopback: our server and client against the stack's own asynchronous ones.
//!
//! Prints the goodput of each in turn, several times, and the median of their ratios. The stack's own is set up as its
//! benchmark does it (`noq`, one thread of tokio for each side, ordered reads), with large socket buffers and wide
//! windows as ours has them; both use CUBIC, ours the one of `thalweg-control`.
//!
//! `cargo bench -p thalweg-quic-sockets --bench sockets`

use bytes::Bytes as Buffer;
use noq::udp::UdpSocketState;
use noq::{Endpoint, ServerConfig as StackServer, TokioRuntime, TransportConfig, VarInt};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;
use thalweg_quic_sockets::{
    Credentials, Limits, Order, RequestHandle, Server, ServerConfig, Workload, get,
};
use thalweg_units::{Bytes, Duration};
use tokio::runtime::{Builder, Runtime};

const AMOUNT: u64 = 1_000_000_000;
const ROUNDS: usize = 5;
const WINDOW: u32 = 16 << 20;

fn main() {
    let mut rates: [Vec<f64>; 3] = Default::default();
    for round in 1..=ROUNDS {
        let measured = [own(), ours("cubic"), ours("c4")];
        for (all, rate) in rates.iter_mut().zip(measured) {
            all.push(rate);
        }
        let [own, cubic, c4] = measured;
        println!(
            "run {round}   noq's own {own:5.2}   ours, cubic {cubic:5.2}   ours, c4 {c4:5.2} Gbps"
        );
    }
    let [own, cubic, c4] = &rates;
    let ratio = |ours: &[f64]| {
        let ratios = ours.iter().zip(own).map(|(ours, own)| 100.0 * ours / own);
        median(ratios.collect())
    };
    println!(
        "ours to noq's own in the same run, median: cubic {:.0} %, c4 {:.0} %",
        ratio(cubic),
        ratio(c4)
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Gbps since `begin`.
fn rate(begin: Instant) -> f64 {
    AMOUNT as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e9
}

/// An upload with our own server and client.
fn ours(controller: &str) -> f64 {
    let credentials = Credentials::make().expect("random numbers");
    let controller = || controller.parse().expect("a controller");
    let mut server = Server::bind(ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials: credentials.clone(),
        controller: controller(),
        offered: None,
        limits: Limits::default(),
        trace: false,
    })
    .expect("a free port");
    let order = Order {
        host: "127.0.0.1".into(),
        port: server.address().port(),
        fingerprint: credentials.fingerprint(),
        workload: Workload::Upload(Bytes::new(AMOUNT)),
        controller: controller(),
        server_controller: None,
        patience: Duration::from_secs(5),
        idle: Duration::from_secs(10),
        trace: false,
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            server
                .serve(&stop, None, false, &mut drop)
                .expect("a socket")
        });
        let summary = get(&order, &RequestHandle::default()).expect("an upload");
        stop.store(true, Ordering::Relaxed);
        AMOUNT as f64 * 8.0 / summary.elapsed.as_secs_f64() / 1e9
    })
}

/// An upload with the server and the client of the stack.
fn own() -> f64 {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("random numbers");
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let certificate = CertificateDer::from(made.cert);
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    let transport = Arc::new(transport);
    let mut config = StackServer::with_single_cert(vec![certificate.clone()], key.into())
        .expect("a certificate");
    config.transport_config(transport.clone());
    let (socket, address) = socket();
    let server = thread::spawn(move || receive_all(socket, config));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let mut config = noq::ClientConfig::with_root_certificates(Arc::new(roots)).expect("roots");
    config.transport_config(transport);
    let runtime = runtime();
    let goodput = runtime.block_on(async {
        let (socket, _) = self::socket();
        let endpoint = Endpoint::new(Default::default(), None, socket, Arc::new(TokioRuntime))
            .expect("a socket");
        let connecting = endpoint
            .connect_with(config, address, "localhost")
            .expect("an address");
        let connection = connecting.await.expect("a connection");
        let begin = Instant::now();
        let mut stream = connection.open_uni().await.expect("a stream");
        let zeros = Buffer::from(vec![0; 1 << 20]);
        let mut left = AMOUNT;
        while left > 0 {
            let chunk = zeros.slice(..zeros.len().min(left as usize));
            left -= chunk.len() as u64;
            stream.write_chunk(chunk).await.expect("to write");
        }
        stream.finish().expect("to finish");
        let _ = stream.stopped().await;
        let goodput = rate(begin);
        connection.close(VarInt::from_u32(0), b"");
        endpoint.wait_idle().await;
        goodput
    });
    server.join().expect("a server that ends");
    goodput
}

fn receive_all(socket: UdpSocket, config: StackServer) {
    runtime().block_on(async {
        let endpoint = Endpoint::new(
            Default::default(),
            Some(config),
            socket,
            Arc::new(TokioRuntime),
        )
        .expect("a socket");
        let incoming = endpoint.accept().await.expect("a client");
        let connection = incoming.await.expect("a connection");
        let mut stream = connection.accept_uni().await.expect("a stream");
        let mut received = 0;
        while let Some(chunk) = stream.read_chunk(usize::MAX).await.expect("to read") {
            received += chunk.len() as u64;
        }
        assert_eq!(received, AMOUNT);
        connection.closed().await;
        endpoint.wait_idle().await;
    });
}

fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let state = UdpSocketState::new((&socket).into()).expect("options");
    state
        .set_recv_buffer_size((&socket).into(), 8 << 20)
        .expect("an option");
    state
        .set_send_buffer_size((&socket).into(), 8 << 20)
        .expect("an option");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
