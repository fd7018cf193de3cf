//! Each mutant, bug by bug, next to the sound controller: `tests/simulator/test_regressions.py` has the scenarios.

use super::BUGS;
use crate::registry;
use thalweg_control::fake_transport::INIT;

#[test]
fn every_bug_has_a_controller_that_starts_like_a_sound_one() {
    for bug in BUGS {
        let spec = registry().read(&format!("mutant:bug={bug}")).unwrap();
        let window = spec.build(&INIT).control().window;
        assert_eq!(window, INIT.initial_window, "{bug}");
    }
}

#[test]
fn a_bug_that_nobody_knows_is_refused_with_those_that_there_are() {
    let error = registry().read("mutant:bug=noq-801").unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("noq-801") && said.contains(&BUGS.join(", ")),
        "{said}"
    );
}
