// Lines, a band around one of them and a goal, drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, ABOVE, BELOW] = [600, 220, 70, 14, 28];

/**
 * Draw lines of [x, y], values from 0 on, each with the class `key`; a band of [x, low, high]; and
 * a goal, a level line. The picture begins at `from`, or at the first point; `xs` and `ys` write
 * values beside the axes, `says` is the whole in words.
 */
export function chart({ lines, band = [], goal = null, from = Infinity, xs, ys, says }) {
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  picture.setAttribute("aria-label", says);
  const all = [...lines.flatMap(({ points }) => points), ...band.map(([x, , high]) => [x, high])];
  if (!all.length) return picture;
  const first = Math.min(from, ...all.map(([value]) => value));
  const last = Math.max(...all.map(([value]) => value), first + 1);
  const top = rounded(Math.max(...all.map(([, value]) => value), goal ?? 0) || 1);
  const x = (value) => LEFT + ((value - first) / (last - first)) * (WIDTH - LEFT - 8);
  const y = (value) => (1 - value / top) * (HEIGHT - BELOW - ABOVE) + ABOVE;
  for (const value of [0, top / 2, top]) {
    picture.append(shape("line", { x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }));
    picture.append(words(ys(value), LEFT - 6, y(value) + 4, "end"));
  }
  picture.append(words(xs(first), LEFT, HEIGHT - 6, "start"));
  picture.append(words(xs(last), WIDTH - 8, HEIGHT - 6, "end"));
  if (band.length) {
    const ends = [...band.map(([at, , high]) => [at, high]), ...band.map(([at, low]) => [at, low]).reverse()];
    picture.append(shape("polygon", { points: path(ends, x, y), class: "band" }));
  }
  if (goal != null) {
    const level = { x1: LEFT, x2: WIDTH - 8, y1: y(goal), y2: y(goal), class: "asked" };
    picture.append(shape("line", level));
  }
  for (const { key, points } of lines) {
    if (!points.length) continue;
    const [at, value] = points[points.length - 1];
    picture.append(shape("polyline", { points: path(points, x, y), class: key }));
    picture.append(shape("circle", { cx: x(at), cy: y(value), r: 3, class: key }));
  }
  return picture;
}

/** A QR code of rows of 0 and 1, each square a path's step. */
export function squares(rows, title) {
  const picture = shape("svg", { viewBox: `0 0 ${rows.length} ${rows.length}`, role: "img" });
  picture.setAttribute("aria-label", title);
  picture.setAttribute("class", "qr");
  const dark = rows.flatMap((row, y) =>
    [...row].map((square, x) => (square === "1" ? `M${x} ${y}h1v1h-1z` : ""))
  );
  picture.append(shape("rect", { width: rows.length, height: rows.length, fill: "#fff" }));
  picture.append(shape("path", { d: dark.join(""), fill: "#000" }));
  return picture;
}

const path = (points, x, y) => points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ");

/** The next number above that is easy to halve: 1, 2, 4, 6, 8 or 10, a power of ten times. */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].find((digit) => digit * power >= value * 0.999) * power;
}

function shape(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function words(text, x, y, anchor) {
  const made = shape("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}
