//! Unreliable messages waiting to be sent (RFC 9221), most urgent first, in order within a priority.

use std::collections::VecDeque;

#[derive(Debug)]
struct Waiting {
    priority: u8,
    tag: u64,
    len: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Datagrams(VecDeque<Waiting>);

impl Datagrams {
    pub(crate) fn push(&mut self, priority: u8, tag: u64, len: u32) {
        let position = self
            .0
            .partition_point(|waiting| waiting.priority <= priority);
        self.0.insert(position, Waiting { priority, tag, len });
    }

    /// Priority and length of the next one.
    pub(crate) fn front(&self) -> Option<(u8, u32)> {
        self.0
            .front()
            .map(|waiting| (waiting.priority, waiting.len))
    }

    #[inline(never)] // keeps registers free for stream data
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        self.0.pop_front().map(|waiting| (waiting.tag, waiting.len))
    }
}
