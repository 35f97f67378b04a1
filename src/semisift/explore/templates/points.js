// The points of the map: where they lie, how they look, which one is near.
const points = { rows: [], x: [], y: [], label: [], guess: [], sure: [], placeOf: new Map() };
const view = { zoom: 1, x: 0.5, y: 0.5 }; // the middle, in shares of the whole
const [MAX_ZOOM, EDGE, NEAR] = [60, 14, 16];
const sheet = byId("sheet");
const size = { width: 0, height: 0, ratio: 1 };

const spreadOut = (values) => {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  return Float64Array.from(values, (value) => (high > low ? (value - low) / (high - low) : 0.5));
};
const takePoints = (found) => {
  Object.assign(points, found, { x: spreadOut(found.x), y: spreadOut(found.y), placeOf: new Map(found.rows.map((row, place) => [row, place])) });
};
const toScreen = (place) => [
  size.width / 2 + (points.x[place] - view.x) * view.zoom * (size.width - 2 * EDGE),
  size.height / 2 - (points.y[place] - view.y) * view.zoom * (size.height - 2 * EDGE),
];
const isOnSheet = ([x, y]) => x >= 0 && y >= 0 && x <= size.width && y <= size.height;
const nearest = (x, y) => {
  let [found, least] = [-1, NEAR];
  for (let place = 0; place < points.rows.length; place += 1) {
    const [left, top] = toScreen(place);
    const distance = Math.hypot(left - x, top - y);
    if (distance < least) [found, least] = [place, distance];
  }
  return found;
};

// Each look is drawn once and then stamped, which is quick for thousands of points.
const stamps = new Map();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const stampOf = (place, filled) => {
  const key = `${place} ${filled}`;
  if (!stamps.has(key)) {
    const side = (filled ? 16 : 9) * size.ratio;
    const canvas = make("canvas", { width: Math.ceil(side), height: Math.ceil(side) });
    const pen = canvas.getContext("2d");
    pen.scale(side / 14, side / 14);
    pen.translate(1, 1);
    const path = new Path2D(shapeOf(place));
    pen.lineWidth = filled ? 1.5 : 1.7;
    pen.strokeStyle = filled ? colour("paper") : colour(colourOf(place));
    pen.fillStyle = filled ? colour(colourOf(place)) : colour("paper");
    pen.globalAlpha = filled ? 1 : 0.8;
    pen.fill(path);
    pen.stroke(path);
    stamps.set(key, canvas);
  }
  return stamps.get(key);
};
const ring = (pen, [x, y], radius, width, dash) => {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.setLineDash(dash);
  pen.lineWidth = width;
  pen.stroke();
  pen.setLineDash([]);
};
const marked = { at: -1, lasso: [], chosen: new Set() };
const drawSheet = () => {
  const pen = sheet.getContext("2d");
  const { width, height, ratio } = size;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const put = (place, filled, kind) => {
    const at = toScreen(place);
    if (!isOnSheet(at)) return;
    const look = stampOf(kind, filled);
    const side = look.width / ratio;
    pen.drawImage(look, at[0] - side / 2, at[1] - side / 2, side, side);
  };
  const { rows, label: given, guess, placeOf } = points;
  rows.forEach((row, place) => { if (given[place] < 0) put(place, false, guess[place]); });
  rows.forEach((row, place) => { if (given[place] >= 0) put(place, true, given[place]); });
  pen.strokeStyle = colour("ink");
  if (state) queueRows().forEach(({ row }) => { if (placeOf.has(row)) ring(pen, toScreen(placeOf.get(row)), 7.5, 1.3, [3.5, 2.2]); });
  if (placeOf.has(session.now)) ring(pen, toScreen(placeOf.get(session.now)), 9, 2.6, []);
  pen.strokeStyle = colour("accent");
  marked.chosen.forEach((row) => { if (placeOf.has(row)) ring(pen, toScreen(placeOf.get(row)), 6, 1.8, []); });
  if (marked.at >= 0) ring(pen, toScreen(marked.at), 8, 2, []);
  if (marked.lasso.length > 1) {
    pen.beginPath();
    marked.lasso.forEach(([x, y]) => pen.lineTo(x, y));
    pen.closePath();
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.globalAlpha = 0.12;
    pen.fillStyle = colour("accent");
    pen.fill();
    pen.globalAlpha = 1;
  }
};
let isDue = false;
const redraw = () => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    drawSheet();
  });
};
