//! Rules that the picoquic variants of the controllers share (picoquic-controllers.md section 1).

pub(crate) mod delay_hystart;
pub(crate) mod loss_filter;
pub(crate) mod window;
pub(crate) mod window_pacing;
pub(crate) mod window_start;
