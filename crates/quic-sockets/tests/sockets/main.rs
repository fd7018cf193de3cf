//! The stack over UDP sockets of this machine.

mod attacks;
mod endings;
mod requests;
mod running;
