//! An upload over the loopback with quinn and a controller of Thalweg.
//!
//! `cargo run --release -p thalweg-adapters --example quinn -- c4 [MB]`

use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use thalweg_adapters::Factory;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "c4".into());
    let megabytes = arguments
        .next()
        .map_or(Ok(100), |text| text.parse::<usize>());
    let Ok(megabytes) = megabytes else {
        eprintln!("usage: quinn [CONTROLLER] [MB]");
        std::process::exit(2);
    };
    if let Err(error) = upload(&name, megabytes).await {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

async fn upload(name: &str, megabytes: usize) -> Result<(), Box<dyn Error>> {
    // All that is needed: a factory in the transport configuration.
    let controllers: Factory = name.parse()?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(controllers));

    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client.transport_config(Arc::new(transport));

    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let receiver = Endpoint::server(server, any)?;
    let address = receiver.local_addr()?;
    let received = tokio::spawn(receive(receiver));
    let sender = Endpoint::client(any)?;
    let connection = sender.connect_with(client, address, "localhost")?.await?;
    let begin = Instant::now();
    let mut stream = connection.open_uni().await?;
    let chunk = vec![0; 1_000_000];
    for _ in 0..megabytes {
        stream.write_all(&chunk).await?;
    }
    stream.finish()?;
    stream.stopped().await?;
    let seconds = begin.elapsed().as_secs_f64();
    let received_bytes = received.await?;
    let rate = received_bytes as f64 * 8.0 / seconds / 1e6;
    println!("{name}: {received_bytes} bytes in {seconds:.3} s, {rate:.0} Mbps");
    let path = connection.stats().path;
    println!(
        "window {} bytes, RTT {:?}, {} packets lost",
        path.cwnd, path.rtt, path.lost_packets
    );
    Ok(())
}

async fn receive(endpoint: Endpoint) -> u64 {
    let mut total = 0;
    if let Some(incoming) = endpoint.accept().await
        && let Ok(connection) = incoming.await
        && let Ok(mut stream) = connection.accept_uni().await
    {
        while let Ok(Some(chunk)) = stream.read_chunk(1 << 20, true).await {
            total += chunk.bytes.len() as u64;
        }
    }
    total
}
