// The map: zoomed by wheel, fingers, buttons and keys, moved by dragging, told about under the pointer.
const sayPoint = (place) => {
  const [given, guess, sure] = [points.label[place], points.guess[place], points.sure[place]];
  const name = shorten(nameOf(points.rows[place]));
  if (given >= 0) return `${name}: labelled ${shorten(className(given))}`;
  return guess >= 0 ? `${name}: unlabelled, guess ${shorten(className(guess))} (${percent(sure)})` : `${name}: unlabelled`;
};
const tip = byId("tip");
const point = (place) => {
  marked.at = place;
  tip.hidden = place < 0;
  redraw();
  if (place < 0) return;
  const [x, y] = toScreen(place);
  write(tip, sayPoint(place));
  tip.style.left = `${within(x - tip.offsetWidth / 2, 0, Math.max(0, size.width - tip.offsetWidth))}px`;
  const above = y - tip.offsetHeight - 12;
  tip.style.top = `${above < 0 ? y + 12 : above}px`;
};
// Rows have names that the map does not hold: the one under the pointer is asked for.
let patience = 0;
const tell = (place) => {
  point(place);
  clearTimeout(patience);
  if (place < 0 || names.has(points.rows[place])) return;
  patience = setTimeout(() => {
    const row = points.rows[place];
    ask(`/api/row?row=${row}`).then(({ name }) => {
      names.set(row, name);
      if (marked.at === place) point(place);
    }).catch(() => {});
  }, 120);
};

const setView = (zoom, x, y) => {
  const half = 0.5 / Math.max(1, zoom);
  view.zoom = within(zoom, 1, MAX_ZOOM);
  view.x = within(x, half, 1 - half);
  view.y = within(y, half, 1 - half);
  sheet.style.touchAction = view.zoom > 1 || lassoIsOn() ? "none" : "pan-y";
  byId("farther").disabled = byId("whole").disabled = view.zoom <= 1;
  byId("closer").disabled = view.zoom >= MAX_ZOOM;
  sheet.dataset.zoom = view.zoom.toFixed(2);
  point(-1);
};
// What lies under the pointer stays there.
const zoomAt = (times, left = size.width / 2, top = size.height / 2) => {
  const zoom = within(view.zoom * times, 1, MAX_ZOOM);
  const shift = 1 / view.zoom - 1 / zoom;
  const x = view.x + ((left - size.width / 2) / (size.width - 2 * EDGE)) * shift;
  const y = view.y - ((top - size.height / 2) / (size.height - 2 * EDGE)) * shift;
  setView(zoom, x, y);
};
const moveBy = (right, down) => setView(view.zoom, view.x + right / (view.zoom * (size.width - 2 * EDGE)), view.y - down / (view.zoom * (size.height - 2 * EDGE)));
const placeOn = (event) => {
  const box = sheet.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
sheet.addEventListener("wheel", (event) => {
  const times = Math.exp(-within(event.deltaY, -200, 200) / 300);
  if (times < 1 && view.zoom <= 1) return; // nothing to zoom out of: the page scrolls
  event.preventDefault();
  zoomAt(times, ...placeOn(event));
}, { passive: false });

// One pointer moves the map or draws a lasso, two zoom.
const pointers = new Map();
let [hasMoved, isDrawing] = [false, false];
sheet.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  pointers.set(event.pointerId, placeOn(event));
  try { sheet.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
  hasMoved = pointers.size > 1;
  isDrawing = pointers.size === 1 && (lassoIsOn() || event.shiftKey);
  if (isDrawing) startLasso(placeOn(event));
});
sheet.addEventListener("pointermove", (event) => {
  const at = placeOn(event);
  if (!pointers.has(event.pointerId)) {
    tell(nearest(...at));
    return;
  }
  const before = pointers.get(event.pointerId);
  if (!hasMoved && Math.hypot(at[0] - before[0], at[1] - before[1]) < 4) return;
  hasMoved = true;
  pointers.set(event.pointerId, at);
  if (isDrawing) extendLasso(at);
  else if (pointers.size === 1) moveBy(before[0] - at[0], before[1] - at[1]);
  else if (pointers.size === 2) {
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
    const apartNow = Math.hypot(at[0] - other[0], at[1] - other[1]);
    const apartBefore = Math.hypot(before[0] - other[0], before[1] - other[1]);
    if (apartBefore > 0) zoomAt(apartNow / apartBefore, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
  }
});
const release = (event) => {
  if (!pointers.delete(event.pointerId)) return;
  if (isDrawing) endLasso();
  else if (!hasMoved && event.type === "pointerup") takePoint(nearest(...placeOn(event)));
  isDrawing = false;
};
sheet.addEventListener("pointerup", release);
sheet.addEventListener("pointercancel", release);
sheet.addEventListener("pointerleave", () => { if (!pointers.size) tell(-1); });
const takePoint = (place) => {
  if (place < 0) return;
  tell(place);
  take(points.rows[place]);
  announce(`Row ${nameOf(points.rows[place])} taken.`);
};

// By keyboard: rows in view from the middle outwards.
let [walk, walked] = [[], -1];
const stepOnMap = (by) => {
  if (walked < 0) {
    const middle = ([x, y]) => Math.hypot(x - size.width / 2, y - size.height / 2);
    walk = points.rows.map((_, place) => place).filter((place) => isOnSheet(toScreen(place)));
    walk.sort((a, b) => middle(toScreen(a)) - middle(toScreen(b)));
  }
  if (!walk.length) return;
  walked = (Math.max(walked, by > 0 ? -1 : 0) + by + walk.length) % walk.length;
  tell(walk[walked]);
  byId("map-live").textContent = sayPoint(walk[walked]);
};
const stepsOf = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
sheet.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { key } = event;
  if (key in stepsOf) moveBy(...stepsOf[key]);
  else if (key === "+" || key === "=") zoomAt(1.4);
  else if (key === "-" || key === "_") zoomAt(1 / 1.4);
  else if (key === "n" || key === "p") stepOnMap(key === "n" ? 1 : -1);
  else if (key === "Enter") takePoint(marked.at);
  else if (key === "Home") setView(1, 0.5, 0.5);
  else if (key === "Escape") dropLasso();
  else return;
  if (key !== "n" && key !== "p") walked = -1;
  event.preventDefault();
  event.stopPropagation();
});
byId("closer").addEventListener("click", () => zoomAt(1.6));
byId("farther").addEventListener("click", () => zoomAt(1 / 1.6));
byId("whole").addEventListener("click", () => setView(1, 0.5, 0.5));

