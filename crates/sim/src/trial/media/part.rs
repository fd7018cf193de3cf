//! What a datagram of a frame carries: which part of which frame, or a packet of repair of it.

/// A packet of a frame, as the tag of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the stream of media in the call: at most 100, and three of the standard call.
    pub(super) stream: u32,
    pub(super) frame: u32,
    /// Its number in the frame: the numbers of media first, then the numbers of repair. Streams without repair do not tell.
    pub(super) number: u32,
    /// Whether it was lost before and is sent again.
    pub(super) is_repeat: bool,
}

const REPEAT: u64 = 1 << 39;
const NUMBER: u32 = 40;

impl Part {
    pub(super) fn tag(self) -> u64 {
        let repeat = if self.is_repeat { REPEAT } else { 0 };
        u64::from(self.number) << NUMBER
            | repeat
            | u64::from(self.stream) << 32
            | u64::from(self.frame)
    }

    pub(super) fn of(tag: u64) -> Part {
        Part {
            stream: (tag >> 32) as u32 & 0x7f,
            frame: tag as u32,
            number: (tag >> NUMBER) as u32,
            is_repeat: tag & REPEAT > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_keeps_all_that_a_part_is() {
        for (stream, frame, number) in [(0, 0, 0), (102, 9_999_999, 1 << 23), (7, 1 << 31, 65_534)]
        {
            for is_repeat in [false, true] {
                let part = Part {
                    stream,
                    frame,
                    number,
                    is_repeat,
                };
                assert_eq!(Part::of(part.tag()), part);
            }
        }
    }
}
