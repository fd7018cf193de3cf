// Completion and explanations in the editor, from the schema of the engine.

import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import { type Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import type { About } from "../engine/engine";
import { Keys, tableAt } from "./schema";

function linesBefore(context: CompletionContext): string[] {
  return context.state.doc.sliceString(0, context.pos).split("\n");
}

/** What may stand where the cursor is: a table, a key, or a value with its unit. */
export function completions(about: About): CompletionSource {
  const keys = new Keys(about.schema);
  const controllers: Completion[] = about.controllers.map(({ name, title }) => ({ label: `"${name}"`, detail: title, type: "constant" }));
  return (context): CompletionResult | null => {
    const lines = linesBefore(context);
    const line = lines[lines.length - 1] ?? "";
    const header = /^\s*\[{1,2}([\w.-]*)$/.exec(line);
    if (header) {
      const options = keys.of([]).filter((key) => key.kind !== "value" || key.name === "path");
      return {
        from: context.pos - line.trimStart().length,
        options: options.map((key) => ({
          label: key.kind === "list" ? `[[${key.name}]]` : `[${key.name}]`,
          info: key.meaning,
          type: "class",
        })),
        validFor: /^\[{1,2}[\w.-]*$/,
      };
    }
    const table = tableAt(lines.slice(0, -1));
    const value = /^\s*([\w.-]+)\s*=\s*("?[^"{]*)$/.exec(line);
    if (value) {
      const key = keys.of(table).find(({ name }) => name === value[1]);
      const options: Completion[] =
        value[1] === "controller" ? controllers : (key?.forms ?? []).map((form) => ({ label: form, type: "constant" }));
      return options.length ? { from: context.pos - (value[2] ?? "").length, options, validFor: /^"?[^"{]*$/ } : null;
    }
    const word = /^\s*([\w-]*)$/.exec(line);
    if (!word || (!context.explicit && word[1] === "")) return null;
    return {
      from: context.pos - (word[1] ?? "").length,
      options: keys.of(table).map((key) => ({
        label: key.name,
        apply: `${key.name} = `,
        detail: key.required ? "required" : (key.forms[0] ?? ""),
        info: key.meaning,
        type: "property",
        boost: key.required ? 1 : 0,
      })),
      validFor: /^[\w-]*$/,
    };
  };
}

/** Explains the key under the mouse. */
export function explanations(about: About): Extension {
  const keys = new Keys(about.schema);
  return hoverTooltip((view, position) => {
    const line = view.state.doc.lineAt(position);
    const named = /^\s*\[*([\w-]+)/.exec(line.text);
    if (!named || position - line.from > line.text.indexOf(named[1] as string) + (named[1] as string).length) return null;
    const before = view.state.doc.sliceString(0, line.from).split("\n");
    const isHeader = line.text.trimStart().startsWith("[");
    const key = keys.of(isHeader ? [] : tableAt(before)).find(({ name }) => name === named[1]);
    if (!key) return null;
    return {
      pos: line.from,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "hint";
        dom.textContent = `${key.meaning}${key.forms.length ? ` Accepted: ${key.forms.slice(0, 4).join(", ")}` : ""}`;
        return { dom };
      },
    };
  });
}
