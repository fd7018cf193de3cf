// The page: what runs on the left, what came of it on the right.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { LIBRARY, local } from "../scenario/library";
import { chosen, narrow, scheme } from "../chart/appearance";
import { about, checked, failure, finished, open, proposed, refusal, rerun, run, running, settled, setup, stop, teaching } from "../state/lab";
import { Charts } from "./compare";
import { Editor } from "./editor";
import { chooseLesson, Lessons } from "./lessons";
import { Outcome } from "./outcome";
import { Path } from "./path";
import { Strip } from "./strip";
import { OwnControllers } from "./controllers";
import { FieldBar } from "./measurement";
import { LiveBar } from "../live/view";
import { Proposal } from "./proposal";
import { openEntry } from "../stored/state";
import { Results } from "../stored/view";
import { SweepForm } from "../sweep/view";
import { ACCEPTED, openFile } from "./open_file";
import { TakeAway } from "./take_away";
import { type Tab, tab } from "../state/tab";
import { Explanation } from "../words/term";
import { Watch } from "./watch";

const TABS: [Tab, string][] = [
  ["path", "Path"],
  ["scenario", "Scenario"],
  ["controller", "Controller"],
  ["sweep", "Sweep"],
  ["results", "Results"],
  ["lessons", "Lessons"],
];

/** Opens the lesson that the fragment of an address names: `#lesson=marks`. */
export function openLesson(fragment: string): void {
  const id = /^#lesson=([\w-]+)$/.exec(fragment)?.[1];
  if (id !== undefined && chooseLesson(id)) tab.value = "lessons";
}

function Header() {
  const offered = [...local.value, ...LIBRARY];
  const isOffered = offered.some(({ name }) => name === setup.value.origin);
  const isBusy = running.value || finished.value !== null || teaching.value;
  return (
    <header class="top">
      <h1>Thalweg lab</h1>
      <label class="picker">
        <span class="hidden">scenario</span>
        <select
          aria-label="scenario"
          value={setup.value.origin}
          onChange={(event) => {
            const found = offered.find(({ name }) => name === event.currentTarget.value);
            if (found) void open(found.text, found.name);
          }}
        >
          {!isOffered && <option value={setup.value.origin}>{setup.value.origin}</option>}
          {offered.map(({ name, title }) => (
            <option key={name} value={name} selected={name === setup.value.origin}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label class="file">
        Open a file
        <input
          type="file"
          accept=".toml,.js,.wasm,.json,.csv,.gz,.trace,.jitter,.txt"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            event.currentTarget.value = "";
            if (file) void openFile(file);
          }}
        />
      </label>
      <button type="button" class="run" onClick={() => (isBusy ? stop() : void rerun())}>
        {isBusy ? "Stop" : "Run again"}
      </button>
      <button
        type="button"
        aria-label={scheme.value === "dark" ? "light colours" : "dark colours"}
        onClick={() => (chosen.value = scheme.value === "dark" ? "light" : "dark")}
      >
        {scheme.value === "dark" ? "☀" : "☾"}
      </button>
    </header>
  );
}

function Tabs({ children }: { children: ComponentChildren }) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const index = TABS.findIndex(([name]) => name === tab.value);
    const [next] = TABS[(index + step + TABS.length) % TABS.length] as [Tab, string];
    tab.value = next;
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <aside class="side" aria-label="what runs">
      <div role="tablist" aria-label="what runs" class="tabs" onKeyDown={move}>
        {TABS.map(([name, title]) => (
          <button
            key={name}
            id={`tab-${name}`}
            role="tab"
            type="button"
            aria-selected={tab.value === name}
            aria-controls="tab-panel"
            tabIndex={tab.value === name ? 0 : -1}
            onClick={() => (tab.value = name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} class="tab">
        {children}
      </div>
    </aside>
  );
}

function Refused() {
  const refused = refusal.value;
  if (!refused && !failure.value) return null;
  return (
    <p class="refusal" role="alert">
      {failure.value ?? refused?.message}
      {refused && run.value && <span class="quiet"> Showing the previous trial.</span>}
    </p>
  );
}

function About() {
  const read = checked.value;
  const source = read?.values["source"];
  const note = read?.values["note"];
  if (!read) return null;
  return (
    <div class="about-scenario">
      <h2>{read.title}</h2>
      {typeof source === "string" && <p class="source">{source}</p>}
      {typeof note === "string" && tab.value !== "lessons" && (
        <details>
          <summary>Note</summary>
          <p>{note.trim()}</p>
        </details>
      )}
    </div>
  );
}

/** Moves the focus past what runs. The address keeps its fragment: it may contain a trial. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("trial")?.focus();
}

/** Whether a file is held over the page. */
const isOver = signal(false);

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

export function App() {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      isOver.value = event.type === "dragover";
    };
    const drop = (event: DragEvent) => {
      const file = event.dataTransfer?.files[0];
      const entry = event.dataTransfer?.items[0]?.webkitGetAsEntry();
      over(event);
      if (entry?.isDirectory) void openEntry(entry);
      else if (file) void openFile(file);
    };
    const kinds = ["dragover", "dragleave"] as const;
    for (const kind of kinds) addEventListener(kind, over);
    addEventListener("drop", drop);
    return () => {
      for (const kind of kinds) removeEventListener(kind, over);
      removeEventListener("drop", drop);
    };
  }, []);
  // Until there is something to show nothing is laid out, so that nothing moves when it comes.
  const isOpen = [run, refusal, failure, proposed].some((signal) => signal.value !== null);
  return (
    <>
      <a class="skip" href="#trial" onClick={skip}>
        Skip to the trial
      </a>
      {isOver.value && <div class="drop">Drop {ACCEPTED}, the folder of a stored result</div>}
      <Header />
      <p class="what">Congestion control, simulated: move a slider, watch.</p>
      <Proposal />
      <div class="body" data-ready={run.value ? "" : undefined} data-settled={settled.value ? "" : undefined} data-version={about.value?.version}>
        {!isOpen && <p class="loading">Loading the simulator…</p>}
        {isOpen && (
          <Tabs>
            {tab.value === "path" && <Path />}
            {tab.value === "scenario" && <Editor />}
            {tab.value === "controller" && <OwnControllers />}
            {tab.value === "sweep" && <SweepForm />}
            {tab.value === "results" && <Results />}
            {tab.value === "lessons" && <Lessons />}
          </Tabs>
        )}
        {isOpen && (
          <main id="trial" tabIndex={-1} aria-busy={running.value}>
            <Refused />
            {narrow.value && <Charts />}
            <About />
            <Outcome />
            {!narrow.value && <Charts />}
            <FieldBar />
            <Strip />
            <Watch />
            <LiveBar />
            <TakeAway />
          </main>
        )}
      </div>
      <Explanation />
    </>
  );
}
