// What a chart is drawn with: a canvas on the screen, or SVG for a file. Both show the same picture.

export interface Stroke {
  colour: string;
  width: number;
  dash?: number[];
}

export interface Pen {
  line(points: Float64Array, stroke: Stroke): void;
  /** Closed outlines, filled. */
  area(points: Float64Array, fill: string, opacity: number): void;
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  dots(points: Float64Array, radius: number, fill: string): void;
  text(words: string, x: number, y: number, colour: string, align: "left" | "center" | "right"): void;
}

/** Draws on a canvas. Points come as x, y, x, y; NaN begins a new piece. */
export class CanvasPen implements Pen {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly font: string,
  ) {}

  line(points: Float64Array, { colour, width, dash = [] }: Stroke): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.lineJoin = "round";
    this.path(points);
    context.stroke();
  }

  area(points: Float64Array, fill: string, opacity: number): void {
    const { context } = this;
    context.fillStyle = fill;
    context.globalAlpha = opacity;
    this.path(points);
    context.fill();
    context.globalAlpha = 1;
  }

  private path(points: Float64Array): void {
    const { context } = this;
    context.beginPath();
    let open = false;
    for (let index = 0; index + 1 < points.length; index += 2) {
      const [x, y] = [points[index] as number, points[index + 1] as number];
      if (Number.isNaN(y)) open = false;
      else if (open) context.lineTo(x, y);
      else {
        context.moveTo(x, y);
        open = true;
      }
    }
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  dots(points: Float64Array, radius: number, fill: string): void {
    this.context.fillStyle = fill;
    for (let index = 0; index + 1 < points.length; index += 2) {
      const [x, y] = [points[index] as number, points[index + 1] as number];
      this.context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }

  text(words: string, x: number, y: number, colour: string, align: "left" | "center" | "right"): void {
    this.context.font = this.font;
    this.context.fillStyle = colour;
    this.context.textAlign = align;
    this.context.textBaseline = "middle";
    this.context.fillText(words, x, y);
  }
}

/** Collects SVG elements. */
export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  line(points: Float64Array, { colour, width, dash = [] }: Stroke): void {
    const path = described(points);
    if (path) {
      const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
      this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
    }
  }

  area(points: Float64Array, fill: string, opacity: number): void {
    const path = described(points);
    if (path) this.parts.push(`<path d="${path}" fill="${fill}" fill-opacity="${opacity}"/>`);
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`,
    );
  }

  dots(points: Float64Array, radius: number, fill: string): void {
    let path = "";
    for (let index = 0; index + 1 < points.length; index += 2) {
      const [x, y] = [points[index] as number, points[index + 1] as number];
      path += `M${short(x - radius)} ${short(y - radius)}h${2 * radius}v${2 * radius}h${-2 * radius}z`;
    }
    if (path) this.parts.push(`<path d="${path}" fill="${fill}"/>`);
  }

  text(words: string, x: number, y: number, colour: string, align: "left" | "center" | "right"): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${colour}" text-anchor="${anchor}" dominant-baseline="central">${escaped(words)}</text>`,
    );
  }

  group(x: number, y: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${x} ${y})">`);
    draw();
    this.parts.push("</g>");
  }

  /** The document. */
  document(width: number, height: number, background: string): string {
    const font = "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\"";
    const ground = `<rect width="${width}" height="${height}" fill="${background}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font}>${ground}${this.parts.join("\n")}</svg>\n`;
  }
}

/** The path through some points. */
function described(points: Float64Array): string {
  let path = "";
  let open = false;
  for (let index = 0; index + 1 < points.length; index += 2) {
    const [x, y] = [points[index] as number, points[index + 1] as number];
    if (Number.isNaN(y)) open = false;
    else {
      path += `${open ? "L" : "M"}${short(x)} ${short(y)}`;
      open = true;
    }
  }
  return path;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
