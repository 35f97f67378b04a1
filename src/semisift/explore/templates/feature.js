// One feature: its values by class as strips and boxes, and the same as a table.
const [LANE, GAP, BELOW] = [15, 9, 24];
const wanted = { column: null, isChosen: false, stamp: null };
const quartersOf = ({ quartiles }) => (quartiles?.every(Number.isFinite) ? quartiles : null);
const ticksOf = (low, high) => {
  const rough = (high - low) / 4;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / size); k * size <= high + size / 1e6; k += 1) ticks.push(k * size + 0); // no minus zero
  return ticks;
};
// Values lie a little apart, each time in the same way.
const apart = (place, n) => (n > 3 ? (((place * 7) % 11) / 10 - 0.5) * 7 : 0);
const lane = (group, isLabelled, y, toX) => {
  const colour = `var(--${colourOf(group.class)})`;
  const parts = [];
  const r = isLabelled ? 2.6 : 2;
  const dots = group.values.filter(Number.isFinite).map((value, place) => `M${(toX(value) - r).toFixed(1)} ${(y + apart(place, group.n)).toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`).join("");
  parts.push(draw("path", { d: dots, fill: isLabelled ? colour : "none", stroke: colour, "stroke-width": 0.9, opacity: isLabelled ? 0.9 : 0.6 }));
  const quarters = quartersOf(group);
  if (quarters && group.n > 4) {
    const [, low, middle, high] = quarters.map(toX);
    const box = { x: low, y: y - LANE / 2 + 1, width: Math.max(1, high - low), height: LANE - 2, rx: 1.5 };
    parts.push(draw("rect", { ...box, fill: colour, "fill-opacity": isLabelled ? 0.2 : 0.06, stroke: "var(--ink)", "stroke-width": 1 }));
    parts.push(draw("path", { d: `M${middle} ${y - LANE / 2 + 1}v${LANE - 2}`, stroke: "var(--ink)", "stroke-width": 2.6 }));
  }
  return parts;
};
const groupsOf = ({ groups, by_guess: guessed }) => {
  const classes = [...new Set([...groups, ...guessed].map((group) => group.class))].filter((place) => place >= 0).sort((a, b) => a - b);
  const find = (list, place) => list.find((group) => group.class === place && group.n);
  const pairs = classes.map((place) => [find(groups, place), find(guessed, place)]);
  const rest = guessed.some((group) => group.class >= 0 && group.n) ? find(guessed, -1) : find(groups, -1);
  return [...pairs, [null, rest]].filter((pair) => pair.some(Boolean));
};
const nameOfGroup = (place) => (place < 0 ? "no guess yet" : className(place));
const MAX_LANES = 12;
const drawLanes = (pairs) => {
  const width = within(byId("feature").clientWidth, 240, 720);
  const left = within(0.27 * width, 84, 150); // for the names
  const heightOf = (pair) => GAP + LANE * pair.filter(Boolean).length;
  const height = pairs.reduce((sum, pair) => sum + heightOf(pair), 0) + BELOW;
  const ends = pairs.flat().filter(Boolean).flatMap((group) => quartersOf(group) ?? []);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const toX = (value) => left + 6 + ((value - low) / (high > low ? high - low : 1)) * (width - left - 12);
  const picture = draw("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "feature-name", "aria-describedby": "lanes-words" });
  ticksOf(low, high).forEach((tick) => {
    const x = toX(tick);
    const anchor = x > width - 20 ? "end" : "middle";
    picture.append(draw("path", { d: `M${x} 0V${height - BELOW + 4}`, stroke: "var(--line)" }));
    picture.append(draw("text", { x, y: height - 6, "text-anchor": anchor, fill: "var(--muted)", "font-size": 12 }, figure(tick)));
  });
  let y = GAP / 2;
  pairs.forEach((pair) => {
    const place = pair.find(Boolean).class;
    const look = { d: shapeOf(place), fill: pair[0] ? `var(--${colourOf(place)})` : "none", stroke: `var(--${colourOf(place)})` };
    const middle = y + (heightOf(pair) - GAP) / 2;
    const name = draw("text", { x: 18, y: middle + 4.5, fill: "var(--ink)", "font-size": 13 }, shorten(nameOfGroup(place), Math.floor((left - 24) / 7.6)));
    picture.append(draw("path", { ...look, transform: `translate(0 ${middle - 6})` }), name);
    pair.forEach((group, half) => {
      if (!group) return;
      picture.append(...lane(group, half === 0, y + LANE / 2, toX));
      y += LANE;
    });
    y += GAP;
  });
  return picture;
};
const sayLanes = (pairs) => pairs.flatMap((pair) => pair.map((group, half) => {
  if (!group || !quartersOf(group)) return "";
  const who = half ? `unlabelled, ${group.class < 0 ? "no guess" : `guess ${nameOfGroup(group.class)}`}` : `labelled ${nameOfGroup(group.class)}`;
  return `${who}: median ${figure(group.quartiles[2])} of ${counted(group.n, "row")}`;
})).filter(Boolean).join("; ");
const showFeature = (found) => {
  const pairs = groupsOf(found);
  byId("no-feature").hidden = true;
  byId("feature-figure").hidden = false;
  write(byId("feature-name").firstChild, found.name);
  const words = make("p", { class: "unseen", id: "lanes-words" }, sayLanes(pairs));
  byId("lanes").replaceChildren(...(pairs.some((pair) => pair.some((group) => group && quartersOf(group))) ? [drawLanes(pairs.slice(0, MAX_LANES)), words] : [make("p", {}, "It has no values.")]));
  byId("feature-table").tBodies[0].replaceChildren(...pairs.flatMap((pair) => pair.map((group, half) => {
    if (!group) return null;
    const who = half ? [group.class < 0 ? "unlabelled" : "unlabelled, guess ", group.class < 0 ? "" : named(nameOfGroup(group.class))] : ["labelled ", named(nameOfGroup(group.class))];
    return make("tr", {}, make("th", { scope: "row" }, ...who), make("td", { class: "number" }, number(group.n)), ...(quartersOf(group) ?? Array(5).fill(NaN)).map((value) => make("td", { class: "number" }, figure(value))));
  }).filter(Boolean)));
  document.querySelectorAll("#features [data-column]").forEach((each) => {
    if (Number(each.dataset.column) === found.column) each.setAttribute("aria-current", "true");
    else each.removeAttribute("aria-current");
  });
};
let lastFeature = null;
const askFeature = async (column) => {
  wanted.stamp = stamp();
  wanted.column = column;
  const found = await ask(`/api/feature?column=${column}`).catch(() => { wanted.stamp = null; });
  if (!found || column !== wanted.column) return;
  lastFeature = found;
  showFeature(found);
};
show(() => {
  const best = state.ranking.features[0]?.column;
  const column = wanted.isChosen ? wanted.column : best;
  if (column !== undefined && (column !== wanted.column || wanted.stamp !== stamp())) askFeature(column);
});
byId("features").addEventListener("click", async (event) => {
  const open = event.target.closest("[data-column]");
  if (!open) return;
  wanted.isChosen = true;
  await askFeature(Number(open.dataset.column));
  announce(`Values of ${shorten(byId("feature-name").textContent)} shown.`);
  byId("feature-title").scrollIntoView({ block: "nearest" });
});
let drawnWidth = 0;
new ResizeObserver(() => {
  const width = byId("feature").clientWidth;
  if (lastFeature && width !== drawnWidth) showFeature(lastFeature);
  drawnWidth = width;
}).observe(byId("feature"));
