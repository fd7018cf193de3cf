// Opens the page with its engine.

import { render } from "preact";
import { PageEngine } from "./engine/page_engine";
import { scenariosOf, ServerEngine } from "./engine/server_engine";
import { WithOwn } from "./own/engine";
import { runLive } from "./live/live";
import { firstOf, local, titleOf } from "./scenario/library";
import { api } from "./api";
import { begin, failure, openFragment, rerun } from "./state/lab";
import { useShelf } from "./stored/state";
import { useSweeps } from "./sweep/sweep";
import { App, openLesson } from "./view/app";

window.thalweg = api;
const place = document.getElementById("lab");
if (place) {
  place.replaceChildren();
  render(<App />, place);
}
addEventListener("hashchange", () => {
  openLesson(location.hash);
  void openFragment().then((found) => (found ? rerun() : undefined));
});
openLesson(location.hash);

// The address that `thalweg lab` prints has a token: then trials run on that machine, else in this page.
const token = new URLSearchParams(location.search).get("token");
if (token === null) void begin(new WithOwn(new PageEngine()));
else {
  const server = new ServerEngine(token);
  void useShelf(server.shelf);
  void useSweeps(server.sweeps);
  runLive.value = server.live;
  const offered = scenariosOf(token).then(
    (found) => {
      local.value = Object.entries(found).map(([name, text]) => ({ name, title: `${titleOf(text) ?? name} (${name})`, text }));
      return firstOf(local.value);
    },
    (error: Error) => void (failure.value = error.message),
  );
  void begin(new WithOwn(server), offered.then((found) => found ?? undefined));
}
