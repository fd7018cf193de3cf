//! A QUIC server under the attack of the fuzzer, and what it may use of memory: in a process of its own.

#[path = "../src/attack/mod.rs"]
mod attack;

use attack::{Account, assail};

/// Bytes that the process holds in memory (proc(5), `statm`).
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .expect("a column")
        .parse()
        .expect("a number");
    pages * 4096
}

#[test]
fn an_attack_neither_stops_the_server_nor_uses_its_memory_nor_blocks_others() {
    let assailed =
        |seed| assail(seed, 1_000).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    let first = assailed(1);
    let before = resident();
    let mut accounts = vec![first];
    accounts.extend((2..5).map(assailed));
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 32 << 20,
        "{grown} B more than after the first attack"
    );
    // Some attacks of each kind arrived. Their number depends on more than the seed: on a slow machine half-open
    // connections time out (`patience`) before there are enough of them for a Retry.
    let sum = |count: fn(&Account) -> u64| accounts.iter().map(count).sum::<u64>();
    assert!(sum(|account| account.datagrams) > 3_600, "{accounts:?}");
    assert!(sum(|account| account.answered) > 0, "{accounts:?}");
    assert!(sum(|account| account.negotiated) > 0, "{accounts:?}");
    assert!(sum(|account| account.rogues) > 0, "{accounts:?}");
    assert!(sum(|account| account.totals.accepted) > 10, "{accounts:?}");
    assert!(
        sum(|account| account.totals.retried + account.totals.refused) > 0,
        "{accounts:?}"
    );
}
