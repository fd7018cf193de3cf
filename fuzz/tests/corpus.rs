//! Fixed defects stay fixed.

use std::process::Command;

#[test]
fn every_case_of_the_corpus_holds() {
    let replay = Command::new(env!("CARGO_BIN_EXE_thalweg-fuzz"))
        .arg("replay")
        .output()
        .expect("the driver starts");
    let told = String::from_utf8_lossy(&replay.stdout);
    assert!(replay.status.success(), "{told}");
}
