// Sliders and lists for the path and the controllers. The trial is run again while a slider moves.

import { ownFiles } from "../own/collection";
import { narrow } from "../chart/appearance";
import { about, adjust, change, checked, refusal, seed, setup } from "../state/lab";
import { writeDown } from "../state/write_down";
import { type Choice, type Knob, settings } from "../scenario/knobs";
import { type MediumChoice, type MediumSettings, mediumSettings } from "../scenario/medium";
import type { CheckedScenario } from "../engine/engine";
import { Term } from "../words/term";

const STEPS = 300;

function Slider({ knob, term }: { knob: Knob; term?: string }) {
  const { position } = knob;
  const id = `knob-${knob.key.replaceAll(".", "-")}-${knob.label.replaceAll(" ", "-")}`;
  return (
    <div class="knob">
      <label for={id}>{term ? <Term term={term}>{knob.label}</Term> : knob.label}</label>
      <output for={id}>{knob.shown}</output>
      <input
        id={id}
        type="range"
        min={0}
        max={STEPS}
        value={position === null ? 0 : Math.round(position * STEPS)}
        disabled={position === null}
        aria-label={knob.label}
        aria-valuetext={knob.shown}
        onInput={(event) => void adjust(knob.at(Number(event.currentTarget.value) / STEPS))}
      />
    </div>
  );
}

function List({ choice }: { choice: Choice }) {
  return <Words label={choice.label} choice={choice} choose={(word) => void adjust(choice.set(word))} />;
}

