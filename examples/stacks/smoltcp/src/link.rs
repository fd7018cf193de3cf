//! The link between smoltcp and Thalweg: packets that have arrived, and packets that wait to be taken.

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet};
use std::collections::VecDeque;
use thalweg_stack_sdk::Role;

/// Bytes of an IPv4 header without options.
pub(crate) const HEADER: usize = 20;

/// Addresses reserved for documentation (RFC 5737).
pub(crate) fn address(role: Role) -> Ipv4Address {
    match role {
        Role::Client => Ipv4Address::new(192, 0, 2, 1),
        Role::Server => Ipv4Address::new(192, 0, 2, 2),
    }
}

/// IPv4 packets in both directions.
pub(crate) struct Link {
    role: Role,
    mtu: usize,
    arrived: VecDeque<Vec<u8>>,
    departing: VecDeque<Vec<u8>>,
}

impl Link {
    /// The link of one end, which carries so many bytes behind an IP header.
    pub(crate) fn new(role: Role, payload: usize) -> Link {
        Link {
            role,
            mtu: HEADER + payload,
            arrived: VecDeque::new(),
            departing: VecDeque::new(),
        }
    }

    /// A packet has arrived without its header, which follows from its length.
    pub(crate) fn arrive(&mut self, data: &[u8]) {
        let other = match self.role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        let mut bytes = vec![0; HEADER + data.len()];
        bytes[HEADER..].copy_from_slice(data);
        let length = bytes.len() as u16;
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
        packet.set_version(4);
        packet.set_header_len(HEADER as u8);
        packet.set_total_len(length);
        packet.set_hop_limit(64);
        packet.set_next_header(IpProtocol::Tcp);
        packet.set_src_addr(address(other));
        packet.set_dst_addr(address(self.role));
        packet.fill_checksum();
        self.arrived.push_back(bytes);
    }

    /// A packet to send, header included.
    pub(crate) fn depart(&mut self) -> Option<Vec<u8>> {
        self.departing.pop_front()
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_idle(&self) -> bool {
        self.departing.is_empty()
    }
}

/// A packet that has arrived.
pub(crate) struct Arrived(Vec<u8>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

/// Room for a packet.
pub(crate) struct Departing<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Departing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Link {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Departing<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Departing<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Departing(&mut self.departing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Departing<'_>> {
        Some(Departing(&mut self.departing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}
