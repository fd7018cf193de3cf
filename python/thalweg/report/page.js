const figures = JSON.parse(document.querySelector("script#figures").textContent);
const themes = JSON.parse(document.querySelector("script#themes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function draw(place) {
  place.dataset.begun = "";
  const spec = { ...figures[place.dataset.figure], config: dark.matches ? themes.dark : themes.light };
  const options = { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg" };
  return vegaEmbed(place, spec, options);
}

// A figure is drawn when it is about to be seen: a page of many figures opens at once.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    if (!("begun" in entry.target.dataset)) draw(entry.target);
  }
}, { rootMargin: "600px" });

// The others follow one by one when the browser has nothing else to do: no browser waits for figures that are
// begun when the page is printed.
const idle = window.requestIdleCallback ?? ((then) => setTimeout(then, 100));
function drawRest() {
  idle(() => {
    const place = document.querySelector("[data-figure]:not([data-begun])");
    if (place) draw(place).finally(drawRest);
  });
}

const places = document.querySelectorAll("[data-figure]");
places.forEach((place) => seen.observe(place));
addEventListener("load", drawRest);
dark.addEventListener("change", () => places.forEach((place) => "begun" in place.dataset && draw(place)));
