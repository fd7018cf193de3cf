// The editor of a scenario: completes keys and units, and shows the engine's own message at its line while one types.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { Refusal } from "../engine/engine";
import { ownFiles } from "../own/collection";
import { completions, explanations } from "../scenario/completion";
import { scheme } from "../chart/appearance";
import { about, change, engineOf, setup } from "../state/lab";

export const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--quiet)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.atom, tags.number, tags.bool], color: "var(--number)" },
  { tag: [tags.propertyName, tags.keyword], color: "var(--key)" },
]);

export const LOOK = EditorView.theme({
  "&": { fontSize: "0.8125rem", backgroundColor: "var(--ground)", color: "var(--ink)", height: "100%" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "4px", maxWidth: "24rem" },
  ".cm-tooltip .hint": { padding: "0.4rem 0.6rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--selected) !important" },
});

/** The message of the engine at its line; without a line, at the first. */
async function check(view: EditorView): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  try {
    await engineOf().check({ text, origin: setup.value.origin, sets: {}, controllers: {}, files: ownFiles.value });
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) return [];
    const line = view.state.doc.line(Math.min(Math.max((error.file === null ? error.line : null) ?? 1, 1), view.state.doc.lines));
    return [{ from: line.from, to: line.to, severity: "error", message: error.message }];
  }
}

export function Editor() {
  const host = useRef<HTMLDivElement>(null);
  const known = about.value;
  useEffect(() => {
    if (!host.current || !known) return;
    // In a shadow tree its style sheets are constructed by script: the policy of the page allows no other ones.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const dark = new Compartment();
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: setup.value.text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          StreamLanguage.define(toml),
          syntaxHighlighting(COLOURS),
          LOOK,
          dark.of(EditorView.theme({}, { dark: scheme.value === "dark" })),
          autocompletion({ override: [completions(known)] }),
          explanations(known),
          linter(check, { delay: 200 }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": "scenario in TOML; Escape, then Tab, leaves the editor" }),
          EditorView.updateListener.of((update) => {
            const text = update.state.doc.toString();
            if (update.docChanged && text !== setup.value.text) void change({ text });
          }),
        ],
      }),
    });
    const stop = setup.subscribe(({ text }) => {
      if (text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      }
    });
    const follow = scheme.subscribe((now) =>
      view.dispatch({ effects: dark.reconfigure(EditorView.theme({}, { dark: now === "dark" })) }),
    );
    return () => {
      stop();
      follow();
      view.destroy();
    };
  }, [known]);
  return (
    <>
      <div class="editor" ref={host} />
      <p class="quiet">
        <kbd>Ctrl</kbd> <kbd>Space</kbd> completes; <kbd>Tab</kbd> indents; <kbd>Escape</kbd>, then <kbd>Tab</kbd>, leaves the editor.
      </p>
    </>
  );
}
