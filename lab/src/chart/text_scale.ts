// Drawings grow with the text: their units are those of a page whose letters have the usual 16 pixels.

/** Pixels of the page to a unit of a drawing. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
}
