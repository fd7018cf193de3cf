//! Settings of the stack: as close to the modelled endpoint as possible, with all randomness seeded.

use crate::identity::identity;
use crate::seeded::{SeededIds, key};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionIdGenerator as _, EndpointConfig,
    MtuDiscoveryConfig, ServerConfig, TransportConfig as StackConfig, ValidationTokenConfig,
    VarInt,
};
use rand_core::Rng as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use thalweg_control::Rng;
use thalweg_transport::{Role, TransportConfig};
use thalweg_units::{Bytes, Duration};

/// Receive window of a stream, and limit of unacknowledged data of a sender: large enough not to limit a path of
/// 10 Gbit/s and 400 ms with a buffer of one BDP, since the stack does not tune its windows. It is the largest number that
/// a variable-length integer of four bytes holds (RFC 9000 section 16). A sender at such a limit is application-limited, in
/// which state BBR stays in Startup.
const STREAM_WINDOW: u32 = (1 << 30) - 1;
/// Streams that may be open at once.
const STREAMS: u32 = 1024;
/// The configuration of the stack that comes closest to the configuration of the modelled endpoint.
pub(super) fn of_transport(config: &TransportConfig) -> StackConfig {
    let mtu = |bytes: Bytes| u16::try_from(bytes.as_u64()).unwrap_or(u16::MAX);
    let micros = std::time::Duration::from_micros(config.max_ack_delay.as_micros());
    let mut stack = StackConfig::default();
    stack
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(connection_window(config))
        .send_window(u64::from(STREAM_WINDOW))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .initial_mtu(mtu(config.initial_mtu))
        .allow_spin(false);
    let discovery = (config.max_mtu > config.initial_mtu).then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(mtu(config.max_mtu));
        discovery
    });
    stack.mtu_discovery_config(discovery);
    if config.ack_frequency {
        // The stack requests one fixed threshold: the number of packets that need no acknowledgement.
        let mut frequency = AckFrequencyConfig::default();
        frequency
            .ack_eliciting_threshold(VarInt::from_u32(config.ack_every.saturating_sub(1)))
            .max_ack_delay(Some(micros));
        stack.ack_frequency_config(Some(frequency));
    }
    stack
}

/// Receive window of a connection: unlimited, but for the one of a flow.
fn connection_window(config: &TransportConfig) -> VarInt {
    let window = config.receive_window;
    window.map_or(VarInt::MAX, |window| {
        VarInt::from_u64(window.as_u64()).unwrap_or(VarInt::MAX)
    })
}

/// The least max_ack_delay that the stack uses for a peer: the value of RFC 9000 section 18.2, or the one that it requests,
/// which is at most the larger one of this and the RTT (noq-proto 1.3.0).
pub(super) fn least_ack_delay(config: &TransportConfig) -> Duration {
    let standard = Duration::from_millis(25);
    if config.ack_frequency {
        config.max_ack_delay.min(standard)
    } else {
        standard
    }
}

/// Common configuration of client and server.
pub(super) fn of_endpoint(noise: &mut Rng) -> EndpointConfig {
    let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key(noise));
    let mut endpoint = EndpointConfig::new(Arc::new(reset_key));
    endpoint.rng_seed(Some(key(noise)));
    let ids = noise.next_u64();
    endpoint.cid_generator(Arc::new(move || Box::new(SeededIds(seeded(ids)))));
    endpoint
}

/// Configuration of a server; `None` for a client, and if no key can be created.
pub(super) fn of_server(role: Role, transport: &Arc<StackConfig>) -> Option<Arc<ServerConfig>> {
    let identity = identity().filter(|_| role == Role::Server)?;
    let mut server = ServerConfig::with_crypto(identity.server.clone());
    server.transport_config(transport.clone()).migration(false);
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0);
    server.validation_token_config(tokens);
    Some(Arc::new(server))
}

/// Configuration of a client; `None` if no key can be created.
pub(super) fn of_client(transport: Arc<StackConfig>, noise: &mut Rng) -> Option<ClientConfig> {
    let first = SeededIds(seeded(noise.next_u64())).generate_cid();
    let mut client = ClientConfig::new(identity()?.client.clone());
    client.transport_config(transport);
    client.initial_dst_cid_provider(Arc::new(move || first));
    Some(client)
}

/// Addresses reserved for documentation (RFC 5737).
pub(super) fn address(role: Role) -> SocketAddr {
    let host = match role {
        Role::Client => 1,
        Role::Server => 2,
    };
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, host), 4433))
}

fn seeded(seed: u64) -> Rng {
    use rand_core::SeedableRng as _;
    Rng::seed_from_u64(seed)
}
