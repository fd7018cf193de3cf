//! The tape that a trial follows: at the start of each block, all elements get streams of random numbers from the seed of
//! the block, as if it was the seed of the trial.
//!
//! # Limits
//! What is drawn ahead belongs to the block in which it is drawn: the requests of a flow to the first, the length of a burst
//! of cross traffic to the block of its start. The same holds of a source of random numbers that is seeded once: the sources of
//! the QUIC stack and of libraries, and of controllers in other languages. Links with a `jitter_seed` follow no tape.

use super::Network;
use super::first_link::InTransit;
use crate::scenario::Scenario;
use crate::scenario::hop::LinkId;
use crate::trial::element::Element;
use crate::trial::seed;
use std::sync::Arc;
use thalweg_path::{BLOCK, BlockSeeds, Link};
use thalweg_random::Tape;
use thalweg_transport::Role;
use thalweg_units::Instant;

/// The tape of a trial, and how far it is.
pub(super) struct RunningTape {
    tape: Arc<Tape>,
    trial: u64,
    /// The number of the present block.
    block: u64,
    /// The seeds of each link in all blocks; of none if they are the same in all trials.
    links: Vec<BlockSeeds>,
    sources: Vec<String>,
    flows: Vec<String>,
}

impl RunningTape {
    /// At the start of a trial; `None` if the scenario has no tape.
    pub(super) fn of(scenario: &Scenario, trial: u64) -> Option<Self> {
        let tape = Arc::clone(scenario.tape.as_ref()?);
        // One more, since the last may begin at the limit.
        let blocks = scenario.time_limit.as_nanos() / BLOCK.as_nanos() + 2;
        let of_link = |link: LinkId| {
            let seed = |block| seed::of_link(scenario, tape.seed(trial, block), link);
            BlockSeeds::new((0..blocks).map(seed))
        };
        let links = match scenario.jitter_seed {
            Some(_) => Vec::new(),
            None => LinkId::all(scenario.hops.len()).map(of_link).collect(),
        };
        let names = scenario.flows.iter().map(|flow| flow.name.clone());
        let sources = scenario.traffic.iter().map(|source| source.name.clone());
        Some(RunningTape {
            trial,
            block: 0,
            links,
            sources: sources.collect(),
            flows: names.collect(),
            tape,
        })
    }

    /// The seed of the present block.
    pub(super) fn seed(&self) -> u64 {
        self.tape.seed(self.trial, self.block)
    }

    /// When the next block begins.
    pub(super) fn next(&self) -> Instant {
        Instant::START + BLOCK * (self.block + 1)
    }

    /// Lets the links know what they look up by time.
    pub(super) fn guide(&self, links: &mut [Link<InTransit>]) {
        for (link, blocks) in links.iter_mut().zip(&self.links) {
            link.follow(blocks);
        }
    }
}

impl Network {
    /// When the next block of the tape begins; never without a tape.
    pub(super) fn next_block(&self) -> Instant {
        self.tape
            .as_ref()
            .map_or(Instant::NEVER, |tape| tape.next())
    }

    /// A block of the tape begins.
    #[cold]
    pub(super) fn begin_block(&mut self) {
        let Some(tape) = &mut self.tape else { return };
        tape.block += 1;
        let (seed, next) = (tape.seed(), tape.next());
        for (index, blocks) in tape.links.iter().enumerate() {
            let of_link = blocks.of(tape.block);
            let link = &mut self.links[index];
            link.reseed(self.now, of_link);
            let due = link.next().unwrap_or(Instant::NEVER);
            self.queue.set(index, due.max(self.now));
            // The medium of a hop has the seed of its first link.
            if index % 2 == 0
                && let Some(Some(medium)) = self.media.get_mut(index / 2)
            {
                medium.reseed(of_link);
            }
        }
        for (source, name) in self.sources.iter_mut().zip(&tape.sources) {
            source.reseed(seed, name);
        }
        for (flow, name) in self.progress.iter().zip(&tape.flows) {
            for (number, index) in flow.connections.clone().enumerate() {
                let connection = &mut self.connections[index];
                if !connection.started || connection.closed.is_some() {
                    continue;
                }
                for (side, of) in [(Role::Client, "client"), (Role::Server, "server")] {
                    let name = format!("flow/{name}/{number}/{of}");
                    connection.endpoint(side).reseed(seed, &name);
                }
                if let Some(call) = &mut connection.call {
                    call.reseed(seed, name);
                }
            }
        }
        self.queue.set(self.elements.number(Element::Tape), next);
    }
}
