// Links, files and the command line of the present trial.

import { useSignal } from "@preact/signals";
import { command, csvFile, fileName, pngFile, qlogFile, save, scenarioName, sourceOf, svgFile, tomlFile } from "../state/files";
import { address, failure, kept, run } from "../state/lab";
import { obstacles } from "../state/others";
import { numbers } from "../trial/columns";

export function TakeAway() {
  const said = useSignal("");
  const link = useSignal("");
  const shown = run.value;
  if (!shown) return null;
  const { found } = sourceOf(shown.setup);
  const savedAs = scenarioName(shown.setup.origin);
  const words = command(shown);
  const hindered = obstacles([shown.setup, ...(kept.value ? [kept.value.setup] : [])]);
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = `${what} copied`;
    } catch {
      said.value = "this browser does not let a page copy: select the text";
    }
  };
  const plain = (text: string, type: string) => new Blob([text], { type });
  const hasFrames = numbers(shown.trial.trace?.frames ?? {}, "time_s").length > 0;
  const files: [string, () => void | Promise<void>][] = [
    ["TOML", () => save(savedAs, plain(tomlFile(shown), "application/toml"))],
    ["CSV of flows", () => save(fileName(shown, "flows.csv"), plain(csvFile(shown, "flows"), "text/csv"))],
    ["CSV of links", () => save(fileName(shown, "links.csv"), plain(csvFile(shown, "links"), "text/csv"))],
    ["CSV of packets", () => save(fileName(shown, "packets.csv"), plain(csvFile(shown, "packets"), "text/csv"))],
    ...(hasFrames ? [["CSV of frames", () => save(fileName(shown, "frames.csv"), plain(csvFile(shown, "frames"), "text/csv"))] as [string, () => void]] : []),
    ["qlog", async () => save(fileName(shown, "sqlog"), plain(await qlogFile(shown, "sqlog"), "application/qlog+json-seq"))],
    ["qlog for qvis", async () => save(fileName(shown, "qlog"), plain(await qlogFile(shown, "qlog"), "application/qlog+json"))],
    ["SVG", () => save(fileName(shown, "svg"), plain(svgFile(shown), "image/svg+xml"))],
    ["PNG", async () => save(fileName(shown, "png"), await pngFile(shown))],
  ];
  return (
    <section class="take-away" aria-label="take away">
      <h2>Take away</h2>
      <div class="buttons">
        <button
          type="button"
          class="main"
          onClick={() =>
            void address().then(
              (found) => {
                link.value = found;
                return copy(found, "link");
              },
              (error: Error) => (failure.value = error.message),
            )
          }
        >
          {kept.value ? "Copy a link to both trials" : "Copy a link to this trial"}
        </button>
        {hindered.length > 0 && <span class="quiet hindered">{hindered.join(" ")}</span>}
        {files.map(([name, act]) => (
          <button
            type="button"
            key={name}
            onClick={() => void Promise.resolve(act()).catch((error: Error) => (failure.value = error.message))}
          >
            {name}
          </button>
        ))}
      </div>
      <span role="status" class="said">
        {said.value}
      </span>
      {link.value && <input class="link" readOnly value={link.value} aria-label="link to this trial" onFocus={(event) => event.currentTarget.select()} />}
      {words === null ? (
        <p class="quiet">The command line runs no controllers in JavaScript or WebAssembly: a link contains this one.</p>
      ) : (
        <div class="command">
          <code tabIndex={0}>{words}</code>
          <button type="button" onClick={() => void copy(words, "command")}>
            Copy
          </button>
        </div>
      )}
      {found === "folder" && <p class="quiet">Run it in the folder that the lab was given.</p>}
      {found === null && words !== null && <p class="quiet">Save the TOML first: the command reads it from {savedAs}.</p>}
    </section>
  );
}