const restyle = () => {
  stamps.clear();
  redraw();
};
const fit = () => {
  const [width, height] = [sheet.clientWidth, sheet.clientHeight];
  const ratio = devicePixelRatio || 1;
  if (!width || (width === size.width && height === size.height && ratio === size.ratio)) return;
  Object.assign(size, { width, height, ratio });
  Object.assign(sheet, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  restyle();
};
new ResizeObserver(fit).observe(sheet);
new MutationObserver(restyle).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);

// The map is asked for again when labels or guesses changed, not more often than once a second.
const sayMap = () => {
  const { rows, label: given, guess } = points;
  const n = given.filter((place) => place >= 0).length;
  const part = rows.length < state.table.rows ? `${number(rows.length)} of ${counted(state.table.rows, "row")} are drawn` : `${counted(rows.length, "row")}`;
  const guessed = state.classes.map(({ name }, place) => [shorten(name, 30), guess.filter((each, at) => each === place && given[at] < 0).length]).filter(([, many]) => many);
  const guesses = guessed.length ? ` Guesses for the others: ${guessed.map(([name, many]) => `${name}: ${number(many)}`).join(", ")}.` : "";
  return `${part}, ${number(n)} of them labelled; rows that are alike lie near each other.${guesses}`;
};
let [mapStamp, mapIsAsked] = [null, false];
const askMap = async () => {
  if (mapIsAsked || mapStamp === stamp()) return;
  mapIsAsked = true;
  const asked = stamp();
  try {
    takePoints(await ask("/api/map"));
    mapStamp = asked;
    point(-1);
    write(byId("map-words"), sayMap());
  } catch { /* asked for again with the next state */ }
  setTimeout(() => {
    mapIsAsked = false;
    askMap();
  }, 1000);
};
show(() => {
  session.answered.forEach((version, row) => { // what was just answered is filled at once
    const place = points.placeOf.get(row);
    if (place === undefined || points.label[place] >= 0) return;
    const text = outbox.find((entry) => entry.row === row)?.label;
    const kind = state.classes.findIndex(({ name }) => name === text);
    if (kind >= 0) points.label[place] = kind;
  });
  askMap();
  redraw();
});
