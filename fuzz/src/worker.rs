//! Runs cases in a separate process, which one may kill: the driver reads on the standard output which case it was
//! at.
//!
//! Lines: `at SEED PLAYED STOPPED REFUSED PEAK` before each new case, with what is known of those before it, `at FILE`
//! before the case of a file; `failed KIND<tab>MESSAGE` after one that failed, `hung STAGE` before the process ends because a
//! stage did not; `done PLAYED STOPPED REFUSED PEAK` at the end of new cases.

use crate::failure::{Failure, Verdict};
use crate::random::Random;
use crate::relations;
use crate::targets::{Plays, Target};
use crate::watch::Watch;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use thalweg_random::mix;

/// The most bytes that a case may hold.
pub(crate) const MEMORY: usize = 1 << 30;

/// Where and why the latest panic happened.
static PANIC: Mutex<Option<Failure>> = Mutex::new(None);

/// Seed of case `index` of a run with seed `seed`.
pub(crate) fn case_seed(seed: u64, target: &Target, index: u64) -> u64 {
    mix(seed ^ mix(index.wrapping_add(crate::random::hash(target.name.as_bytes()))))
}

/// Plays new cases for `span`, from number `index` on.
pub(crate) fn run(target: &Target, seed: u64, mut index: u64, span: Duration) {
    let Plays::Engine { make, check } = target.plays else {
        return;
    };
    prepare();
    let watch = Watch::start();
    let begin = Instant::now();
    // Not locked: the watch may have a last word.
    let (mut held, mut out) = ([0u64; 3], std::io::stdout());
    while begin.elapsed() < span {
        let case = case_seed(seed, target, index);
        index += 1;
        // The driver has ended.
        let told = writeln!(out, "at {case} {}", counts(&held));
        if told.and_then(|()| out.flush()).is_err() {
            return;
        }
        match guarded(check, &make(&mut Random::new(case)), &watch) {
            Ok(how) => held[how as usize] += 1,
            Err(failure) => {
                let _ = writeln!(out, "failed {}\t{}", failure.kind, failure.message);
            }
        }
    }
    let _ = writeln!(out, "done {}", counts(&held));
}

/// What became of the cases, and the most bytes that were ever held.
fn counts([played, stopped, refused]: &[u64; 3]) -> String {
    let peak = crate::ALLOCATOR.max_allocated();
    format!("{played} {stopped} {refused} {peak}")
}

/// Plays so many new cases and prints a table of the relations: in how many cases each of them had something to say, and
/// those in which it did not hold. Whether all held.
pub(crate) fn count_relations(target: &Target, seed: u64, count: u64) -> bool {
    let Plays::Engine { make, .. } = target.plays else {
        return false;
    };
    prepare();
    let watch = Watch::start();
    let begin = cpu_time::ProcessTime::now();
    let (mut tally, mut held, mut failed) = (relations::Tally::new(), [0u64; 3], 0);
    for index in 0..count {
        let case = case_seed(seed, target, index);
        let text = make(&mut Random::new(case));
        let check = |text: &[u8], watch: &Watch| relations::check_with(text, watch, &mut tally);
        match guarded(check, &text, &watch) {
            Ok(how) => held[how as usize] += 1,
            Err(failure) => {
                failed += 1;
                println!("case {case}: {}: {}", failure.kind, failure.message);
            }
        }
    }
    println!("| relation | cases |\n|---|--:|");
    for relation in relations::ALL {
        let cases = tally.get(relation.name).copied().unwrap_or(0);
        println!("| {} | {cases} |", relation.name);
    }
    let [played, stopped, refused] = held;
    println!(
        "{count} cases in {:.0} s of processor time: {played} held, {stopped} stopped, {refused} refused, {failed} failed",
        begin.elapsed().as_secs_f64()
    );
    failed == 0
}

/// Plays the cases of files. Whether all held.
pub(crate) fn check(target: &Target, files: &[&str]) -> std::io::Result<bool> {
    let Plays::Engine { check, .. } = target.plays else {
        return Ok(false);
    };
    prepare();
    let (watch, mut held) = (Watch::start(), true);
    for file in files {
        println!("at {file}");
        let text = std::fs::read(file)?;
        let failure = guarded(check, &text, &watch).err();
        println!("{}", tell(&failure));
        held &= failure.is_none();
    }
    Ok(held)
}

fn prepare() {
    // Fails only where more than that is held already.
    let _ = crate::ALLOCATOR.set_limit(MEMORY);
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map_or_else(String::new, |at| {
            let file = at.file();
            let inside = file
                .rfind("crates/")
                .or_else(|| file.rfind("registry/src/"));
            format!("{}:{}", &file[inside.unwrap_or(0)..], at.line())
        });
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let message = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let failure = Failure::new(&format!("panic at {location}"), message.unwrap_or_default());
        if let Ok(mut latest) = PANIC.lock() {
            *latest = Some(failure);
        }
    }));
}

fn guarded(check: impl FnOnce(&[u8], &Watch) -> Verdict, text: &[u8], watch: &Watch) -> Verdict {
    let verdict = catch_unwind(AssertUnwindSafe(|| check(text, watch)));
    watch.rest();
    verdict.unwrap_or_else(|_| {
        let latest = PANIC.lock().ok().and_then(|mut latest| latest.take());
        Err(latest.unwrap_or_else(|| Failure::new("panic", "nobody said why")))
    })
}

/// Names a result in one line, as [`run`] does.
pub(crate) fn tell(failure: &Option<Failure>) -> String {
    match failure {
        None => "held".to_owned(),
        Some(failure) => format!("failed {}\t{}", failure.kind, failure.message),
    }
}
