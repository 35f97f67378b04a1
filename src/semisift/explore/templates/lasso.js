// The lasso: rows inside it are chosen, and can be labelled one after another.
const lassoIsOn = () => byId("lasso").getAttribute("aria-pressed") === "true";
const startLasso = (at) => {
  marked.lasso = [at];
  point(-1);
};
const extendLasso = (at) => {
  marked.lasso.push(at);
  redraw();
};
const isInside = ([x, y], corners) => {
  let inside = false;
  corners.forEach(([left, top], place) => {
    const [right, bottom] = corners[(place + 1) % corners.length];
    if (top > y !== bottom > y && x < ((right - left) * (y - top)) / (bottom - top) + left) inside = !inside;
  });
  return inside;
};
const choose = (isChosen) => {
  const rows = points.rows.filter((row, place) => points.label[place] < 0 && !session.answered.has(row) && isChosen(toScreen(place)));
  marked.chosen = new Set(rows);
  byId("chosen").hidden = false;
  byId("take-chosen").hidden = !rows.length;
  const text = rows.length ? `${counted(rows.length, "unlabelled row")} chosen.` : "No unlabelled row there.";
  byId("chosen-words").textContent = text;
  byId("map-live").textContent = text;
  redraw();
};
const endLasso = () => {
  const corners = marked.lasso;
  marked.lasso = [];
  if (corners.length > 2) choose((at) => isInside(at, corners));
  redraw();
};
const dropLasso = () => {
  marked.lasso = [];
  marked.chosen = new Set();
  byId("chosen").hidden = true;
  redraw();
};
byId("lasso").addEventListener("click", () => {
  byId("lasso").setAttribute("aria-pressed", String(!lassoIsOn()));
  setView(view.zoom, view.x, view.y);
});
byId("in-view").addEventListener("click", () => choose(isOnSheet));
byId("drop-chosen").addEventListener("click", () => {
  dropLasso();
  sheet.focus();
});
byId("take-chosen").addEventListener("click", () => {
  session.chosen = [...marked.chosen];
  session.now = session.chosen[0];
  byId("lasso").setAttribute("aria-pressed", "false");
  dropLasso();
  refresh();
  announce(`${counted(session.chosen.length, "row")} in the queue.`);
  byId("row-name").focus();
});
setView(1, 0.5, 0.5);
