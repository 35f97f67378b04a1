// The head of the page: how many rows are labelled, how far the ranking holds, what is saved.
const [PARTLY, MUCH] = [0.4, 0.75];
const sayStability = (stability) => {
  if (stability === null || stability === undefined) return "";
  const alike = stability >= MUCH ? "stay much the same" : "stay partly the same";
  return ` When a fifth of the labels is left out, the guesses ${stability >= PARTLY ? alike : "are mostly others"} (stability ${stability.toFixed(2)}).`;
};
const sayTable = ({ rows, features }, classes, stability) => {
  const n = classes.reduce((sum, each) => sum + each.given + each.in_table, 0);
  const here = classes.reduce((sum, each) => sum + each.given, 0);
  const given = here ? `, ${number(here)} of them here` : "";
  return `${number(n)} of ${counted(rows, "row")} ${n === 1 ? "is" : "are"} labelled${given}; ${counted(features, "feature")}.${sayStability(stability)}`;
};
const sayClass = ({ name, given, in_table: inTable }, place) => {
  const here = given ? `, ${number(given)} here` : "";
  return make("li", {}, markOf(place, true), make("span", {}, named(shorten(name)), `: ${number(given + inTable)}`, make("span", { class: "quiet" }, here)));
};
const saySaved = () => {
  const waiting = outbox.length + unsaved.length;
  const text = waiting ? `${counted(waiting, "answer")} not saved${connected ? " yet" : ""}` : `Saved in ${state.table.labels_file}`;
  byId("saved").classList.toggle("unsure", waiting > 0);
  write(byId("saved"), text);
};
const showProgress = ({ what, share }) => {
  byId("working").classList.toggle("off", !what);
  if (!what) return;
  const bar = byId("working").querySelector("progress");
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  write(byId("work"), share === null ? what : `${what}: ${percent(share)}`);
};
const showFinished = (finished) => {
  if (!finished) return;
  if (finished.error) notice("finished", [finished.error], [["All right", () => clearNotice("finished")]]);
  else {
    const files = finished.files.flatMap((file, place) => [place ? ", " : " ", make("code", {}, file)]);
    notice("finished", ["Written:", ...files, "."], [["All right", () => clearNotice("finished")]]);
  }
};
show(() => {
  const { table, classes, stability, progress, finished, notes } = state;
  if (isNew("lead", [table, classes, stability])) {
    write(byId("lead"), sayTable(table, classes, stability));
    byId("classes").replaceChildren(...classes.map(sayClass));
  }
  saySaved();
  byId("finish").disabled = state.can_finish === false;
  byId("finish").title = byId("finish").disabled ? "Start with --out to have labels, ranking and report written." : "Write labels, ranking and report.";
  byId("undo").disabled = !(state.can_undo || outbox.length);
  if (isNew("progress", progress)) showProgress(progress);
  if (isNew("finished", finished)) showFinished(finished);
  if (isNew("notes", notes) && notes.length) notice("notes", [notes.join(" ")], [["All right", () => clearNotice("notes")]]);
});
byId("undo").addEventListener("click", undo);
byId("finish").addEventListener("click", () => {
  delete seen.finished;
  ask("/api/finish", {}).then(() => announce("Writing the results.")).catch((problem) => {
    notice("finished", [problem instanceof Refused ? problem.message : LOST], [["All right", () => clearNotice("finished")]]);
  });
});
