//! Every controller of the registry controls uploads of both stacks over the loopback.

use std::process::Command;

/// Runs the transfer of an example in a separate process, so that both stacks run as in a program.
fn upload(stack: &str, controller: &str) -> String {
    let mut example = std::env::current_exe().expect("the path of this test");
    example.pop();
    if example.ends_with("deps") {
        example.pop();
    }
    let example = example.join("examples").join(stack);
    let output = Command::new(&example).args([controller, "5"]).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", example.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stack}, {controller}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "takes more than a minute: a part of `make soak`"]
fn every_controller_moves_all_bytes_over_both_stacks() {
    for entry in thalweg_control::registry::ENTRIES {
        for stack in ["quinn", "noq"] {
            let said = upload(stack, entry.name);
            assert!(said.contains(": 5000000 bytes in"), "{stack}: {said}");
        }
    }
}

#[test]
fn an_unknown_controller_is_refused_with_the_known_ones() {
    let refused = "vegas"
        .parse::<thalweg_adapters::Factory>()
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("\"vegas\"") && refused.contains("cubic"),
        "{refused}"
    );
}
