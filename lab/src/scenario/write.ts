// Writes changed keys into the text of a scenario, each in its place: comments, order and what else stands there remain.
//
// It reads no more TOML than it needs to find places, and may be wrong about a text: who calls it compares what the
// engine reads of the result (`state/write_down.ts`).

interface Entry {
  key: string;
  /** Where its value begins and ends in the text. */
  from: number;
  until: number;
}

interface Table {
  /** As `--set` names it: `path`, `flow.main`; empty before the first header. */
  path: string;
  entries: Entry[];
  /** Where a line can be added. */
  end: number;
}

/** Where a value ends that begins at a place: before a comment, the end of the line, or what closes the table that it is in. */
function endOf(text: string, from: number, closing = ""): number {
  let [depth, last] = [0, from];
  for (let at = from; at < text.length; at++) {
    const sign = text[at] as string;
    if (sign === '"' || sign === "'") {
      const mark = text.startsWith(sign.repeat(3), at) ? sign.repeat(3) : sign;
      let end = at + mark.length;
      while (end < text.length && !text.startsWith(mark, end)) end += sign === '"' && text[end] === "\\" ? 2 : 1;
      at = end + mark.length - 1;
    } else if (sign === "[" || sign === "{") depth++;
    else if (depth > 0 && (sign === "]" || sign === "}")) depth--;
    else if (sign === "#") {
      if (depth === 0) break;
      at = lineEnd(text, at) - 1;
    } else if (depth === 0 && (sign === "\n" || (closing !== "" && (sign === "," || sign === closing)))) break;
    if (!/\s/.test(sign)) last = at + 1;
  }
  return last;
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found;
}

const bare = (key: string) => key.replaceAll(/\s*\.\s*/g, ".").replaceAll(/^["']|["']$/g, "").trim();

/** The key and the value that begin at a place; null if there is none. */
function entryAt(text: string, at: number, closing = ""): Entry | null {
  const found = /^([\w-]+(?:\s*\.\s*[\w-]+)*|"[^"\n]*"|'[^'\n]*')\s*=[ \t]*/.exec(text.slice(at, at + 300));
  if (!found) return null;
  const from = at + found[0].length;
  return { key: bare(found[1] as string), from, until: endOf(text, from, closing) };
}

function tablesOf(text: string): Table[] {
  const tables: Table[] = [{ path: "", entries: [], end: 0 }];
  let array: { header: string; table: Table } | null = null;
  for (let at = 0; at < text.length; ) {
    const table = tables[tables.length - 1] as Table;
    const header = /^\[(\[)?\s*([^\]\n]+?)\s*\]/.exec(text.slice(at, at + 300));
    if (/\s/.test(text[at] as string)) at++;
    else if (header) {
      const name = bare(header[2] as string);
      at = lineEnd(text, at);
      // A table behind an element of an array may be within it.
      const path: string = array && name.startsWith(`${array.header}.`) ? array.table.path + name.slice(array.header.length) : name;
      const made: Table = { path, entries: [], end: at };
      if (header[1]) array = { header: name, table: made };
      tables.push(made);
    } else {
      const entry = text[at] === "#" ? null : entryAt(text, at);
      at = lineEnd(text, entry ? entry.until : at);
      if (!entry) continue;
      table.entries.push(entry);
      table.end = at;
      if (entry.key === "name" && table === array?.table) table.path = `${array.header}.${bare(text.slice(entry.from, entry.until))}`;
    }
  }
  return tables;
}

/** The keys within a table in braces. */
function inside(text: string, { from, until }: Entry): Entry[] {
  const found: Entry[] = [];
  for (let at = from + 1; at < until; ) {
    const entry = /[\s,]/.test(text[at] as string) ? null : entryAt(text, at, "}");
    if (entry) found.push(entry);
    at = entry ? entry.until : at + 1;
  }
  return found;
}

/** Puts a value in the place of another, or behind the last of its table. */
function put(text: string, key: string, value: string): string {
  const replaced = ({ from, until }: Entry) => text.slice(0, from) + value + text.slice(until);
  const tables = tablesOf(text).filter(({ path }) => path === "" || key.startsWith(`${path}.`));
  tables.sort((one, other) => other.path.length - one.path.length);
  for (const { path, entries } of tables) {
    const rest = path === "" ? key : key.slice(path.length + 1);
    const own = entries.find((entry) => entry.key === rest);
    if (own) return replaced(own);
    const outer = entries.find((entry) => rest.startsWith(`${entry.key}.`) && text[entry.from] === "{");
    if (!outer) continue;
    const name = rest.slice(outer.key.length + 1);
    const all = inside(text, outer);
    const inner = all.find((entry) => entry.key === name);
    if (inner) return replaced(inner);
    const end = all.at(-1)?.until ?? outer.from + 1;
    return `${text.slice(0, end)}${all.length > 0 ? ", " : " "}${name} = ${value}${all.length > 0 ? "" : " "}${text.slice(end)}`;
  }
  const { path, end } = tables[0] as Table;
  const line = `${path === "" ? key : key.slice(path.length + 1)} = ${value}`;
  return end === 0 ? `${line}\n${text}` : `${text.slice(0, end)}\n${line}${text.slice(end)}`;
}

/** The text with keys set, as `--set` and `--controller` set them. */
export function inPlace(text: string, sets: Record<string, string>, controllers: Record<string, string>): string {
  const flows = tablesOf(text).flatMap(({ path }) => /^flow\.[^.]+$/.exec(path) ?? []);
  const ofEach = Object.entries(sets).flatMap(([key, value]) =>
    key.startsWith("flow.*.") ? flows.map((flow) => [flow + key.slice("flow.*".length), value] as const) : [[key, value] as const],
  );
  const all = [...Object.entries(controllers).map(([flow, name]) => [`flow.${flow}.controller`, JSON.stringify(name)] as const), ...ofEach];
  return all.reduce((written, [key, value]) => put(written, key, value), text);
}
