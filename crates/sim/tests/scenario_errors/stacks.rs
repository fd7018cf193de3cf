//! Refusals of the key `stack`.

use super::refusal;
use std::fmt::Write;

#[test]
fn a_stack_that_is_none_is_refused_with_the_accepted_forms() {
    let mut table = String::new();
    for stack in [
        "\"quick\"",
        "\"\"",
        "3",
        "[\"quic\"]",
        "\"/nowhere/libmine.so\"",
        "\"/dev/null\"",
    ] {
        let set = format!("download = \"9 MB\"\nstack = {stack}");
        writeln!(table, "{}", refusal("download = \"9 MB\"", &set)).unwrap();
    }
    insta::assert_snapshot!(table, @r#"
    a.toml:15: `stack = "quick"`: unknown value "quick" (did you mean "quic"?); accepted: one of "model", "quic", "./libmine.so"
    a.toml:15: `stack = ""`: unknown value ""; accepted: one of "model", "quic", "./libmine.so"
    a.toml:15: `stack = 3`: 3 is a number; accepted: "./libmine.so", or "model", "quic"
    a.toml:15: `stack = ["quic"]`: this is a list; accepted: "./libmine.so", or "model", "quic"
    a.toml:15: flow.0.stack: "/nowhere/libmine.so" cannot be read: No such file or directory (os error 2); accepted: "model", "quic" or a library with the functions of thalweg_stack.h
    a.toml:15: flow.0.stack: "/dev/null" is not a file of at most 1 GiB; accepted: "model", "quic" or a library with the functions of thalweg_stack.h
    "#);
}
