//! Who hears of each packet that crosses.

use super::capture::Capture;
use super::frame::Frame;
use super::outside::{Outside, Passing};
use super::series::Binned;
use std::io;
use thalweg_path::Packet;
use thalweg_units::Instant;

/// What is recorded of a run, if anything.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    pub(crate) series: Option<Binned>,
    pub(crate) outside: Option<Outside>,
    pub(crate) capture: Option<Capture>,
}

impl Observers {
    /// A packet was read, to cross a link.
    pub(super) fn on_sent(&mut self, now: Instant, link: usize, frame: &Frame) -> io::Result<()> {
        if let Some(series) = &mut self.series {
            series.on_sent(now, link, frame.flow(), frame.size());
        }
        if let Some(outside) = &mut self.outside {
            outside.on_sent(passing(now, link, frame));
        }
        let capture = self.capture.as_mut();
        capture.map_or(Ok(()), |capture| capture.on_sent(now, link, frame))
    }

    /// A packet was written, at the end of a link.
    pub(super) fn on_received(
        &mut self,
        now: Instant,
        link: usize,
        frame: &Frame,
    ) -> io::Result<()> {
        if let Some(series) = &mut self.series {
            series.on_received(now, link, frame.flow(), frame.size());
        }
        if let Some(outside) = &mut self.outside {
            outside.on_received(passing(now, link, frame));
        }
        let capture = self.capture.as_mut();
        capture.map_or(Ok(()), |capture| capture.on_received(now, link, frame))
    }
}

fn passing(now: Instant, link: usize, frame: &Frame) -> Passing {
    Passing {
        now,
        link,
        connection: frame.flow(),
        payload: frame.payload(),
    }
}
