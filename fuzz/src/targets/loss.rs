//! Random losses of a link.

use crate::random::Random;
use crate::values::{share, time_from};

/// The value of a key `loss`.
pub(super) fn loss(random: &mut Random) -> String {
    match random.below(10) {
        0..4 => return format!("{{ model = \"random\", rate = \"{}\" }}", share(random)),
        4 => {
            return format!(
                "{{ model = \"periodic\", every = {} }}",
                random.magnitude(1, 10_000)
            );
        }
        5 => {
            let packets: Vec<String> = (0..random.below(5))
                .map(|_| match random.magnitude(1, 1000) {
                    first if random.flag() => first.to_string(),
                    first => format!("\"{first}-{}\"", first + random.below(20)),
                })
                .collect();
            let packets = packets.join(", ");
            return format!("{{ model = \"scripted\", packets = [{packets}] }}");
        }
        6 | 7 => {
            let good = time_from(random, 1_000_000, 10_000_000_000);
            let bad = time_from(random, 1, 1_000_000_000);
            let (rest, lost) = (share(random), share(random));
            return format!(
                "{{ model = \"gilbert-elliott\", good = \"{good}\", bad = \"{bad}\", good_loss = \"{rest}\", bad_loss = \"{lost}\" }}"
            );
        }
        _ => {}
    }
    let (p, r, good, bad) = (share(random), share(random), share(random), share(random));
    format!(
        "{{ model = \"gilbert-elliott\", p = \"{p}\", r = \"{r}\", good_loss = \"{good}\", bad_loss = \"{bad}\" }}"
    )
}
