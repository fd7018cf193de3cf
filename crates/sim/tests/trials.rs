//! What flows come to over paths. One binary: each would link the whole simulator again.

// Some of the files are a binary's own elsewhere, and bring what drives their trials.
#![allow(clippy::duplicate_mod)]

mod lists;

#[path = "applications/main.rs"]
mod applications;
#[path = "breakers.rs"]
mod breakers;
#[path = "calls/main.rs"]
mod calls;
#[path = "criteria/main.rs"]
mod criteria;
#[path = "elements/main.rs"]
mod elements;
#[path = "hosts/main.rs"]
mod hosts;
#[path = "l4s.rs"]
mod l4s;
#[path = "long_fat_paths.rs"]
mod long_fat_paths;
#[path = "media.rs"]
mod media;
#[path = "misbehaviour/main.rs"]
mod misbehaviour;
#[path = "outside.rs"]
mod outside;
#[path = "queues.rs"]
mod queues;
#[path = "quic.rs"]
mod quic;
#[path = "recovery.rs"]
mod recovery;
#[path = "routes.rs"]
mod routes;
#[path = "senders/main.rs"]
mod senders;
#[path = "traffic/main.rs"]
mod traffic;
