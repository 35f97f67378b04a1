// The row to label now: its classes by key, the guess, and its values in the best features.
const KEYS = [..."1234567890"];
const keyOf = new Map(); // a class keeps its key for as long as the page is open
const giveKeys = (classes) => {
  const isFree = (key) => ![...keyOf.values()].includes(key);
  const free = classes.map(({ name }) => name).filter((name) => !keyOf.has(name));
  free.filter((name) => KEYS.includes(name) && isFree(name)).forEach((name) => keyOf.set(name, name));
  free.filter((name) => !keyOf.has(name)).forEach((name) => {
    const key = KEYS.find(isFree);
    if (key) keyOf.set(name, key);
  });
};
const labelNow = (name) => {
  if (session.now === null || byId("answers").classList.contains("fixed")) return;
  label(session.now, name);
};
const answerButton = ({ name }, place) => {
  const key = keyOf.get(name);
  const answer = make("button", { type: "button", class: "answer", "data-name": name, title: name, "aria-keyshortcuts": key ?? null }, markOf(place, true), named(name));
  if (key) answer.append(make("kbd", { "aria-hidden": "true" }, key));
  answer.addEventListener("click", () => labelNow(name));
  return answer;
};
const showAnswers = () => {
  const { classes } = state;
  if (!isNew("answers", classes.map(({ name }) => name))) return;
  giveKeys(classes);
  const held = document.activeElement?.dataset?.name;
  byId("answers").replaceChildren(...classes.map(answerButton));
  if (held !== undefined) [...byId("answers").children].find((each) => each.dataset.name === held)?.focus();
};

const showImage = (canvas, image) => {
  const size = state.table.image;
  canvas.hidden = !(size && image);
  if (canvas.hidden || canvas.shown === image) return;
  const [height, width] = size;
  Object.assign(canvas, { width, height, shown: image });
  const pixels = new ImageData(width, height);
  image.forEach((grey, place) => { pixels.data.set([grey, grey, grey, 255], 4 * place); });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
};
const MAX_SHARES = 5;
const showGuess = ({ guess, shares }) => {
  const isKnown = guess >= 0 && shares?.length;
  write(byId("guess-words"), isKnown ? "How likely each class is, by the labels so far." : "No guess yet: too few labels.");
  const order = isKnown ? shares.map((share, place) => [share, place]).sort((a, b) => b[0] - a[0]).slice(0, MAX_SHARES) : [];
  byId("shares").replaceChildren(...order.map(([share, place]) => {
    const bar = make("span", { class: "bar" }, make("span"));
    bar.firstChild.style.width = percent(share);
    bar.firstChild.style.background = `var(--${colourOf(place)})`;
    return make("li", {}, markOf(place, true), make("span", { class: "of", title: className(place) }, named(className(place))), bar, make("span", { class: "number" }, percent(share)));
  }));
};
const sayPlace = (place) => {
  const strip = make("span", { class: "strip", "aria-hidden": "true" }, make("span"));
  strip.firstChild.style.left = percent(place);
  return [strip, unseen("above "), make("span", { class: "quiet" }, percent(place)), unseen(" of the rows")];
};
const showValues = (values) => {
  byId("values").tBodies[0].replaceChildren(...values.map(({ name, value, place }) => make(
    "tr", {},
    make("th", { scope: "row", title: name }, named(name)),
    make("td", { class: "number" }, figure(value)),
    make("td", {}, make("div", { class: "place" }, ...(Number.isFinite(place) ? sayPlace(place) : ["no place"]))),
  )));
};
const showStanding = ({ label: place, given_here: isHere }) => {
  const isLabelled = place >= 0 && !session.answered.has(session.now);
  byId("standing").hidden = !isLabelled;
  byId("take-back").hidden = !(isLabelled && isHere);
  byId("answers").classList.toggle("fixed", isLabelled && !isHere);
  byId("new-class").hidden = isLabelled && !isHere;
  [...byId("answers").children].forEach((each) => { each.disabled = isLabelled && !isHere; });
  if (isLabelled) byId("standing").replaceChildren("Labelled ", named(className(place)), isHere ? " here. Another answer takes its place." : " in the table, which stays as it is.");
};

const NO_DETAIL = { label: -1, given_here: false, guess: -1, shares: [], values: [] };
show(() => {
  showAnswers();
  const rows = queueRows();
  if (session.now === null) session.now = rows[0]?.row ?? null;
  byId("row").hidden = session.now === null;
  byId("no-row").hidden = session.now !== null;
  if (session.now === null) {
    write(byId("no-row"), state.progress.what ? "New rows are being looked for." : "No row is left to label.");
    return;
  }
  const detail = detailOf(session.now);
  const at = rows.findIndex(({ row }) => row === session.now);
  rows.slice(at + 1, at + 4).forEach(({ row }) => detailOf(row));
  write(byId("row-name").querySelector("bdi"), nameOf(session.now));
  const reason = rows[at]?.reason ?? reasons.get(session.now);
  write(byId("reason"), reason ? `${reason[0].toUpperCase()}${reason.slice(1)}.` : "Chosen by you.");
  showImage(byId("thumbnail"), details.get(session.now).image);
  if (!isNew("now", [session.now, detail, state.classes, session.answered.has(session.now)])) return;
  byId("row").setAttribute("aria-busy", String(!detail));
  showStanding(detail ?? NO_DETAIL);
  showGuess(detail ?? NO_DETAIL);
  showValues((detail ?? NO_DETAIL).values);
});
byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
const skip = () => {
  if (session.now === null) return;
  const rows = queueRows();
  const at = rows.findIndex(({ row }) => row === session.now);
  session.skipped.add(session.now);
  announce(`Row ${nameOf(session.now)} skipped.`);
  take(rows[at + 1]?.row ?? rows[0]?.row ?? null);
};
byId("skip").addEventListener("click", skip);
byId("take-back").addEventListener("click", () => label(session.now, null));
byId("new-class").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("new-name").value.trim();
  if (!name) return;
  labelNow(name);
  byId("new-name").value = "";
  byId("row-name").focus();
});
