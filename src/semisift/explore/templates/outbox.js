// Answers on their way. Each goes out with the version of the labels that was seen when it was given,
// so that what another tab or program did meanwhile is never overwritten unseen.
const outbox = [];
const unsaved = [];
let isSending = false;
const NOT_SEEN = "labels changed in another tab or program";

const label = (row, text) => {
  const place = unsaved.findIndex((entry) => entry.row === row);
  if (place >= 0) unsaved.splice(place, 1);
  clearNotice("elsewhere");
  session.answered.set(row, Infinity);
  session.skipped.delete(row);
  let rows = queueRows();
  if (!rows.length && session.chosen) {
    session.chosen = null;
    rows = queueRows();
  }
  if (text === null) session.answered.delete(row);
  else if (session.now === row) session.now = rows.find((entry) => !session.skipped.has(entry.row))?.row ?? rows[0]?.row ?? null;
  post({ row, label: text });
};
const undo = () => {
  const last = outbox.at(-1);
  if (last && !last.isSent) { // nobody has seen it yet
    outbox.pop();
    session.answered.delete(last.row);
    if (last.row !== null) take(last.row);
    return;
  }
  if (state.can_undo || outbox.length) post({ row: null, label: null });
};
const post = (entry) => {
  outbox.push({ ...entry, version: session.version, isSent: false });
  refresh();
  send();
};

const send = async () => {
  if (isSending) return;
  isSending = true;
  let pause = 300;
  while (outbox.length) {
    const entry = outbox[0];
    entry.isSent = true;
    const { row, label: text, version } = entry;
    try {
      const answer = await (row === null ? ask("/api/undo", { version }) : ask("/api/label", { row, label: text, version }));
      outbox.shift();
      saved(entry, answer);
      pause = 300;
    } catch (problem) {
      if (problem instanceof Refused && problem.status !== 403) await refused(entry, problem);
      else {
        entry.isTorn = true; // it may have arrived all the same
        loseConnection(problem);
        refresh();
        await rest(pause);
        pause = Math.min(2 * pause, 5000);
      }
    }
    refresh();
  }
  isSending = false;
};
const saved = (entry, answer) => {
  session.version = Math.max(session.version, answer.labels_version);
  outbox.forEach((later) => { if (later.version === entry.version) later.version = answer.labels_version; });
  findConnection();
  if (entry.row === null || entry.label === null) {
    const row = entry.row ?? answer.row;
    session.answered.delete(row);
    details.delete(row);
    session.now = row;
    announce(`Row ${nameOf(row)}: its label is taken back.`);
  } else {
    session.answered.set(entry.row, answer.labels_version);
    announce(`Row ${nameOf(entry.row)} labelled ${shorten(entry.label)}.`);
  }
};

// Refused: the state is read again, and the answer waits to be given again, unless it is there already.
const isThere = async ({ row, label: text }) => {
  const answer = await ask("/api/state");
  takeState(answer);
  if (row === null) return false;
  const detail = await ask(`/api/row?row=${row}`);
  return text === null ? detail.label < 0 : detail.given_here && className(detail.label) === text;
};
const refused = async (entry, problem) => {
  const isThereAlready = await isThere(entry).catch(() => false);
  if (isThereAlready) {
    outbox.shift();
    saved(entry, { labels_version: state.labels_version });
    return;
  }
  const isConflict = problem.status === 409;
  const isReadAgain = isConflict && problem.version !== entry.version; // else their file cannot be read
  const why = isReadAgain ? NOT_SEEN : problem.message.replace(/\.$/, "");
  const lost = isConflict ? outbox.splice(0) : outbox.splice(0, 1);
  lost.forEach((each) => {
    if (each.row !== null) session.answered.delete(each.row);
    if (each.row !== null && each.label !== null) unsaved.push({ ...each, why, again: problem.status !== 422 });
  });
  const torn = "The connection was lost during undo: look whether the last answer is taken back.";
  const conflict = entry.isTorn ? torn : `Nothing was undone: ${why}.`;
  if (lost[0].row === null) notice("elsewhere", [isConflict ? conflict : problem.message], [["All right", () => clearNotice("elsewhere")]]);
  else session.now = lost[0].row;
  details.delete(session.now);
  byId("row-name").focus();
};
const sendAgain = () => {
  unsaved.splice(0).forEach(({ row, label: text }) => label(row, text));
  refresh();
};
const letGo = () => {
  unsaved.length = 0;
  refresh();
};
const showUnsaved = () => {
  const say = ({ row, label: text }) => ["row ", named(nameOf(row)), " as ", named(shorten(text ?? "unlabelled"))];
  const list = (entries) => entries.flatMap((entry, place) => [place ? ", " : " ", ...say(entry)]);
  if (unsaved.length) {
    const why = [...new Set(unsaved.map((entry) => entry.why))].join("; ");
    const actions = [["Let go", letGo]];
    if (unsaved.every((entry) => entry.again)) actions.unshift(["Send again", sendAgain]);
    notice("unsaved", ["Not saved:", ...list(unsaved), `. The reason: ${why}. Look at the row and answer again.`], actions);
  } else clearNotice("unsaved");
  const waiting = outbox.filter((entry) => entry.row !== null);
  if (!connected && waiting.length) notice("waiting", ["Not saved yet:", ...list(waiting), "."]);
  else clearNotice("waiting");
};
show(showUnsaved);
addEventListener("beforeunload", (event) => { if (outbox.length || unsaved.length) event.preventDefault(); });
