//! Fixed defects stay fixed.

use std::process::Command;

#[test]
fn every_case_of_the_corpus_holds() {
    let replay = Command::new(env!("CARGO_BIN_EXE_thalweg-fuzz"))
        .arg("replay")
        .output()
        .expect("the driver starts");
    let told = String::from_utf8_lossy(&replay.stdout);
    print!("{told}");
    assert!(replay.status.success(), "{told}");
    let (played, _) = told
        .trim_end()
        .rsplit('\n')
        .next()
        .and_then(|line| line.split_once(" cases"))
        .expect("a count");
    assert!(
        played.parse::<u32>().is_ok_and(|played| played >= 40),
        "{told}"
    );
}
