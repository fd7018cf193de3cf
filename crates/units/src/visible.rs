//! Texts of others where people read them: what a terminal, a page or a service of CI would obey is shown as an escape.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is obeyed in the place of being shown: a control character, the end of a line, or one that
/// changes the direction of text (`Bidi_Control` of Unicode Standard Annex 9).
pub fn is_obeyed(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control()
}

/// The first such character of a text, and where it stands; a text of lines may have their ends, LF or CRLF, and tabs.
pub fn find_obeyed(text: &str, has_lines: bool) -> Option<(usize, char)> {
    obeyed(text, has_lines).next()
}

/// A text in one line, with escapes for characters that are obeyed.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, false)
}

/// The same for a text of several lines, which may have tabs.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    shown(text, true)
}

fn obeyed(text: &str, has_lines: bool) -> impl Iterator<Item = (usize, char)> {
    let found = text.char_indices().filter(|(_, letter)| is_obeyed(*letter));
    found.filter(move |(at, letter)| match letter {
        '\n' | '\t' => !has_lines,
        '\r' => !(has_lines && text[at + 1..].starts_with('\n')),
        _ => true,
    })
}

fn shown(text: &str, has_lines: bool) -> Cow<'_, str> {
    let (mut shown, mut end) = (String::new(), 0);
    for (at, letter) in obeyed(text, has_lines) {
        shown += &text[end..at];
        match letter {
            '\n' => shown += "\\n",
            letter => {
                let _ = write!(shown, "\\u{:04x}", u32::from(letter));
            }
        }
        end = at + letter.len_utf8();
    }
    match end {
        0 => Cow::Borrowed(text),
        end => Cow::Owned(shown + &text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_obeyed_is_shown_as_an_escape_and_the_rest_as_it_is() {
        assert_eq!(visible("a\u{1b}[2Jb\nc\t"), "a\\u001b[2Jb\\nc\\u0009");
        assert_eq!(
            visible_lines("a\u{9b}\r\nc\t\rd"),
            "a\\u009b\r\nc\t\\u000dd"
        );
        assert_eq!(visible("\u{202e}gnp.exe\u{2028}"), "\\u202egnp.exe\\u2028");
        // Letters that are written from right to left, marks and joined emoji are text.
        let text = "größe, שלום, क्षि, 👩\u{200d}🔬";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    }
}
