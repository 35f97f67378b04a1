// What this page knows beyond the state: the row to label now, what was answered, skipped or chosen.
const session = {
  version: null, // of the labels, as far as this page has seen them
  now: null,
  answered: new Map(), // row -> version of the labels that hold the answer, Infinity until it is saved
  skipped: new Set(),
  chosen: null, // rows from the map, in place of the suggested ones
};
const names = new Map();
const reasons = new Map(); // as last heard: the row to label now may have left the queue
const nameOf = (row) => names.get(row) ?? number(row + 1);
const className = (place) => state.classes[place]?.name ?? "?";

const takeState = (answer) => {
  const before = state;
  state = answer;
  state.ranking ??= { by: "", labels_version: null, features: [] };
  state.queue.rows.forEach((entry) => {
    names.set(entry.row, entry.name);
    reasons.set(entry.row, entry.reason);
  });
  const foreign = before && session.version !== null && answer.labels_version > session.version && !outbox.length;
  session.version = Math.max(session.version ?? 0, answer.labels_version);
  if (foreign) {
    notice("elsewhere", ["Labels changed in another tab or program. What you see is up to date."], [["All right", () => clearNotice("elsewhere")]]);
  }
  if (before && before.ranking.features.length && answer.ranking.labels_version !== before.ranking.labels_version) announce(sayMoves());
  refresh();
};

// The queue: suggested or chosen rows without those answered here, skipped ones last.
const CHOSEN = "chosen on the map";
const queueRows = () => {
  const suggested = new Map(state.queue.rows.map((entry) => [entry.row, entry]));
  const rows = session.chosen
    ? session.chosen.filter((row) => !session.answered.has(row)).map((row) => ({ guess: -1, ...suggested.get(row), row, reason: CHOSEN }))
    : state.queue.rows.filter(({ row }) => !(session.answered.get(row) > state.queue.labels_version));
  const isSkipped = ({ row }) => session.skipped.has(row);
  return [...rows.filter((entry) => !isSkipped(entry)), ...rows.filter(isSkipped)];
};
const take = (row) => {
  session.now = row;
  refresh();
};
const step = (by) => {
  const rows = queueRows();
  if (!rows.length) return;
  const at = rows.findIndex(({ row }) => row === session.now);
  take(rows[at < 0 ? 0 : (at + by + rows.length) % rows.length].row);
};

// Details of rows: asked for once for each state of labels and ranking; an old one serves meanwhile.
const details = new Map();
const stamp = () => `${state.labels_version} ${state.ranking.labels_version} ${state.ranking.by}`;
const detailOf = (row) => {
  const kept = details.get(row);
  if (!kept || kept.stamp !== stamp()) {
    const entry = { stamp: stamp(), detail: kept?.detail ?? null, image: kept?.image ?? null };
    details.set(row, entry);
    ask(`/api/row?row=${row}`).then((detail) => {
      names.set(row, detail.name);
      Object.assign(entry, { detail, image: detail.image });
      refresh();
    }).catch(() => { if (details.get(row) === entry) entry.stamp = null; });
  }
  return details.get(row).detail;
};
