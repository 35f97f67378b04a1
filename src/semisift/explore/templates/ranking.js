// The ranking: what moved since the last labels, and the near-copies that a feature stands for.
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
const opened = new Set();
const familyOf = ({ column, family }) => {
  const list = make("ul", {}, ...family.map((member) => {
    const open = make("button", { type: "button", class: "link", "data-column": member.column }, named(member.name));
    return make("li", {}, open, Number.isFinite(member.correlation) ? ` (correlation ${member.correlation.toFixed(2).replace("-", "−")})` : "");
  }));
  const copies = make("details", { class: "copies" }, make("summary", {}, counted(family.length, "near-copy").replace("copys", "copies")), list);
  copies.open = opened.has(column);
  copies.addEventListener("toggle", () => { if (copies.open) opened.add(column); else opened.delete(column); });
  return copies;
};
const featureRow = (feature, most) => {
  const { column, name, rank, score, family, decision } = feature;
  const [way, ...move] = rankingIsFirst() ? ["same", unseen("first ranking")] : sayMove(feature);
  const open = make("button", { type: "button", class: "link", "data-column": column, "aria-controls": "feature-figure", title: name }, named(name));
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  bar.firstChild.style.width = percent(most > 0 && score > 0 ? score / most : 0);
  const cell = make("td", { class: "feature" }, open);
  if (decision) cell.append(make("span", { class: "quiet" }, ` ${decision}`));
  if (family.length) cell.append(familyOf(feature));
  return make("tr", {}, make("td", { class: "number" }, number(rank)), make("td", { class: `word moved ${way}` }, ...move), cell, make("td", { class: "number" }, figure(score)), make("td", { class: "word score" }, bar));
};
const rankingIsFirst = () => state.ranking.features.every(({ was }) => was === null);
const BY = { "soft labels": "By soft labels, which spread from labelled rows to those near them.", consensus: "By consensus of several methods." };
show(() => {
  const { ranking, table } = state;
  if (!isNew("ranking", ranking)) return;
  const { features, by } = ranking;
  const held = document.activeElement?.dataset?.column;
  const most = Math.max(0, ...features.map(({ score }) => score).filter(Number.isFinite));
  byId("features").tBodies[0].replaceChildren(...features.map((feature) => featureRow(feature, most)));
  if (held !== undefined) byId("features").querySelector(`[data-column="${held}"]`)?.focus({ preventScroll: true });
  const part = features.length < table.features ? `The best ${features.length} of ${counted(table.features, "feature")}. ` : "";
  const how = BY[by] ?? `By ${by}.`;
  const moves = rankingIsFirst() || !features.length ? "" : ` ${sayMoves()}`;
  write(byId("ranking-words"), features.length ? `${part}${how}${moves}` : "No ranking yet.");
});
