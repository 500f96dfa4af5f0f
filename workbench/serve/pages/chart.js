// Lines over time, drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, ABOVE, BELOW] = [600, 220, 70, 14, 28];

/** Draw series of [seconds, value]; values from 0 on. */
export function chart(series, written, title) {
  const all = series.flatMap(({ points }) => points);
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const latest = series
    .filter(({ points }) => points.length)
    .map(({ words, points }) => `${words} ${written(points[points.length - 1][1])}`);
  picture.setAttribute("aria-label", `${title}: ${latest.join(", ") || "nothing yet"}`);
  if (!all.length) return picture;
  const times = all.map(([time]) => time);
  const first = Math.min(...times);
  const last = Math.max(...times, first + 1);
  const top = rounded(Math.max(...all.map(([, value]) => value)) || 1);
  const x = (time) => LEFT + ((time - first) / (last - first)) * (WIDTH - LEFT - 8);
  const y = (value) => (1 - value / top) * (HEIGHT - BELOW - ABOVE) + ABOVE;
  for (const value of [0, top / 2, top]) {
    picture.append(shape("line", { x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }));
    picture.append(words(written(value), LEFT - 6, y(value) + 4, "end"));
  }
  const clock = (time) => new Date(1000 * time).toLocaleString("en-GB").slice(0, 17);
  picture.append(words(clock(first), LEFT, HEIGHT - 6, "start"));
  picture.append(words(clock(last), WIDTH - 8, HEIGHT - 6, "end"));
  series.forEach(({ points }, place) => {
    if (!points.length) return;
    const path = points.map(([time, value]) => `${x(time)},${y(value)}`).join(" ");
    const [time, value] = points[points.length - 1];
    picture.append(shape("polyline", { points: path, class: `line${place}` }));
    picture.append(shape("circle", { cx: x(time), cy: y(value), r: 3, class: `line${place}` }));
  });
  return picture;
}

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
