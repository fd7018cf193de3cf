// Controllers of your own: written here in JavaScript, or dropped as a file.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { javascript } from "@codemirror/legacy-modes/mode/javascript";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { openFile } from "./open_file";
import { checked, refusal, setup } from "../state/lab";
import { COLOURS, LOOK } from "./editor";
import { ownFiles } from "../own/collection";
import { remove, shown, start, steer, TEMPLATES, write } from "../state/controllers";

/** What is wrong with the file that is shown, at its line. */
function diagnostics(view: EditorView): Diagnostic[] {
  const found = refusal.value;
  if (!found || found.file !== shown.value || found.line === null) return [];
  const line = view.state.doc.line(Math.min(Math.max(found.line, 1), view.state.doc.lines));
  return [{ from: line.from, to: line.to, severity: "error", message: found.message }];
}

/** The text of a script; nothing if it is gone. */
function textOf(name: string): string | undefined {
  const content = ownFiles.value[name];
  return typeof content === "string" ? content : undefined;
}

function Code({ name }: { name: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    // In a shadow tree its style sheets are constructed by script: the policy of the page allows no other ones.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    let late: ReturnType<typeof setTimeout> | undefined;
    /** The text of the file when it was last read or written here. */
    let known = textOf(name) ?? "";
    const save = (text: string) => {
      late = undefined;
      known = text;
      write(name, text);
    };
    const lint = linter(diagnostics, { delay: 0, needsRefresh: () => true });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: known,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          highlightActiveLine(),
          bracketMatching(),
          EditorView.lineWrapping,
          StreamLanguage.define(javascript),
          syntaxHighlighting(COLOURS),
          LOOK,
          lint,
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": `${name} in JavaScript; Escape, then Tab, leaves the editor` }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            clearTimeout(late);
            const text = update.state.doc.toString();
            late = text === known ? undefined : setTimeout(() => save(text), 250);
          }),
        ],
      }),
    });
    const stop = refusal.subscribe(() => view.dispatch({}));
    // A file that was replaced elsewhere, as by one that was dropped, is shown in the place of what is here.
    const follow = ownFiles.subscribe(() => {
      const text = textOf(name);
      if (text === undefined || text === known) return;
      known = text;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    });
    return () => {
      stop();
      follow();
      if (late !== undefined) {
        clearTimeout(late);
        if (textOf(name) !== undefined) save(view.state.doc.toString());
      }
      view.destroy();
    };
  }, [name]);
  return <div class="editor" ref={host} />;
}

export function OwnControllers() {
  const files = ownFiles.value;
  const name = shown.value !== null && Object.hasOwn(files, shown.value) ? shown.value : (Object.keys(files)[0] ?? null);
  const flows = checked.value?.flows ?? [];
  const content = name === null ? undefined : files[name];
  return (
    <div class="own">
      <p class="quiet">
        A class with <code>on_ack(event, path)</code> and <code>on_lost(event, path)</code> that sets <code>window</code> in bytes. It runs in this browser, in
        a worker without network.
      </p>
      <div class="buttons">
        {Object.keys(TEMPLATES).map((template) => (
          <button type="button" key={template} onClick={() => start(template)}>
            New from {template}
          </button>
        ))}
        <label class="file">
          Open .js or .wasm
          <input
            type="file"
            accept=".js,.mjs,.wasm"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              event.currentTarget.value = "";
              if (file) void openFile(file);
            }}
          />
        </label>
      </div>
      {name !== null && (
        <>
          <div class="knob">
            <label for="own-file">File</label>
            <select id="own-file" value={name} onChange={(event) => (shown.value = event.currentTarget.value)}>
              {Object.keys(files).map((file) => (
                <option key={file} value={file} selected={file === name}>
                  {file}
                </option>
              ))}
            </select>
          </div>
          <div class="buttons">
            {flows.map((flow) => {
              const steers = setup.value.controllers[flow]?.split(":")[0] === `./${name}`;
              return (
                <button type="button" key={flow} class={steers ? "" : "main"} disabled={steers} onClick={() => void steer(flow, name)}>
                  {steers ? `It steers ${flow}` : `Let it steer ${flow}`}
                </button>
              );
            })}
            <button type="button" onClick={() => remove(name)}>
              Remove {name}
            </button>
          </div>
          {typeof content === "string" ? <Code key={name} name={name} /> : <p>{content?.length} bytes of WebAssembly.</p>}
        </>
      )}
    </div>
  );
}
