// Questions to the server that showed this page. The token of the address goes with each.
const token = new URLSearchParams(location.search).get("token") ?? "";
class Refused extends Error {
  constructor(status, answer) {
    super(answer.error ?? `The server answered with ${status}.`);
    this.status = status;
    this.version = answer.labels_version;
  }
}
const ask = async (path, body = null, patience = 30_000) => {
  const headers = { "X-Semisift-Token": token };
  const options = { headers, cache: "no-store", signal: AbortSignal.timeout(patience) };
  if (body) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  const response = await fetch(path, options);
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
};

// The connection: the page says when it is gone, and tries again until it is back.
const GONE = "This page is out of date: semisift explore was started anew. Open the address that it printed.";
const LOST = "No connection to semisift explore. Answers are kept on this page and sent when it is back.";
let connected = true;
const resting = [];
const rest = (milliseconds) => new Promise((done) => {
  resting.push(done);
  setTimeout(done, milliseconds);
});
const tryNow = () => { resting.splice(0).forEach((wake) => wake()); };
addEventListener("online", tryNow);
const loseConnection = (problem) => {
  const old = problem instanceof Refused && problem.status === 403;
  if (connected) announce(old ? GONE : LOST);
  connected = false;
  notice("connection", [old ? GONE : LOST], old ? [] : [["Try now", tryNow]]);
};
const findConnection = () => {
  if (!connected) announce("Connected again.");
  connected = true;
  clearNotice("connection");
};

// The state, as it changes. Whoever shows a part of it says so here, and is called with it.
let state = null;
const shown = [];
const show = (act) => { shown.push(act); };
const refresh = () => { if (state) shown.forEach((act) => act()); };
const seen = {};
const isNew = (key, value) => {
  const text = JSON.stringify(value);
  if (seen[key] === text) return false;
  seen[key] = text;
  return true;
};
const follow = async () => {
  let pause = 300;
  for (;;) {
    try {
      const answer = await ask(`/api/state${state ? `?since=${state.version}` : ""}`, null, 45_000);
      pause = 300;
      findConnection();
      if (answer) takeState(answer);
    } catch (problem) {
      loseConnection(problem);
      await rest(pause);
      pause = Math.min(2 * pause, 5000);
    }
  }
};
