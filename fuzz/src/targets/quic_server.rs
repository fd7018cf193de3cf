//! The QUIC server on a loopback socket, under attack by strangers and by clients that misbehave.
//!
//! The attack and what the server owes are [`crate::attack`], which draws everything from its seed.

use super::{Plays, Target};
use crate::attack::assail;
use crate::failure::{Failure, Held, Verdict};
use crate::random::Random;
use crate::script::{Line, step};
use crate::watch::Watch;

pub(super) const TARGET: Target = Target {
    name: "quic-server",
    ending: "txt",
    plays: Plays::Engine { make, check },
};

fn make(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    let seed = random.below(1 << 62);
    step(&mut text, "attack", &[seed, random.magnitude(10, 2_000)]);
    text.into_bytes()
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    for line in Line::all(text) {
        watch.stage("attack");
        let cases = line.number(1).clamp(1, 10_000) as usize;
        assail(line.number(0), cases).map_err(|problem| Failure::new("server", problem))?;
    }
    Ok(Held::Played)
}
