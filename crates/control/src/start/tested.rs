//! Classic slow start that ends when a test fires. The window stays what it is then.

use super::{SlowStart, Verdict};
use crate::Context;
use crate::event::Ack;
use std::fmt;
use thalweg_units::Bytes;

/// Says when slow start is over.
pub(super) trait Test: fmt::Debug + Copy + Send + 'static {
    /// Whether this ACK ends it. It hears every ACK, of a flow that lacks data too.
    fn fires(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> bool;
}

/// Classic slow start (RFC 9002 section 7.3.1) with this test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested<T>(pub(super) T);

impl<T: Test> Tested<T> {
    fn grown(&mut self, ack: &Ack, window: Bytes, growth: Bytes, cx: &Context<'_>) -> Verdict {
        match self.0.fires(ack, window, cx) {
            true => Verdict::Leave,
            false => Verdict::Grow(growth),
        }
    }
}

impl<T: Test> SlowStart for Tested<T> {
    fn on_ack(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.grown(ack, window, ack.newly_acked, cx)
    }

    fn on_underused(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.grown(ack, window, Bytes::ZERO, cx)
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}
