const figures = JSON.parse(document.getElementById("figures").textContent);
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function draw(place) {
  const spec = { ...figures[place.dataset.figure], config: dark.matches ? themes.dark : themes.light };
  const options = { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg" };
  return vegaEmbed(place, spec, options);
}

// A figure is drawn when it is about to be seen: a page of many figures opens at once.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "600px" });

const places = document.querySelectorAll("[data-figure]");
places.forEach((place) => seen.observe(place));
dark.addEventListener("change", () => places.forEach((place) => place.firstChild && draw(place)));
window.addEventListener("beforeprint", () => places.forEach((place) => place.firstChild || draw(place)));
