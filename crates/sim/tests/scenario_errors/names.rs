//! Names are keys and parts of options, so they have one rule; texts that people see have no characters that a terminal
//! or a page would obey.

use super::{GOOD, read};
use proptest::prelude::*;
use std::fmt::Write;

const ALL_NAMED: &str = r#"title = "Example"
[[link]]
name = "near"
rate = "10 Mbps"
rtt = "50 ms"
[[flow]]
name = "main"
controller = "c4"
tunnel = "vpn"
[[flow.media]]
name = "video"
per_second = 30
duration = "1 s"
frame = "1 kB"
[[traffic]]
name = "cross"
rate = "1 Mbps"
tunnel = "vpn"
[[tunnel]]
name = "vpn"
circuit_breaker = { model = "transport", loss = "10 %", interval = "1 s" }
"#;

#[test]
fn a_name_that_is_no_key_is_refused_wherever_it_stands_and_a_like_one_is_proposed() {
    let mut table = String::new();
    for (from, to) in [
        ("\"near\"", "\"near end\""),
        ("\"near\"", "\"near up\""),
        ("\"main\"", "\"a.b\""),
        ("\"main\"", "\"a=b\""),
        ("\"main\"", "\"0\""),
        ("\"main\"", "\"主流\""),
        ("\"main\"", "\"\""),
        (
            "tunnel = \"vpn\"\n[[flow.media]]",
            "tunnel = \"*\"\n[[flow.media]]",
        ),
        ("\"video\"", "\"video/high\""),
        ("\"cross\"", "\"-c\""),
        ("tunnel = \"vpn\"\n[[tunnel]]", "tunnel = \"\"\n[[tunnel]]"),
        ("name = \"vpn\"", "name = \"v|p\""),
    ] {
        let text = ALL_NAMED.replacen(from, to, 1);
        assert_ne!(text, ALL_NAMED, "{from}");
        writeln!(table, "{}", read(text.as_bytes(), &[], &[]).unwrap_err()).unwrap();
    }
    for (key, name) in [
        ("flow.main.name", "first user"),
        ("traffic.cross.name", "main"),
    ] {
        let error = read(ALL_NAMED.as_bytes(), &[(key, name)], &[]).unwrap_err();
        writeln!(table, "{error}").unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:3: `name = "near end"`: "near end" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "near-end"
    a.toml:3: `name = "near up"`: "near up" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "near-up"
    a.toml:7: `name = "a.b"`: "a.b" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "a-b"
    a.toml:7: `name = "a=b"`: "a=b" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "a-b"
    a.toml:7: `name = "0"`: "0" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:7: `name = "主流"`: "主流" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:7: `name = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:9: `tunnel = "*"`: "*" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:11: `name = "video/high"`: "video/high" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "video-high"
    a.toml:16: `name = "-c"`: "-c" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "c"
    a.toml:18: `tunnel = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:20: `name = "v|p"`: "v|p" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "v-p"
    a.toml --set flow.main.name=first user: `name = "first user"`: "first user" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "first-user"
    a.toml --set traffic.cross.name=main: traffic.0.name: "main" names two flows or sources of traffic; accepted: unique names
    "##);
}

#[test]
fn a_text_that_terminals_obey_is_refused_and_shown_as_an_escape() {
    let mut table = String::new();
    for (from, to) in [
        ("Example", "a\\u001b[2J"),
        ("Example", "a\\n::error::b"),
        ("Example", "a\u{202e}b"),
        ("title", "note = \"\\u009b31m\"\ntitle"),
        ("title", "\"\\u2066\" = 1\ntitle"),
        ("title", "# \u{2066} a comment\ntitle"),
        ("10 Mbps", "10\\u0007 Mbps"),
        ("\"main\"", "\"a\\u0000b\""),
        ("at_most", "source = \"\\u200f\"\nat_most"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        writeln!(table, "{}", read(text.as_bytes(), &[], &[]).unwrap_err()).unwrap();
    }
    let sets = [("title", "\u{1b}[2J")];
    writeln!(table, "{}", read(GOOD.as_bytes(), &sets, &[]).unwrap_err()).unwrap();
    let controllers = [("main", "\u{1b}[2J")];
    writeln!(
        table,
        "{}",
        read(GOOD.as_bytes(), &[], &controllers).unwrap_err()
    )
    .unwrap();
    insta::assert_snapshot!(table, @r##"
    a.toml:1: title: has the character U+001B, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:1: title: has the character U+000A; accepted: a text in one line
    a.toml:1: has the character U+202E, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:1: note: has the character U+009B, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:1: \u2066: has the character U+2066, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:1: has the character U+2066, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:3: path.rate: has the character U+0007, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:12: flow.0.name: has the character U+0000, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:22: pass.0.source: has the character U+200F, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml --set title=\u001b[2J: title: has the character U+001B, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    --controller main=\u001b[2J: unknown controller "\u001b[2J"; accepted: CONTROLLERS
    "##);
}

#[test]
fn notes_have_lines_and_titles_any_script() {
    let text = GOOD.replacen(
        "title = \"Example\"",
        "title = \"größe, שלום, 主流, 👩\u{200d}🔬\"\nnote = \"\"\"\na\n\tb\"\"\"",
        1,
    );
    let scenario = read(text.as_bytes(), &[], &[]).unwrap();
    assert_eq!(scenario.title, "größe, שלום, 主流, 👩\u{200d}🔬");
    assert_eq!(scenario.note.as_deref(), Some("a\n\tb"));
}

proptest! {
    /// A message is one line that shows what it says, whatever stands in the place of a value.
    #[test]
    fn no_refusal_has_a_character_that_is_obeyed(value in any::<String>(), at in 0..5_usize) {
        let quoted = toml::Value::String(value.clone()).to_string();
        let place = ["\"Example\"", "\"10 Mbps\"", "\"main\"", "\"c4\"", "\"closed\""][at];
        let text = GOOD.replacen(place, &quoted, 1);
        let obeyed = |text: &str| text.contains(thalweg_units::is_obeyed);
        match read(text.as_bytes(), &[], &[]) {
            Err(message) => prop_assert!(!obeyed(&message), "{:?}", message),
            Ok(scenario) => prop_assert!(!obeyed(&scenario.title), "{:?}", scenario.title),
        }
    }
}
