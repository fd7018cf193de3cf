//! One end of a connection that transfers given amounts of data without blocking.

use crate::sys::events::Interest;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

/// Reads and writes of one end before others are served.
const TURNS: usize = 8;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    /// Bytes left to write, and to read.
    pub(crate) to_write: u64,
    pub(crate) to_read: u64,
    /// Bytes read so far.
    pub(crate) read: u64,
    /// Whether to close its direction once all is written.
    pub(crate) closes_behind: bool,
    has_closed: bool,
    /// Whether the other end has closed its direction, and all has been read.
    pub(crate) heard_close: bool,
    pub(crate) is_connected: bool,
    /// The events to wait for.
    pub(crate) waits_for: Option<Interest>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, to_write: u64, to_read: u64) -> Socket {
        // A connecting client becomes writable when it is connected.
        let waits_for = if to_write > 0 {
            Interest::ReadWrite
        } else {
            Interest::Read
        };
        Socket {
            stream,
            to_write,
            to_read,
            read: 0,
            closes_behind: false,
            has_closed: false,
            heard_close: false,
            is_connected: false,
            waits_for: Some(waits_for),
        }
    }

    /// Whether both directions are finished.
    pub(crate) fn is_done(&self) -> bool {
        self.has_closed && self.heard_close
    }

    /// The events to wait for next.
    pub(crate) fn wanted(&self) -> Option<Interest> {
        if self.is_done() {
            None
        } else if self.to_write > 0 || !self.is_connected {
            Some(Interest::ReadWrite)
        } else {
            Some(Interest::Read)
        }
    }

    /// Writes and reads as much as possible without blocking.
    ///
    /// # Errors
    /// If the connection is refused, reset or has timed out.
    pub(crate) fn pump(&mut self, chunk: &mut [u8]) -> io::Result<()> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        if !self.is_connected {
            match self.stream.peer_addr() {
                Ok(_) => self.is_connected = true,
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        for _ in 0..TURNS {
            let most =
                usize::try_from(self.to_write).map_or(chunk.len(), |left| left.min(chunk.len()));
            if most == 0 {
                break;
            }
            match self.stream.write(&chunk[..most]) {
                Ok(written) => self.to_write -= written as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.closes_behind && self.to_write == 0 && !self.has_closed {
            self.stream.shutdown(Shutdown::Write)?;
            self.has_closed = true;
        }
        for _ in 0..TURNS {
            if self.heard_close {
                break;
            }
            match self.stream.read(chunk) {
                Ok(0) => self.heard_close = true,
                Ok(read) => {
                    self.read += read as u64;
                    self.to_read = self.to_read.saturating_sub(read as u64);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn two_ends_transfer_the_given_amounts_and_close() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("to listen");
        let address = listener.local_addr().expect("an address");
        let left = TcpStream::connect(address).expect("to connect");
        let (right, _) = listener.accept().expect("to accept");
        for stream in [&left, &right] {
            stream.set_nonblocking(true).expect("an option");
        }
        let mut writer = Socket::new(left, 3_000_000, 0);
        writer.closes_behind = true;
        let mut reader = Socket::new(right, 0, 3_000_000);
        let mut chunk = vec![0; 64 * 1024];
        for _ in 0..100_000 {
            writer.pump(&mut chunk).expect("to write");
            reader.pump(&mut chunk).expect("to read");
            if reader.heard_close {
                reader.closes_behind = true;
            }
            if writer.is_done() && reader.is_done() {
                break;
            }
        }
        assert_eq!(
            (writer.to_write, reader.to_read, reader.read),
            (0, 0, 3_000_000)
        );
        assert!(writer.is_done() && reader.is_done());
    }
}