/** A list of words, and what choosing one of them does. */
function Words({ label, term, choice, choose }: { label: string; term?: string; choice: { chosen: string; words: string[] }; choose: (word: string) => void }) {
  const id = `choice-${label.replaceAll(" ", "-")}`;
  return (
    <div class="knob">
      <label for={id}>{term ? <Term term={term}>{label}</Term> : label}</label>
      <select id={id} value={choice.chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {choice.words.map((word) => (
          <option key={word} value={word} selected={word === choice.chosen}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The medium of the hop, and its neighbours. */
function Air({ air }: { air: MediumSettings }) {
  const choose = (choice: MediumChoice) => (word: string) => void change({ sets: choice.choose(word, setup.value.sets) });
  return (
    <>
      <Words label="Medium" term="medium" choice={air.medium} choose={choose(air.medium)} />
      {air.neighbours && <Slider knob={air.neighbours} />}
      {air.heard && <Words label="Who hears them" choice={air.heard} choose={choose(air.heard)} />}
    </>
  );
}

/** The controller of each flow, as the scenario has it now. */
function controllersOf(read: CheckedScenario): Record<string, string> {
  const flows = read.values["flow"];
  const found: Record<string, string> = {};
  for (const flow of Array.isArray(flows) ? flows : []) {
    if (typeof flow !== "object" || Array.isArray(flow)) continue;
    found[String(flow["name"])] = String(flow["controller"]);
  }
  return found;
}

/** The settings with the stack that a controller needs: those of the QUIC stack run nowhere else. */
function stacked(flow: string, controller: string): Record<string, string> {
  const { [`flow.${flow}.stack`]: _, ...rest } = setup.value.sets;
  return controller.startsWith("noq:") ? { ...rest, [`flow.${flow}.stack`]: '"quic"' } : rest;
}

/** The lists of controllers, or only what stands below them where it has no room: their options, and what they are. */
function Controllers({ read, only }: { read: CheckedScenario; only?: "names" | "options" | undefined }) {
  const known = about.value?.controllers ?? [];
  /** Those in Python, of the folder that a local server was given. */
  const files = about.value?.files ?? [];
  return (
    <>
      {Object.entries(controllersOf(read)).map(([flow, controller]) => {
        const [, name = "", options = ""] = /^((?:noq:)?[^:]*):?(.*)$/s.exec(controller) ?? [];
        const entry = known.find((one) => one.name === name);
        const choose = (text: string) => void change({ controllers: { ...setup.value.controllers, [flow]: text }, sets: stacked(flow, text) });
        return (
          <div class="knob controller" key={flow}>
            {only !== "options" && (
              <>
                <label for={`controller-${flow}`}>
                  Controller of <b>{flow}</b>
                </label>
                <select id={`controller-${flow}`} value={name} title={entry?.title} onChange={(event) => choose(event.currentTarget.value)}>
                  {known.map((one) => (
                    <option key={one.name} value={one.name} selected={one.name === name}>
                      {one.name}
                    </option>
                  ))}
                  {Object.keys(ownFiles.value).map((file) => (
                    <option key={file} value={`./${file}`} selected={name === `./${file}`}>
                      ./{file}
                    </option>
                  ))}
                  {files.map((file) => (
                    <option key={file} value={file} selected={name === file}>
                      {file}
                    </option>
                  ))}
                  {!entry && !files.includes(name) && !Object.hasOwn(ownFiles.value, name.replace("./", "")) && <option value={name}>{name}</option>}
                </select>
              </>
            )}
            {only !== "names" && (
              <>
                <input
                  type="text"
                  value={options}
                  placeholder="options"
                  aria-label={`options of the controller of ${flow}`}
                  list={`options-${flow}`}
                  spellcheck={false}
                  onChange={(event) => {
                    const own = event.currentTarget.value.trim();
                    choose(own ? `${name}:${own}` : name);
                  }}
                />
                <datalist id={`options-${flow}`}>
                  {(entry?.options ?? []).map((option) => (
                    <option key={option.name} value={`${option.name}=${option.default}`}>
                      {option.meaning}
                    </option>
                  ))}
                </datalist>
                <p class="about">{entry ? `${entry.title}. ${entry.source}` : name.startsWith("./") ? "A controller of your own." : "not one of the simulator's controllers"}</p>
              </>
            )}
          </div>
        );
      })}
    </>
  );
}

export function Path() {
  const read = checked.value;
  if (!read) return <p>{refusal.value ? "" : "Reading the scenario…"}</p>;
  const queues = (about.value?.models ?? []).filter((model) => model.kind === "queue").map((model) => model.name);
  const now = settings(read, queues, setup.value.sets);
  const isChanged = Object.keys(setup.value.sets).length + Object.keys(setup.value.controllers).length > 0;
  const more = (
    <>
      <List choice={now.queue} />
      <List choice={now.jitter} />
      {now.jitterMean && <Slider knob={now.jitterMean} term="jitter" />}
      <Air air={mediumSettings(now.hop, now.values)} />
      <div class="knob">
        <label for="linux-hosts">
          <Term term="hosts">As Linux sends it</Term>
        </label>
        <input
          id="linux-hosts"
          type="checkbox"
          checked={now.linuxHosts.isOn}
          onChange={() => void change({ sets: now.linuxHosts.turned(setup.value.sets) })}
        />
      </div>
      <div class="knob">
        <label for="seed">
          <Term term="seed">Seed</Term>
        </label>
        <input
          id="seed"
          type="number"
          min={0}
          step={1}
          value={String(seed.value)}
          onChange={(event) => {
            const text = event.currentTarget.value;
            if (/^\d{1,19}$/.test(text)) void change({}, BigInt(text));
          }}
        />
      </div>
      {/* Always there, so that they keep the focus when they have nothing more to do. */}
      <div class="changes">
        <button type="button" aria-disabled={!isChanged} onClick={() => isChanged && void change({ sets: {}, controllers: {} })}>
          Undo all changes
        </button>
        <button
          type="button"
          aria-disabled={!isChanged}
          onClick={() => isChanged && void writeDown()}
        >
          Write them into the scenario
        </button>
      </div>
    </>
  );
  return (
    <form class="path" onSubmit={(event) => event.preventDefault()}>
      <Controllers read={read} only={narrow.value ? "names" : undefined} />
      {now.hops > 1 && (
        <p class="quiet">
          These change <b>{now.hop}</b>, the first of {now.hops} links; the others are changed in the scenario.
        </p>
      )}
      <Slider knob={now.rate} term="capacity" />
      <Slider knob={now.rtt} term="base RTT" />
      {now.upDelay && <Slider knob={now.upDelay} term="base RTT" />}
      <Slider knob={now.buffer} term="buffer" />
      <Slider knob={now.loss} term="random loss" />
      {narrow.value ? (
        <details class="more">
          <summary>More settings</summary>
          <Controllers read={read} only="options" />
          {more}
        </details>
      ) : (
        more
      )}
    </form>
  );
}
