// Opens what a link leads to, filters and sorts the overview, and prepares the page for print.
document.querySelectorAll('details[data-open="yes"]').forEach((one) => { one.open = true; });
const sections = [...document.querySelectorAll("section.scenario")];
const rows = [...document.querySelectorAll(".overview tbody tr")];

function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let one = target.querySelector("details") ?? target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
// Figures above the target may turn out higher than was reserved: it stays in sight until the reader moves on.
let moved = false;
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, () => { moved = true; }, { once: true, passive: true });
new ResizeObserver(() => { if (!moved && location.hash) reveal(); }).observe(document.body);

const contents = document.querySelector(".bar details");
contents?.addEventListener("click", (event) => { if (event.target.tagName === "A") contents.open = false; });

const form = document.querySelector(".filter");
if (form) {
  form.hidden = false;
  const [words, answer, shown] = ["filter", "answer", "shown"].map((id) => document.getElementById(id));
  const choose = () => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      const fits = wanted.every((word) => row.textContent.toLowerCase().includes(word))
        && (!answer.value || row.dataset.answer === answer.value);
      row.hidden = !fits;
      count += fits;
      const name = row.querySelector("a").textContent;
      const section = sections.find((one) => one.id === name);
      if (section) section.hidden = !fits;
    }
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length}`;
  };
  form.addEventListener("input", choose);
  form.addEventListener("submit", (event) => event.preventDefault());
}

const ANSWERS = ["fails", "infeasible", "holds", "no criteria"];
const keys = {
  name: (cell) => cell.textContent.trim(),
  answer: (cell) => ANSWERS.indexOf(cell.textContent.trim()),
  criterion: (cell) => cell.textContent.trim(),
  margin: (cell) => (/^-?[\d.]+/.test(cell.textContent) ? parseFloat(cell.textContent) : -Infinity),
  failures: (cell) => parseFloat(cell.textContent) || 0,
};
for (const head of document.querySelectorAll(".overview th[data-sort]")) {
  const key = keys[head.dataset.sort];
  if (!key) continue;
  const button = document.createElement("button");
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    document.querySelectorAll(".overview [aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const of = new Map(rows.map((row) => [row, key(row.cells[head.cellIndex])]));
    rows.sort((a, b) => {
      const order = typeof of.get(a) === "string" ? of.get(a).localeCompare(of.get(b)) : of.get(a) - of.get(b);
      return down ? -order : order;
    });
    document.querySelector(".overview tbody").append(...rows);
  });
}

// What opens the trial of a link on this machine, without a network.
for (const line of document.querySelectorAll(".lab")) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy the command for this machine" });
  const said = document.createElement("output");
  button.addEventListener("click", async () => {
    const words = `thalweg lab --open --trial '${new URL(line.querySelector("a").href).hash}'`;
    try {
      await navigator.clipboard.writeText(words);
      said.textContent = "copied";
    } catch {
      said.textContent = words; // this browser lets no page copy
    }
  });
  line.append(" ", button, " ", said);
}

// On paper all is open.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("section.scenario > details:not([open])")];
  folded.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));
