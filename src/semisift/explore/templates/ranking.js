// The ranking: what moved since the last labels, and the correlated features that a feature represents.
const N_WATCHED = 10;
const sayMoves = () => {
  const best = state.ranking.features.filter(({ rank }) => rank <= N_WATCHED);
  const moved = best.filter(({ rank, was }) => was !== rank).length;
  return moved ? `Ranking updated: ${moved} of the best ${best.length} moved.` : `Ranking updated: the best ${best.length} stayed in place.`;
};
const sayMove = ({ rank, was }) => {
  if (was === rank) return ["same", make("span", { "aria-hidden": "true" }, "="), unseen("same rank")];
  if (was === null) return ["new", make("span", {}, "new")];
  const way = was > rank ? "up" : "down";
  return [way, make("span", { "aria-hidden": "true" }, `${way === "up" ? "↑" : "↓"} ${Math.abs(was - rank)}`), unseen(`${way} by ${Math.abs(was - rank)}, was ${was}`)];
};
const opened = new Set(); // columns, as another of the family may come to represent it
const familyOf = ({ column, family }) => {
  const list = make("ul", {}, ...family.map((member) => {
    const open = make("button", { type: "button", class: "link", "data-column": member.column }, named(member.name));
    return make("li", {}, open, Number.isFinite(member.correlation) ? ` (correlation ${member.correlation.toFixed(2).replace("-", "−")})` : "");
  }));
  const copies = make("details", { class: "copies" }, make("summary", {}, counted(family.length, "correlated feature").replace("copys", "copies")), list);
  const columns = [column, ...family.map((member) => member.column)];
  copies.open = columns.some((each) => opened.has(each));
  copies.addEventListener("toggle", () => columns.forEach((each) => { if (copies.open) opened.add(each); else opened.delete(each); }));
  return copies;
};
// A feature keeps its line, so that what is pointed at or focused stays under the hand.
const lines = new Map();
const makeLine = ({ column, name }) => {
  const open = make("button", { type: "button", class: "link", "data-column": column, "aria-controls": "feature-figure", title: name }, named(name));
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  const parts = {
    rank: make("td", { class: "number" }),
    moved: make("td"),
    feature: make("td", { class: "feature" }, open, make("span", { class: "quiet" })),
    score: make("td", { class: "number" }),
    bar: make("td", { class: "word score" }, bar),
  };
  return { ...parts, family: null, row: make("tr", {}, ...Object.values(parts)) };
};
const lineOf = (feature, most) => {
  const { column, rank, score, family, decision } = feature;
  if (!lines.has(column)) lines.set(column, makeLine(feature));
  const line = lines.get(column);
  const [way, ...move] = rankingIsFirst() ? ["same", unseen("first ranking")] : sayMove(feature);
  line.moved.className = `word moved ${way}`;
  line.moved.replaceChildren(...move);
  write(line.rank, number(rank));
  write(line.score, figure(score));
  write(line.feature.children[1], decision ? ` ${decision}` : "");
  line.bar.firstChild.firstChild.style.width = percent(most > 0 && score > 0 ? score / most : 0);
  const members = JSON.stringify(family);
  if (line.family !== members) {
    line.feature.querySelector("details")?.remove();
    if (family.length) line.feature.append(familyOf(feature));
    line.family = members;
  }
  return line.row;
};
const rankingIsFirst = () => state.ranking.features.every(({ was }) => was === null);
const BY = { "soft labels": "By soft labels, which spread from labelled rows to those near them.", consensus: "By consensus of several methods." };
show(() => {
  const { ranking, table } = state;
  if (!isNew("ranking", ranking)) return;
  const { features, by } = ranking;
  const held = document.activeElement?.dataset?.column;
  const most = Math.max(0, ...features.map(({ score }) => score).filter(Number.isFinite));
  const body = byId("features").tBodies[0];
  const rows = features.map((feature) => lineOf(feature, most));
  if (rows.length !== body.rows.length || rows.some((row, place) => row !== body.rows[place])) body.replaceChildren(...rows);
  if (held !== undefined) byId("features").querySelector(`[data-column="${held}"]`)?.focus({ preventScroll: true });
  const part = features.length < table.features ? `The best ${features.length} of ${counted(table.features, "feature")}. ` : "";
  const how = BY[by] ?? `By ${by}.`;
  const moves = rankingIsFirst() || !features.length ? "" : ` ${sayMoves()}`;
  write(byId("ranking-words"), features.length ? `${part}${how}${moves}` : "No ranking yet.");
});
