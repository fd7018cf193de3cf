//! Packets in a file, as pcapng (draft-ietf-opsawg-pcapng), with the times of the emulator.
//!
//! # Model
//! Each side of the path is an interface: `left`, where the clients are, and `right`. A packet stands there as outbound of
//! its host when the emulator has read it, and on the other side as inbound when the emulator has written it; one that
//! the path has dropped stands once. Times are nanoseconds since 1970. Segments that crossed together stand one by one.
//!
//! # Limits
//! It keeps the first 128 bytes of each packet. Hosts that hand over several segments leave checksums unfinished.

use super::frame::Frame;
use super::{DOWN, UP};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use thalweg_path::Packet;
use thalweg_units::Instant;

/// Bytes kept of a packet: headers, and the beginning of what follows.
const SNAP: usize = 128;
/// Bytes that are written to the file at once.
const ROOM: usize = 1 << 20;
/// The encapsulation of BSD's loopback (draft-ietf-opsawg-pcaplinktype): an address family in the order of the file, then
/// the packet. Of raw packets (101) libpcap 1.10 reads no file with two interfaces.
const LINKTYPE_NULL: u16 = 0;
const AF_INET: u32 = 2;
/// The number of macOS, which readers know everywhere.
const AF_INET6: u32 = 30;
/// Bytes of the address family.
const FAMILY: usize = 4;
/// Codes of options (sections 3.5, 4.2 and 4.3).
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// A file of packets.
#[derive(Debug)]
pub(crate) struct Capture {
    file: BufWriter<File>,
    /// The present by the clock of the wall at the start of the emulator's.
    start_ns: u64,
    block: Vec<u8>,
    head: Vec<u8>,
}

impl Capture {
    /// Creates the file.
    pub(crate) fn new(path: &Path) -> io::Result<Capture> {
        let mut capture = Capture {
            file: BufWriter::with_capacity(ROOM, File::create(path)?),
            start_ns: 0,
            block: Vec::new(),
            head: Vec::new(),
        };
        // Section Header Block (section 4.1): byte-order magic, version 1.0, unknown length of the section.
        let mut body = Vec::new();
        body.extend(0x1A2B_3C4D_u32.to_le_bytes());
        body.extend([1_u16, 0].map(u16::to_le_bytes).concat());
        body.extend((-1_i64).to_le_bytes());
        capture.block(0x0A0D_0D0A, &body)?;
        for name in ["left", "right"] {
            let mut body = Vec::new();
            body.extend([LINKTYPE_NULL, 0].map(u16::to_le_bytes).concat());
            body.extend(((FAMILY + SNAP) as u32).to_le_bytes());
            option(&mut body, IF_NAME, name.as_bytes());
            option(&mut body, IF_TSRESOL, &[9]);
            end_of_options(&mut body);
            capture.block(1, &body)?;
        }
        Ok(capture)
    }

    /// The clock of the emulator, which now is at this time, starts anew.
    pub(super) fn start_at(&mut self, now: Instant) {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall = wall.map_or(0, |since| since.as_nanos() as u64);
        self.start_ns = wall.saturating_sub((now - Instant::START).as_nanos());
    }

    /// A packet was read, to cross a link.
    pub(super) fn on_sent(&mut self, now: Instant, link: usize, frame: &Frame) -> io::Result<()> {
        let interface = if link == UP { 0 } else { 1 };
        self.packet(now, interface, OUTBOUND, frame)
    }

    /// A packet was written, at the end of a link.
    pub(super) fn on_received(
        &mut self,
        now: Instant,
        link: usize,
        frame: &Frame,
    ) -> io::Result<()> {
        let interface = if link == DOWN { 0 } else { 1 };
        self.packet(now, interface, INBOUND, frame)
    }

    /// An Enhanced Packet Block (section 4.3).
    fn packet(
        &mut self,
        now: Instant,
        interface: u32,
        direction: u32,
        frame: &Frame,
    ) -> io::Result<()> {
        let at = self.start_ns + (now - Instant::START).as_nanos();
        let length = frame.size().as_u64() as u32 + FAMILY as u32;
        let mut body = std::mem::take(&mut self.block);
        body.clear();
        for word in [interface, (at >> 32) as u32, at as u32, 0, length] {
            body.extend(word.to_le_bytes());
        }
        let family = if frame.is_v6() { AF_INET6 } else { AF_INET };
        body.extend(family.to_le_bytes());
        frame.copy_to(SNAP, &mut self.head, &mut body);
        let kept = (body.len() - 20) as u32;
        body[12..16].copy_from_slice(&kept.to_le_bytes());
        pad(&mut body);
        option(&mut body, EPB_FLAGS, &direction.to_le_bytes());
        end_of_options(&mut body);
        let written = self.block(6, &body);
        self.block = body;
        written
    }

    /// Writes a block: its type, its length, its body, and its length again (section 3.1).
    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.file.write_all(&kind.to_le_bytes())?;
        self.file.write_all(&length)?;
        self.file.write_all(body)?;
        self.file.write_all(&length)
    }

    /// Writes what is left.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

/// Fills up to a multiple of four bytes.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}
