// What is wrong with a controller that a reader wrote, in one message.

/** Its message has file, line, what is wrong and what is accepted. */
export class Mistake extends Error {
  constructor(
    message: string,
    readonly file: string,
    readonly line: number | null = null,
  ) {
    super(message);
    this.name = "Mistake";
  }
}

const LONGEST = 300;

/** What was thrown, in one line. */
export function thrown(error: unknown): string {
  const said = words(error).replaceAll(/\s+/g, " ").trim();
  return said.length > LONGEST ? `${said.slice(0, LONGEST)}…` : said;
}

/** What code of others throws may refuse to be read: it may have no prototype, or throw again. */
function words(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`;
  } catch {
    return `threw ${typeof error === "object" ? "an object" : `a ${typeof error}`} without words`;
  }
}

/** The line of a script, by its address, in which an error was thrown: the innermost one. */
export function lineOf(error: unknown, address: string): number | null {
  const stack = stackOf(error);
  for (const frame of stack.split("\n")) {
    const at = frame.indexOf(address);
    const line = at < 0 ? null : /^:(\d+)/.exec(frame.slice(at + address.length));
    if (line) return Number(line[1]);
  }
  return null;
}

function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack ?? "") : "";
  } catch {
    return "";
  }
}
