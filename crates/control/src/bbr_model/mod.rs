//! The path measurements that BBRv3 ([`crate::bbr`]) and BBRv1 ([`crate::bbr1`]) share.
//!
//! The clauses are those of draft-ietf-ccwg-bbr-06, which keeps these parts of BBRv1 as they were.

mod bubble;
mod full_pipe;
mod gain;
mod min_pipe;
mod round;
mod sample;
mod windowed_max;

pub(crate) use bubble::Bubble;
pub(crate) use full_pipe::FullPipe;
pub(crate) use gain::Gain;
pub(crate) use min_pipe::min_pipe_cwnd;
pub(crate) use round::Round;
pub(crate) use sample::Sample;
pub(crate) use windowed_max::WindowedMax;
