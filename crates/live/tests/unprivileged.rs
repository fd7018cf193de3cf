//! Without root: a user namespace gives the rights, and errors name what is missing.
//!
//! These tests become the user "nobody" in a separate mount namespace; without root they are skipped.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const SCENARIO: &str = r#"
title = "A path to try"
[path]
rate = "20 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "1 MB"
"#;

/// Runs the program as nobody, after `prepare` in a new mount namespace. `None` if that needs rights
/// that the tests do not have.
fn as_nobody(prepare: &str, command: &[&str]) -> Option<Output> {
    let rights = Command::new("unshare").args(["--mount", "true"]).output();
    if !rights.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a mount namespace needs root");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_thalweg-live");
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    // Copied to where the user "nobody" may run it.
    let script = format!(
        "mount -t tmpfs none /mnt && cp {program} /mnt/live && {prepare} && exec {nobody} /mnt/live 0 1"
    );
    let mut child = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("unshare runs");
    let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
    let request = serde_json::json!({
        "task": {"kind": "shell", "command": words, "peer": null},
        "scenario": SCENARIO, "origin": "path.toml", "seed": 1,
        "realtime": true, "bound": null, "parent": std::process::id(),
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(request.to_string().as_bytes())
        .expect("to ask");
    drop(stdin);
    Some(child.wait_with_output().expect("an answer"))
}

fn answer(output: &Output) -> serde_json::Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

#[test]
fn a_user_without_privileges_runs_commands_as_themselves() {
    let device =
        "mknod /mnt/tun c 10 200 && chmod 666 /mnt/tun && mount --bind /mnt/tun /dev/net/tun";
    let look = "id -u >&2; grep -c path: /proc/net/dev >&2; ls /proc | grep -c '^[0-9]' >&2; \
                grep -h CapEff /proc/self/status >&2; exit 5";
    let Some(output) = as_nobody(device, &["sh", "-c", look]) else {
        return;
    };
    let answer = answer(&output);
    if let Some(error) = answer["error"].as_str() {
        // Without user namespaces the message says so; everything else is a failure.
        assert!(error.contains("user namespaces"), "{error}");
        eprintln!("skipped: {error}");
        return;
    }
    assert_eq!(answer["ended"]["status"], 5);
    let seen = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[0], "65534", "the command runs as its user: {seen}");
    assert_eq!(lines[1], "1", "it sees the device: {seen}");
    // Its own processes and the first of the namespace, if /proc could be mounted: a handful.
    assert!(
        lines[2].parse::<u32>().is_ok_and(|count| count < 10),
        "{seen}"
    );
    assert!(
        lines[3].ends_with("0000000000000000"),
        "it has no capabilities: {seen}"
    );
    // Real-time scheduling needs rights; its refusal is reported.
    let report = &answer["ended"]["report"];
    assert_eq!(report["scheduler"], "SCHED_OTHER");
    assert!(report["realtime_refused"].is_string(), "{report}");
}

#[test]
fn an_inaccessible_device_is_named_with_the_accepted_one() {
    let device =
        "mknod /mnt/tun c 10 200 && chmod 600 /mnt/tun && mount --bind /mnt/tun /dev/net/tun";
    let Some(output) = as_nobody(device, &["true"]) else {
        return;
    };
    let answer = answer(&output);
    let error = answer["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("/dev/net/tun") || error.contains("user namespaces"),
        "{answer}"
    );
    assert!(
        error.contains("requires /dev/net/tun, readable and writable"),
        "{error}"
    );
}

#[test]
fn nothing_is_done_after_the_requesting_process_has_ended() {
    let program = env!("CARGO_BIN_EXE_thalweg-live");
    let mut child = Command::new(program)
        .args(["0", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let request = serde_json::json!({
        "task": {"kind": "shell", "command": ["true".as_bytes()], "peer": null},
        "scenario": SCENARIO, "origin": "path.toml", "seed": 1,
        "realtime": false, "bound": null, "parent": 1,
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(request.to_string().as_bytes())
        .expect("to ask");
    drop(stdin);
    let output = child.wait_with_output().expect("an answer");
    let answer = answer(&output);
    let error = answer["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("has ended") || error.contains("user namespaces"),
        "{answer}"
    );
}
