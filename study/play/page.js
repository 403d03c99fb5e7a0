// The page of slotwave play. A change of a control goes to the worker, which simulates and
// returns the picture as columns of numbers; the address holds the whole state.
"use strict";
const $ = q => document.querySelector(q), $$ = q => [...document.querySelectorAll(q)];
const root = document.documentElement;
const el = (tag, props, ...inner) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...inner);
  return e;
};
const textOf = id => new TextDecoder().decode(Uint8Array.from(atob($(id).textContent), c => c.charCodeAt(0)));
const first = JSON.parse(textOf("#first"));

// ---- what the page shows ----
const fresh = () => ({ name: first.name, seed: first.seed, text: "", two: false, byJob: false, side: 0, sets: [new Map(), new Map()], run: [0, 0], bar: null, job: null, from: 0, to: 0 });
let state = fresh();
let scene = null; // the answer to open
let saved = [new Map(), new Map()]; // by setting, the attributes of all keys in its variation, by name
const pics = [null, null]; // the answers to run, with their columns
const lists = () => [0, 1].map(i => [...state.sets[i]].map(([k, v]) => k + "=" + v));

// ---- the worker ----
const worker = new Worker(URL.createObjectURL(new Blob([textOf("#worker")], { type: "text/javascript" })));
const waiting = new Map();
let lastID = 0;
worker.onmessage = ({ data }) => {
  if (data.id === undefined) return fail(data.error);
  const done = waiting.get(data.id);
  waiting.delete(data.id);
  done(data);
};
worker.onerror = e => fail("the worker has stopped: " + e.message);
const send = message => new Promise(resolve => {
  waiting.set(++lastID, resolve);
  worker.postMessage({ ...message, id: lastID });
});
const ask = async request => {
  const r = await send({ request });
  if (r.error) throw new Error(r.error);
  return r;
};
function fail(text) {
  $("#error").textContent = text;
  $("#error").hidden = !text;
}

// The page is busy as long as any work is under way, and shows what fails.
let works = 0;
async function during(work) {
  works++;
  root.dataset.state = "busy";
  try { await work(); } catch (e) { fail(e.message); }
  if (--works === 0) root.dataset.state = "idle";
}

// One request is under way at a time. Changes that come meanwhile are answered together.
const due = new Set();
let running = false;
async function pump() {
  if (running) return;
  running = true;
  await during(async () => {
    while (due.size) {
      const what = ["open", "keys0", "keys1", "run0", "run1", "differ", "explain", "ledger"].find(w => due.has(w));
      due.delete(what);
      try {
        await answers[what]();
      } catch (e) {
        if (what === "open" || what.startsWith("run")) {
          fail(e.message);
          status();
        } else answers.failed(what, e.message);
      }
    }
    running = false;
    remember();
  });
  root.dataset.ready = "true";
}
const want = (...what) => { what.forEach(w => due.add(w)); pump(); };
const simulateAll = () => want("run0", ...(state.two ? ["run1"] : []));

const answers = {
  async open() {
    const { answer } = await ask({ verb: "open", name: state.name, seed: state.seed });
    scene = answer;
    pics[0] = pics[1] = null;
    for (const e of [0, 1]) {
      state.run[e] = Math.min(state.run[e], scene.Runs.length - 1);
      await readKeys(e);
    }
    buildControls();
    showAbout();
    simulateAll();
  },
  async keys0() { await readKeys(0); showValues(); },
  async keys1() { await readKeys(1); showValues(); },
  async run0() { await simulate(0); },
  async run1() { await simulate(1); },
  async differ() {
    const box = $("#difference");
    box.hidden = !(state.two && pics[0] && pics[1]);
    if (box.hidden) return;
    const { answer } = await ask({ verb: "differ", job: state.job && pics[0].at.has(state.job) && pics[1].at.has(state.job) ? state.job : "" });
    box.querySelector("ul").replaceChildren(...answer.Sentences.map(s => el("li", {}, s)));
    const [where, a, b] = answer.Offer;
    box.querySelector("details").hidden = !where;
    box.querySelector("summary").textContent = where;
    box.querySelector("pre").textContent = "A:\n" + a + "\nB:\n" + b;
  },
  async explain() {
    const box = $("#explained div"), bar = findBar();
    if (!bar) return box.replaceChildren("Choose a bar: a click, or the arrow keys on the picture.");
    const { p, i } = bar, task = nameOf(p, i);
    $("#explained h2").textContent = (state.two ? "AB"[state.bar.side] + ": " : "") + task.name;
    if (!task.known) return box.replaceChildren(barText(p, i));
    const { answer } = await ask({ verb: "explain", side: state.bar.side, task: task.name });
    box.replaceChildren(...paragraphs(answer).map(t => el("p", { className: t.startsWith("- ") ? "item" : "" }, t.replace(/^- /, "• "))));
  },
  async ledger() {
    const side = state.two ? state.side : 0, box = $("#ledger div");
    if (!state.job || !pics[side]?.at.has(state.job)) {
      $("#ledger h2").textContent = "Ledger";
      return box.replaceChildren("Choose a job: where its time went.");
    }
    $("#ledger h2").textContent = "Ledger of " + state.job + (state.two ? " with " + "AB"[side] : "");
    const { answer } = await ask({ verb: "ledger", side, job: state.job });
    showLedger(box, answer ?? [], side);
  },
  failed(what, text) {
    const box = { differ: "#difference ul", explain: "#explained div", ledger: "#ledger div" }[what];
    $(box).replaceChildren(el(what === "differ" ? "li" : "p", {}, text));
  },
};

async function readKeys(side) {
  const { answer } = await ask({ verb: "keys", run: state.run[side] });
  saved[side] = new Map(answer.map(k => [k.Name, k]));
}
async function simulate(side) {
  const sets = new Map(state.sets[side]); // state may hold values that are refused
  const { answer, data, took } = await ask({ verb: "run", side, set: lists()[side], run: state.run[side], seed: state.seed });
  fail("");
  const before = pics[side] && lastFactor(side);
  pics[side] = columns(answer, data);
  Object.assign(pics[side], { took, sets });
  if (before) keepLast(side, before);
  for (const c of shownControls) if ((c.last || c.key === beat) && c.field !== document.activeElement) showValue(c);
  showOthers();
  draw();
  status();
  showJobs();
  showNotes();
  if (state.two) due.add("differ");
  if (state.bar) due.add("explain");
  if (state.job) due.add("ledger");
}

// columns reads what package live writes.
function columns(v, data) {
  const n = v.Rows, phases = v.Phases.length;
  let at = 0;
  const take = (type, count) => { const a = new type(data, at, count); at += a.byteLength; return a; };
  const c = { start: take(Float64Array, n), finish: take(Float64Array, n), phases: [] };
  for (let p = 0; p < phases; p++) c.phases.push(take(Float32Array, n));
  c.wait = take(Float32Array, n);
  c.lane = take(Int32Array, n);
  c.job = take(Int32Array, n);
  c.task = take(Int32Array, n);
  c.use = take(Float32Array, 4 * v.Bins);
  c.kind = take(Uint8Array, n);
  c.state = take(Uint8Array, n);
  c.number = take(Uint8Array, n);
  c.locality = take(Uint8Array, n);
  const order = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => c.lane[a] - c.lane[b] || c.start[a] - c.start[b]);
  const nodes = v.Nodes.slice(0, v.Shown), lanes = [];
  nodes.forEach((node, k) => { for (let s = 0; s < node.Slots; s++) lanes.push(k); });
  return { v, ...c, order, lanes, at: new Map(v.Jobs.map((j, i) => [j.ID, i])) };
}

// ---- words ----
const digits = (x, d) => x.toLocaleString("en", { maximumFractionDigits: d, minimumFractionDigits: d });
function time(ms) {
  const s = ms / 1000, whole = Math.round(s);
  if (s < 0) return "−" + time(-ms);
  if (s < 9.995) return digits(s, 2) + " s";
  if (s < 59.95) return digits(s, 1) + " s";
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  const m = Math.round(s / 60);
  if (m < 2880) return `${Math.floor(m / 60)} h ${String(m % 60).padStart(2, "0")} min`;
  return `${Math.floor(m / 1440)} d ${Math.round(m % 1440 / 60)} h`;
}
const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
function status() {
  const parts = [];
  for (const side of sides()) {
    const p = pics[side];
    if (!p) continue;
    const local = p.v.Locality[0] + p.v.Locality[1] + p.v.Locality[2];
    parts.push((state.two ? "AB"[side] + ": " : "") + [
      `makespan ${time(p.v.Makespan)}`, p.v.Jobs.length > 1 ? `mean job ${time(p.v.Mean)}` : "", count(p.v.Attempts, "attempt"),
      p.v.Waves ? (p.v.Jobs.length > 1 ? "up to " : "") + count(p.v.Waves, "wave") + " of maps" : "",
      local ? `${digits(100 * p.v.Locality[0] / local, 0)} % of maps node-local` : "", p.v.Jobs.some(j => j.Deadline > 0) ? count(p.v.Late, "late job") : "",
    ].filter(x => x).join(", "));
  }
  const took = Math.max(...sides().map(s => pics[s]?.took ?? 0));
  $("#status").textContent = parts.join(" · ") + (parts.length ? ` · simulated in ${took < 1000 ? digits(took, 0) + " ms" : digits(took / 1000, 1) + " s"}` : "");
}
const sides = () => state.two ? [0, 1] : [0];
function showAbout() {
  $("#about").textContent = scene.Title + (scene.Source ? ` (${scene.Source})` : "");
  const list = $("#scenario"), own = !scene.Shipped.some(([name]) => name === state.name);
  list.replaceChildren(...(own ? [el("option", { value: state.name }, scene.Name)] : []), ...scene.Shipped.map(([name, title]) => el("option", { value: name, title }, name)));
  list.value = state.name;
  document.title = "slotwave play: " + scene.Name;
}
function showNotes() {
  const notes = [...new Set(sides().flatMap(s => pics[s] ? [...pics[s].v.Warnings, ...pics[s].v.Assumed.map(a => "assumed: " + a)] : []))];
  $("#notes").hidden = !notes.length;
  $("#notes summary").textContent = count(notes.length, "note") + " on this simulation";
  $("#notes ul").replaceChildren(...notes.map(n => el("li", {}, n)));
}
// paragraphs undoes the wrapping of a text at 80 columns.
function paragraphs(text) {
  const list = [];
  let last = null;
  for (const line of text.split("\n")) {
    const words = line.trim(), fits = last !== null && last.length + 1 + words.split(" ")[0].length <= 80;
    if (!words) last = null;
    else if (last === null || fits || words.startsWith("- ")) { list.push(words); last = line; }
    else { list[list.length - 1] += " " + words; last = line; }
  }
  return list;
}

// ---- controls ----
const groupOf = key => {
  const job = key.match(/^job\.(\d+)\./);
  if (job) return "Job " + (unquoted(saved[0].get(`job.${job[1]}.name`)?.Value) || job[1]);
  return { cluster: "Cluster", network: "Cluster", scheduler: "Scheduler", workload: "Workload", conf: "Hadoop properties" }[key.split(".")[0]] ?? "Scenario";
};
const unquoted = v => v === undefined ? "" : v.replace(/^"(.*)"$/s, "$1");
const notControlled = /^(title|name|source|assumed|attempts|plots|vary|until|models\..*)$|\.(name|user|profile|platform)$/;
const mostJobs = 4;
function controlList() {
  const list = [], inside = scene.Fidelity === "phase" || scene.Fidelity === "device";
  const add = (c, key) => {
    const k = saved[0].get(key);
    const grouped = key === "cluster.nodes" && saved[0].has("cluster.group.0.count"); // the groups have the nodes
    if (k && k.Form && !grouped && !(c.inner && !inside)) list.push({ ...c, k, key });
  };
  for (const c of first.controls) {
    if (c.key.startsWith("job.*")) for (let i = 0; i < mostJobs; i++) add({ ...c, group: groupOf(c.key.replace("*", i)) }, c.key.replace("*", i));
    else if (c.key === "cluster.slowdowns.*") lastNode(c, list, add);
    else add(c, c.key);
  }
  let jobs = 0;
  for (const k of saved[0].values()) {
    if (k.Name.startsWith("scheduler.") && saved[0].has(k.Name.replace("scheduler", "conf"))) continue; // the control of conf has its value
    const job = k.Name.match(/^job\.(\d+)\./);
    if (!k.Given || !k.Form || k.Form === "text" || notControlled.test(k.Name) || list.some(c => c.key === k.Name) || job && +job[1] >= mostJobs) continue;
    list.push({ group: groupOf(k.Name), key: k.Name, label: k.Name.replace(/^(job\.\d+|cluster|scheduler|workload|conf\.mapred|conf)\./, ""), k });
  }
  return list;
}
// lastNode adds the key with the slowness of the last node. A factor on a single node
// multiplies the slowness of its group, or of all nodes: the factor is the slowness of
// the node only if that is 1.
function lastNode(c, list, add) {
  if (!scene.Nodes.length) return;
  let group = -1;
  while (saved[0].has(`cluster.group.${group + 1}.slowdown`)) group++;
  const base = group < 0 ? "cluster.slowdown" : `cluster.group.${group}.slowdown`;
  const alone = group >= 0 && saved[0].get(`cluster.group.${group}.count`).Value === "1";
  if (saved[0].has(lastFactor(0)) || !alone && +(saved[0].get(base)?.Value ?? 1) === 1) {
    list.push({ ...c, last: true, get key() { return lastFactor(state.side); }, get k() { return saved[state.side].get(this.key) ?? { Form: "number", Value: "1", Least: 0.01 }; } });
  } else add({ ...c, label: alone ? c.label : group < 0 ? "slowness of all nodes" : "slowness of the last group" }, base);
}
// lastFactor is the key with the factor of the last node that a setting has now.
function lastFactor(side) {
  const node = pics[side]?.v.Nodes.at(-1).Name ?? scene.Nodes.at(-1);
  return "cluster.slowdowns." + (/^[\w-]+$/.test(node) ? node : `"${node}"`);
}
// keepLast moves a factor that the page has set to the node that has become the last.
function keepLast(side, before) {
  const set = state.sets[side], now = lastFactor(side);
  if (before === now || !set.has(before) || saved[side].has(before)) return;
  set.set(now, set.get(before));
  set.delete(before);
  due.add("run" + side);
}
const scale = { // from a text to the place of its slider and back, by form
  number: [t => parseFloat(t), x => String(+x.toPrecision(6))],
  whole: [t => parseFloat(t), x => String(Math.round(x))],
  duration: [t => seconds(t), x => (x < 1 ? Math.round(x * 1000) + "ms" : +x.toPrecision(3) + "s")],
  size: [t => bytes(t), x => Math.max(1, Math.round(x / 1048576)) + "m"],
};
function seconds(t) {
  let sum = 0;
  for (const [, n, unit] of t.matchAll(/([\d.]+)\s*(ms|h|m|s)/g)) sum += n * { ms: 0.001, s: 1, m: 60, h: 3600 }[unit];
  return sum;
}
function bytes(t) {
  const m = t.trim().match(/^([\d.]+)\s*([kmgt]?)/i);
  return m ? m[1] * 1024 ** "_kmgt".indexOf(m[2].toLowerCase() || "_") : NaN;
}
// A control without a range of its own goes from a quarter to four times the stated value.
function rangeOf(c) {
  if (!scale[c.k.Form]) return null;
  const [read] = scale[c.k.Form], v = read(unquoted(c.k.Value));
  let least = c.least ?? c.k.Least ?? 0, most = c.most, step = c.step;
  if (!most) {
    most = Math.max(4 * v, v + 10) || 100;
    if (c.k.Most) most = Math.min(most, c.k.Most);
    step = c.k.Form === "whole" ? Math.max(1, Math.round(most / 200)) : most / 200;
  }
  if (v > most) most = 2 * v;
  return { least, most, step };
}
let shownControls = [];
function buildControls() {
  const groups = new Map();
  shownControls = controlList();
  if (scene.Runs.length > 1) shownControls.unshift({ group: "Scenario", key: "", label: "variation", k: { Form: "run", Value: "0", Words: scene.Runs } });
  shownControls.forEach((c, n) => {
    const id = "c" + n, box = el("div", { className: c.k.Form === "run" ? "control wide" : "control" });
    let field;
    if (c.k.Form === "switch") field = el("input", { type: "checkbox" });
    else if (c.k.Form === "choice") field = el("select", {}, ...c.k.Words.map(w => el("option", { value: w }, w)));
    else if (c.k.Form === "run") field = el("select", {}, ...c.k.Words.map((w, i) => el("option", { value: i }, w)), el("option", { value: "own", hidden: true }, "own value"));
    else field = el("input", { type: "text", autocomplete: "off", spellcheck: false });
    field.id = id;
    const back = el("button", { type: "button", title: "as in the scenario" }, "↺");
    back.setAttribute("aria-label", c.label + ": as in the scenario");
    box.append(el("label", { htmlFor: id }, c.label), field, back);
    const range = rangeOf(c);
    if (range) {
      const log = !range.step, place = x => log ? 1000 * Math.log(Math.max(x, range.least) / range.least) / Math.log(range.most / range.least) : x;
      const slider = el("input", { type: "range", min: log ? 0 : range.least, max: log ? 1000 : range.most, step: log ? 1 : range.step });
      slider.setAttribute("aria-label", c.label);
      c.move = t => { const x = scale[c.k.Form][0](t); slider.value = place(Number.isFinite(x) ? x : range.least); slider.setAttribute("aria-valuetext", t || "default"); };
      const moved = last => {
        const x = log ? range.least * (range.most / range.least) ** (slider.value / 1000) : +slider.value;
        field.value = scale[c.k.Form][1](x);
        if (last || (pics[state.side]?.took ?? 0) < 300) change(c.key, field.value);
      };
      slider.addEventListener("input", () => moved(false));
      slider.addEventListener("change", () => moved(true));
      box.append(slider);
    }
    field.addEventListener("change", () => {
      if (c.k.Form === "run") chooseRun(+field.value);
      else change(c.key, c.k.Form === "switch" ? String(field.checked) : field.value.trim());
    });
    back.addEventListener("click", () => { if (c.k.Form === "run") chooseRun(0); else change(c.key, ""); field.focus(); });
    Object.assign(c, { field, box });
    if (!groups.has(c.group)) groups.set(c.group, []);
    groups.get(c.group).push(box);
  });
  const order = ["Scenario", "Cluster", "Scheduler"], names = [...groups.keys()].sort((a, b) => (order.indexOf(a) + 1 || 9) - (order.indexOf(b) + 1 || 9));
  $("#controls").replaceChildren(...names.map(g => el("fieldset", {}, el("legend", {}, g), ...groups.get(g))));
  $("#allkeys").replaceChildren(...[...saved[0].keys()].map(value => el("option", { value })));
  showValues();
}
// showValues shows the setting that the controls change.
function showValues() {
  shownControls.forEach(showValue);
  showOthers();
  $("#sides").hidden = !state.two;
  $$("#sides input").forEach(r => { r.checked = +r.value === state.side; });
  $("#second").textContent = state.two ? "Back to one setting" : "Compare with a second setting";
}
// showOthers shows the keys of the setting that have no control.
function showOthers() {
  const hidden = [...state.sets[state.side]].filter(([k]) => !shownControls.some(c => c.key === k));
  $("#changes").replaceChildren(...hidden.map(([k, v]) => {
    const off = el("button", { type: "button" }, "×");
    off.setAttribute("aria-label", "without " + k);
    off.addEventListener("click", () => change(k, ""));
    return el("li", {}, `${k} = ${v}`, off);
  }));
}
const beat = "cluster.heartbeat";
function showValue(c) {
  const set = state.sets[state.side], fixed = c.key === beat && pics[state.side]?.v.Heartbeat; // by the release
  const k = attributes(c), own = set.get(c.key), v = c.k.Form === "run" ? [...set.keys()].some(varies) ? "own" : String(state.run[state.side]) : own ?? unquoted(k.Value);
  const none = own === undefined && !k.Given && (c.k.Form === "duration" && seconds(v) === 0 || c.key === "cluster.nodes");
  if (c.k.Form === "switch") c.field.checked = v === "true";
  else c.field.value = none ? "" : v;
  if (c.field.type === "text") c.field.placeholder = fixed ? time(fixed) : "default";
  c.field.title = c.box.firstChild.title = [c.key, k.About].filter(x => x).join(": ");
  c.box.classList.toggle("changed", own !== undefined);
  c.move?.(none ? fixed ? fixed + "ms" : "" : v);
}
function change(key, value) {
  const set = state.sets[state.side], c = shownControls.find(c => c.key === key), k = c && attributes(c);
  set.delete(key); // the last setting holds
  if (value !== "" && !(k && !(k.Given && state.two) && value === unquoted(k.Value))) set.set(key, value);
  showValues();
  want("run" + state.side);
}
// attributes are those of the key of a control in the variation of the setting that is shown.
const attributes = c => saved[state.side].get(c.key) ?? c.k;
// varies tells whether a setting of the key replaces values of [vary].
const varies = key => scene.Varied?.includes(key.replace(/^scheduler\.(?=mapred)/, "conf."));
// chooseRun chooses a variation with all of its values.
function chooseRun(run) {
  const side = state.side;
  state.run[side] = run;
  for (const key of [...state.sets[side].keys()]) if (varies(key)) state.sets[side].delete(key);
  want("keys" + side, "run" + side);
}
function setTwo(two) {
  state.two = two;
  if (two) { state.sets[1] = new Map(state.sets[0]); state.run[1] = scene.Runs.length > 1 ? (state.run[0] + 1) % scene.Runs.length : 0; state.side = 1; }
  else { state.side = 0; pics[1] = null; if (state.bar?.side === 1) state.bar = null; }
  $("#difference").hidden = true;
  showValues();
  layout();
  want(...(two ? ["keys1", "run1"] : ["run0"]));
}
function setSide(side) {
  if (!state.two) return;
  state.side = side;
  showValues();
  want("ledger");
}
function layout() {
  $("#byjob").checked = state.byJob;
  $(".run[data-side='1']").hidden = !state.two;
}

// ---- pictures ----
const gutter = 72;
const colour = name => getComputedStyle(root).getPropertyValue("--" + name).trim();
const stages = [["maps", "map"], ["reduces: start-up, shuffle", "shuffle"], ["reduces: merge to commit", "reduce"], ["set-up, clean-up", "other"]];
const longest = () => Math.max(1, ...sides().map(s => pics[s]?.v.Makespan ?? 0));
function view() {
  const end = longest();
  return state.to > state.from ? [Math.max(0, state.from), Math.min(state.to, end) > state.from ? Math.min(state.to, end) : end] : [0, end];
}
function canvasOf(side, name, height) {
  const c = $(`.run[data-side='${side}'] .${name}`), scale = devicePixelRatio || 1;
  if (height) c.style.height = height + "px";
  const w = c.clientWidth, h = c.clientHeight;
  if (c.width !== Math.round(w * scale) || c.height !== Math.round(h * scale)) { c.width = Math.round(w * scale); c.height = Math.round(h * scale); }
  const g = c.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = "12px system-ui,sans-serif";
  return { c, g, w, h };
}
let palette = {};
function readColours() {
  palette = {};
  for (const n of ["text", "faint", "guide", "ground", "mark", "accent", "other", ...Array.from({ length: 12 }, (_, i) => "job" + i), ...(pics[0]?.v.Phases ?? [])]) palette[n] = colour(n);
}
function stripes(g, name, ground) {
  const t = el("canvas", { width: 6, height: 6 }), d = t.getContext("2d");
  if (ground) { d.fillStyle = ground; d.fillRect(0, 0, 6, 6); }
  d.strokeStyle = palette[name];
  d.lineWidth = 2;
  for (const k of [-3, 3, 9]) { d.beginPath(); d.moveTo(k - 3, 6); d.lineTo(k + 3, 0); d.stroke(); }
  return g.createPattern(t, "repeat");
}
let frame = 0;
function draw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(drawNow);
}
function drawNow() {
  readColours();
  for (const side of sides()) if (pics[side]) drawSide(side);
  legend();
  const [from, to] = view();
  $("#range").textContent = state.to > state.from ? `${time(from)} to ${time(to)}` : "";
}
// jobColour is that of a job on all pictures, by its place among the jobs of the first.
const jobColour = id => "job" + (pics[0]?.at.get(id) ?? 0) % 12;
function drawSide(side) {
  const p = pics[side], v = p.v, [from, to] = view();
  const caption = $(`.run[data-side='${side}'] figcaption`);
  caption.replaceChildren((state.two ? "AB"[side] + ": " : "") + settingName(side), " ", el("small", {}, v.Shown < v.Nodes.length ? `attempts of ${v.Shown} of ${v.Nodes.length.toLocaleString("en")} nodes; slots in use of all` : ""));
  { // slots in use
    const { g, w, h } = canvasOf(side, "waves"), slots = v.Slots[0] + (v.Jobs.some(j => j.Reduces) ? v.Slots[1] : 0), top = 14, base = h - 2;
    let most = 0;
    for (let b = 0; b < v.Bins; b++) most = Math.max(most, p.use[b] + p.use[v.Bins + b] + p.use[2 * v.Bins + b] + p.use[3 * v.Bins + b]);
    const high = most < slots / 3 ? most * 1.1 : slots, X = t => gutter + (t - from) / (to - from) * (w - gutter), Y = n => base - n / high * (base - top), width = v.Makespan / v.Bins;
    g.save();
    g.beginPath(); g.rect(gutter, 0, w - gutter, h); g.clip();
    for (let b = 0; b < v.Bins; b++) {
      const x0 = Math.round(X(b * width)), x1 = Math.round(X((b + 1) * width));
      if (x1 < gutter || x0 > w) continue;
      let sum = 0;
      stages.forEach(([, name], s) => {
        const n = p.use[s * v.Bins + b];
        if (n <= 0) return;
        g.fillStyle = palette[name];
        g.fillRect(x0, Y(sum + n), x1 - x0, Y(sum) - Y(sum + n));
        sum += n;
      });
    }
    g.restore();
    g.strokeStyle = palette.faint;
    g.setLineDash([4, 4]);
    if (high === slots) { g.beginPath(); g.moveTo(gutter, Y(slots)); g.lineTo(w, Y(slots)); g.stroke(); }
    g.setLineDash([]);
    g.fillStyle = palette.faint;
    g.textAlign = "right"; g.textBaseline = "middle";
    g.fillText(high === slots ? `${slots} slots` : digits(high, 0), gutter - 6, top);
    g.fillText("0", gutter - 6, base - 4);
  }
  const lanes = Math.min(p.lanes.length, 600), small = Math.max(1, Math.min(16, Math.floor(560 / Math.max(1, lanes))));
  const gap = small >= 5 ? 3 : 0, nodes = lanes ? p.lanes[lanes - 1] + 1 : 0;
  p.tops = Array.from({ length: lanes }, (_, l) => l * small + p.lanes[l] * gap);
  p.height = small;
  { // attempts
    const { g, w, h } = canvasOf(side, "lanes", Math.max(24, lanes * small + nodes * gap));
    const X = t => gutter + (t - from) / (to - from) * (w - gutter);
    p.X = X; p.T = x => from + (x - gutter) / (w - gutter) * (to - from);
    g.textAlign = "right"; g.textBaseline = "middle";
    let free = -1;
    for (let l = 0; l < lanes; l++) if (l === 0 || p.lanes[l] !== p.lanes[l - 1]) {
      const node = v.Nodes[p.lanes[l]], y = p.tops[l] + Math.max(6, node.Slots * small / 2);
      if (y - 6 < free) continue;
      free = y + 6;
      g.fillStyle = node.Slowness > 1 ? palette.mark : palette.faint;
      g.fillText(short(node.Name) + (node.Slowness > 1 ? " ×" + +node.Slowness.toPrecision(3) : ""), gutter - 6, y);
    }
    g.save();
    g.beginPath(); g.rect(gutter, 0, w - gutter, h); g.clip();
    g.fillStyle = palette.guide;
    for (let l = 0; l < lanes; l++) g.fillRect(gutter, p.tops[l] + small - 1, w - gutter, small > 3 ? 1 : 0);
    const waiting = stripes(g, "shuffle", palette.ground), ended = stripes(g, "mark"), shuffle = v.Phases.indexOf("shuffle"), job = state.job ? p.at.get(state.job) : undefined;
    const high = small > 4 ? small - 1 : small;
    for (const i of p.order) {
      if (p.lane[i] >= lanes || p.finish[i] < from || p.start[i] > to) continue;
      const y = p.tops[p.lane[i]], x0 = X(p.start[i]), x1 = X(p.finish[i]);
      g.globalAlpha = job !== undefined && p.job[i] !== job ? 0.28 : 1;
      if (state.byJob || p.kind[i] > 1 || x1 - x0 < 1.5) {
        g.fillStyle = state.byJob ? palette[jobColour(v.Jobs[p.job[i]].ID)] : p.kind[i] > 1 ? palette.other : palette[v.Phases[largest(p, i)]];
        g.fillRect(x0, y, Math.max(0.7, x1 - x0), high);
      } else {
        let t = p.start[i];
        for (let k = 0; k < v.Phases.length; k++) {
          const d = p.phases[k][i];
          if (d <= 0) continue;
          const a = X(t), b = X(t += d);
          g.fillStyle = palette[v.Phases[k]];
          g.fillRect(a, y, b - a, high);
          if (k === shuffle && p.wait[i] > 0) { g.fillStyle = waiting; g.fillRect(a, y, (b - a) * Math.min(1, p.wait[i] / d), high); }
        }
      }
      if (p.state[i] > 0) {
        const line = small > 4 ? 1.5 : 1;
        g.fillStyle = ended; g.fillRect(x0, y, x1 - x0, high);
        g.strokeStyle = palette.mark; g.lineWidth = line;
        g.strokeRect(x0 + line / 2, y + line / 2, Math.max(0.1, x1 - x0 - line), Math.max(0.1, high - line));
      } else if (small > 6 && x1 - x0 > 3) { g.strokeStyle = palette.ground; g.lineWidth = 1; g.strokeRect(x0 + 0.5, y - 0.5, x1 - x0, high + 1); }
    }
    g.globalAlpha = 1;
    const bar = findBar();
    if (bar && state.bar.side === side && p.lane[bar.i] < lanes) {
      g.strokeStyle = palette.mark; g.lineWidth = 2;
      g.strokeRect(X(p.start[bar.i]) - 1, p.tops[p.lane[bar.i]] - 1, Math.max(2, X(p.finish[bar.i]) - X(p.start[bar.i])) + 2, high + 2);
    }
    g.restore();
  }
  { // the axis
    const { g, w } = canvasOf(side, "axis"), span = to - from, room = Math.max(2, (w - gutter) / 90);
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 12e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5];
    const step = steps.find(s => span / s <= room) ?? span / room;
    g.fillStyle = palette.faint; g.strokeStyle = palette.faint; g.textBaseline = "top";
    g.beginPath(); g.moveTo(gutter, 0.5); g.lineTo(w, 0.5); g.stroke();
    for (let t = Math.ceil(from / step) * step; t <= to + 1e-6; t += step) {
      const x = gutter + (t - from) / span * (w - gutter), label = tick(t, step);
      g.beginPath(); g.moveTo(x, 0); g.lineTo(x, 5); g.stroke();
      g.textAlign = x > w - 30 ? "right" : x < gutter + 12 ? "left" : "center";
      g.fillText(label, x, 7);
    }
  }
}
const short = s => s.length > 9 ? "…" + s.slice(-8) : s;
function tick(t, step) {
  if (step >= 36e5) return +(t / 36e5).toFixed(2) + " h";
  if (step >= 6e4) return +(t / 6e4).toFixed(2) + " min";
  return +(t / 1e3).toFixed(3) + " s";
}
function largest(p, i) {
  let at = 0;
  p.phases.forEach((c, k) => { if (c[i] > p.phases[at][i]) at = k; });
  return at;
}
function settingName(side) {
  const parts = [...pics[side].sets].map(([k, v]) => {
    const c = shownControls.find(c => c.key === k);
    return (c ? (c.group.startsWith("Job ") ? c.group.slice(4) + ": " : "") + c.label : k) + " = " + v;
  });
  parts.unshift(pics[side].v.Variation);
  return parts.filter(x => x).join(", ") || "as in the scenario";
}
function legend() {
  const p = pics.find((q, s) => q && sides().includes(s));
  if (!p) return;
  const used = p.v.Phases.filter((_, k) => pics.some(q => q?.phases[k].some(d => d > 0)));
  const sample = (paint, label) => {
    const c = el("canvas", { width: 13, height: 13 }), g = c.getContext("2d");
    c.setAttribute("aria-hidden", "true");
    paint(g);
    return el("span", {}, c, label);
  };
  const fill = name => g => { g.fillStyle = palette[name]; g.fillRect(0, 0, 13, 13); };
  const list = state.byJob ? p.v.Jobs.slice(0, 12).map(j => sample(fill(jobColour(j.ID)), j.ID)) : [];
  if (state.byJob && p.v.Jobs.length > 12) list.push("and so on");
  for (const name of used) {
    list.push(sample(fill(name), name === "shuffle" ? "shuffle: copying" : name));
    if (name === "shuffle") list.push(sample(g => { g.fillStyle = stripes(g, "shuffle", palette.ground); g.fillRect(0, 0, 13, 13); }, "shuffle: waiting for maps"));
  }
  list.push(sample(fill("other"), "set-up, clean-up"));
  if (pics.some(q => q?.state.some(s => s > 0))) list.push(sample(g => { g.fillStyle = stripes(g, "mark"); g.fillRect(0, 0, 13, 13); g.strokeStyle = palette.mark; g.lineWidth = 1.5; g.strokeRect(0.75, 0.75, 11.5, 11.5); }, "failed or killed"));
  $("#legend").replaceChildren(...list);
}

// ---- choosing ----
function nameOf(p, i) {
  const job = p.v.Jobs[p.job[i]].ID, kind = p.v.Kinds[p.kind[i]];
  const part = { map: "/m/" + p.task[i], reduce: "/r/" + p.task[i], setup: "/setup", cleanup: "/cleanup" }[kind];
  return { name: job + (part ?? " " + kind), known: !!part };
}
function barText(p, i) {
  const kind = p.v.Kinds[p.kind[i]];
  return `${nameOf(p, i).name}: ${kind}, attempt ${p.number[i]}, ${time(p.start[i])} to ${time(p.finish[i])}, ${p.v.States[p.state[i]].toLowerCase()}`;
}
// findBar finds the chosen attempt in the present picture.
function findBar() {
  const b = state.bar, p = b && pics[b.side];
  if (!p) return null;
  const job = p.at.get(b.job);
  for (let i = 0; i < p.v.Rows; i++) if (p.job[i] === job && p.v.Kinds[p.kind[i]] === b.kind && p.task[i] === b.task && p.number[i] === b.number) return { p, i };
  return null;
}
function choose(side, i) {
  const p = pics[side];
  state.bar = i === null ? null : { side, job: p.v.Jobs[p.job[i]].ID, kind: p.v.Kinds[p.kind[i]], task: p.task[i], number: p.number[i] };
  if (i !== null && state.to > state.from && (p.finish[i] < state.from || p.start[i] > state.to)) {
    const half = (state.to - state.from) / 2, mid = (p.start[i] + p.finish[i]) / 2;
    state.from = Math.max(0, mid - half); state.to = state.from + 2 * half;
  }
  draw();
  want("explain");
}
function chooseJob(id) {
  state.job = state.job === id ? null : id;
  draw();
  showJobs();
  want("ledger", ...(state.two ? ["differ"] : []));
}
function hit(side, x, y) {
  const p = pics[side];
  const lane = p.tops.findIndex(top => y >= top && y < top + p.height);
  if (lane < 0) return null;
  const t = p.T(x), slack = p.T(x + 3) - t;
  let best = null;
  for (const i of p.order) if (p.lane[i] === lane && p.start[i] - slack <= t && t <= p.finish[i] + slack && (best === null || p.start[i] <= t)) best = i;
  return best;
}
function zoom(by, at) {
  const end = longest(), [from, to] = view(), mid = at ?? (from + to) / 2;
  if (!by || to - from >= end && by < 1) { state.from = state.to = 0; }
  else {
    const span = Math.max(1, (to - from) / by), f = Math.max(0, Math.min(end - span, mid - (mid - from) / by));
    [state.from, state.to] = span >= end ? [0, 0] : [f, f + span];
  }
  draw();
  remember();
}
function pan(by) {
  const [from, to] = view(), end = longest();
  if (!(state.to > state.from)) return;
  const f = Math.max(0, Math.min(end - (to - from), from + by * (to - from)));
  [state.from, state.to] = [f, f + to - from];
  draw();
  remember();
}
$$(".lanes").forEach(c => {
  const side = +c.closest(".run").dataset.side;
  let drag = null;
  c.addEventListener("pointerdown", e => { drag = { x: e.clientX, moved: false }; });
  c.addEventListener("pointermove", e => {
    const p = pics[side];
    if (!p) return;
    if (drag && e.buttons && state.to > state.from && Math.abs(e.clientX - drag.x) > 3) {
      pan((drag.x - e.clientX) / (c.clientWidth - gutter));
      drag = { x: e.clientX, moved: true };
    } else {
      const i = hit(side, e.offsetX, e.offsetY);
      c.title = i === null ? "" : barText(p, i);
    }
  });
  c.addEventListener("click", e => {
    if (drag?.moved || !pics[side]) return;
    const i = hit(side, e.offsetX, e.offsetY);
    if (i !== null) choose(side, i);
  });
  c.addEventListener("wheel", e => {
    if (!e.ctrlKey || !pics[side]) return;
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1.25 : 0.8, pics[side].T(e.offsetX));
  }, { passive: false });
  c.addEventListener("keydown", e => {
    const p = pics[side];
    if (!p || !p.v.Rows || e.ctrlKey || e.metaKey || e.altKey) return;
    const b = state.bar?.side === side ? findBar() : null, at = b ? p.order.indexOf(b.i) : -1;
    const near = way => { // the attempt of the next slot in use that runs then
      if (!b) return 0;
      const t = (p.start[b.i] + p.finish[b.i]) / 2;
      let best = -1;
      for (let l = p.lane[b.i] + way; l >= 0 && l < p.lanes.length && best < 0; l += way)
        p.order.forEach((i, k) => { if (p.lane[i] === l && (best < 0 || Math.abs(p.start[i] + p.finish[i] - 2 * t) < Math.abs(p.start[p.order[best]] + p.finish[p.order[best]] - 2 * t))) best = k; });
      return best < 0 ? at : best;
    };
    const keys = { ArrowRight: () => Math.min(at + 1, p.order.length - 1), ArrowLeft: () => Math.max(0, at - 1), ArrowDown: () => near(1), ArrowUp: () => near(-1), Home: () => 0, End: () => p.order.length - 1 };
    if (e.key === "Escape") choose(side, null);
    else if (e.key === "+" || e.key === "=") zoom(2);
    else if (e.key === "-") zoom(0.5);
    else if (e.key === "0") zoom(0);
    else if (e.key === "[") pan(-0.25);
    else if (e.key === "]") pan(0.25);
    else if (keys[e.key]) choose(side, p.order[keys[e.key]()]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
});

// ---- tables ----
const mostListed = 30;
function showJobs() {
  const shown = sides().filter(s => pics[s]), ids = [...new Set(shown.flatMap(s => pics[s].v.Jobs.map(j => j.ID)))];
  const of = (s, id) => pics[s].v.Jobs[pics[s].at.get(id)];
  const length = j => j && j.Finish >= 0 ? j.Finish - j.Submit : null;
  let list = ids;
  if (ids.length > mostListed) list = ids.map(id => [id, Math.max(...shown.map(s => length(of(s, id)) ?? 0))]).sort((a, b) => b[1] - a[1]).slice(0, mostListed).map(x => x[0]);
  $("#jobs caption").textContent = ids.length > mostListed ? `The ${mostListed} longest of ${ids.length.toLocaleString("en")} jobs` : "Jobs";
  const deadlines = shown.some(s => pics[s].v.Jobs.some(j => j.Deadline > 0));
  $("#jobs thead").replaceChildren(el("tr", {}, ...["job", "submitted", ...shown.map(s => state.two ? "time " + "AB"[s] : "time"), ...(shown.length > 1 ? ["B − A"] : []), ...(deadlines ? ["deadline"] : [])].map(h => el("th", { scope: "col" }, h))));
  $("#jobs tbody").replaceChildren(...list.map(id => {
    const jobs = shown.map(s => of(s, id)), times = jobs.map(length), any = jobs.find(j => j);
    const name = el("button", { type: "button" }, id);
    name.setAttribute("aria-pressed", String(state.job === id));
    name.addEventListener("click", () => chooseJob(id));
    const cells = [name, time(any.Submit), ...times.map((t, k) => !jobs[k] ? "" : t === null ? jobs[k].State.toLowerCase() : time(t))];
    if (shown.length > 1) cells.push(times[0] === null || times[1] === null || times[0] === undefined || times[1] === undefined ? "" : (times[1] >= times[0] ? "+" : "−") + time(Math.abs(times[1] - times[0])));
    if (deadlines) cells.push(any.Deadline > 0 ? time(any.Deadline) + (jobs.some((j, k) => j && (times[k] === null || times[k] > j.Deadline)) ? " missed" : "") : "");
    return el("tr", { className: state.job === id ? "on" : "" }, ...cells.map(c => el("td", {}, c)));
  }));
}
function showLedger(box, steps, side) {
  const sums = new Map();
  let whole = 0;
  for (const s of steps) { sums.set(s.Account, (sums.get(s.Account) ?? 0) + s.To - s.From); whole += s.To - s.From; }
  const rows = [...sums].sort((a, b) => b[1] - a[1]).map(([account, t]) => {
    const bar = el("span", { className: "bar" });
    bar.style.width = 100 * t / whole + "%";
    return el("tr", {}, el("td", {}, account), el("td", {}, time(t)), el("td", {}, digits(100 * t / whole, 1) + " %"), el("td", {}, bar));
  });
  const list = el("details", {}, el("summary", {}, count(steps.length, "step") + ", in order"), el("table", {}, el("tbody", {}, ...steps.map(s => {
    const of = s.Attempt ? el("button", { type: "button" }, s.Attempt) : "";
    if (of) of.addEventListener("click", () => chooseNamed(side, s.Attempt));
    return el("tr", {}, el("td", {}, s.Account + (s.By ? ` (${s.By})` : "")), el("td", {}, time(s.From)), el("td", {}, time(s.To - s.From)), el("td", {}, of));
  }))));
  box.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...["account", "time", "share", ""].map(h => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows)), list);
}
// chooseNamed chooses an attempt by the name that a ledger gives it.
function chooseNamed(side, name) {
  const p = pics[side];
  for (let i = 0; i < p.v.Rows; i++) {
    const task = nameOf(p, i).name;
    if (task === name || task + "/" + p.number[i] === name || name.startsWith(task + "/") || name.startsWith(task + " ")) return choose(side, i);
  }
}

// ---- the address ----
const pack = async text => base64url(new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer()));
const unpack = async text => new Response(new Blob([Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
const base64url = b => btoa(Array.from(b, c => String.fromCharCode(c)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
let packedText = "";
function fragment() {
  const q = new URLSearchParams();
  q.set("s", state.name);
  if (packedText) q.set("toml", packedText);
  if (state.seed !== 1) q.set("seed", state.seed);
  sides().forEach(s => { lists()[s].forEach(x => q.append("ab"[s], x)); if (state.run[s]) q.set("run" + "ab"[s], state.run[s]); });
  if (state.two) q.set("two", state.side);
  if (state.job) q.set("job", state.job);
  if (state.byJob) q.set("colour", "job");
  if (state.bar) q.set("bar", [state.bar.side, state.bar.kind, state.bar.task, state.bar.number, state.bar.job].join(","));
  if (state.to > state.from) q.set("view", Math.round(state.from) + "," + Math.round(state.to));
  return "#" + q;
}
let written = "";
function remember() {
  if (!scene) return;
  written = fragment();
  if (location.hash !== written) history.replaceState(null, "", written);
}
async function readFragment() {
  const q = new URLSearchParams(location.hash.slice(1));
  state = fresh();
  packedText = "";
  if (!q.has("s")) { first.set.forEach(x => setting(state.sets[0], x)); }
  else {
    state.name = q.get("s");
    state.seed = +(q.get("seed") ?? 1);
    q.getAll("a").forEach(x => setting(state.sets[0], x));
    q.getAll("b").forEach(x => setting(state.sets[1], x));
    state.two = q.has("two");
    state.side = state.two ? Math.min(1, Math.max(0, +q.get("two") || 0)) : 0;
    state.run = ["runa", "runb"].map(k => Math.max(0, +q.get(k) || 0));
    state.job = q.get("job");
    state.byJob = q.get("colour") === "job";
    const bar = q.get("bar")?.split(",");
    if (bar) state.bar = { side: +bar[0] ? 1 : 0, kind: bar[1], task: +bar[2], number: +bar[3], job: bar.slice(4).join(",") };
    [state.from, state.to] = (q.get("view") ?? "0,0").split(",").map(Number);
    if (q.has("toml")) {
      packedText = q.get("toml");
      await send({ add: { [state.name]: new TextEncoder().encode(await unpack(packedText)) } });
    }
  }
  layout();
}
function setting(set, text) {
  const i = text.indexOf("=");
  if (i > 0) set.set(text.slice(0, i).trim(), text.slice(i + 1).trim());
}
addEventListener("hashchange", async () => { if (location.hash !== written) { await readFragment(); want("open"); } });

// ---- files ----
let drops = 0;
async function openFiles(list) {
  const all = [...list];
  if (!all.length) return;
  const folder = "opened-" + ++drops, add = {};
  for (const f of all) add[`${folder}/${f.name}`] = new Uint8Array(await f.arrayBuffer());
  await send({ add });
  const toml = all.filter(f => f.name.endsWith(".toml"));
  state = { ...fresh(), name: all.length === 1 ? `${folder}/${all[0].name}` : toml.length === 1 ? `${folder}/${toml[0].name}` : folder };
  packedText = all.length === 1 && toml.length === 1 && all[0].size < 32768 ? await pack(await all[0].text()) : "";
  layout();
  want("open");
}
$("#file").addEventListener("change", e => during(() => openFiles(e.target.files)));
addEventListener("dragover", e => { e.preventDefault(); $("#drop").hidden = false; });
addEventListener("dragleave", e => { if (!e.relatedTarget) $("#drop").hidden = true; });
addEventListener("drop", e => { e.preventDefault(); $("#drop").hidden = true; during(() => openFiles(e.dataTransfer.files)); });

// ---- the rest ----
const shell = s => /^[\w.\/:=,+-]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
function command() {
  const opened = state.name.startsWith("opened-"), name = opened ? state.name.replace(/^opened-\d+\/?/, "") || "FOLDER" : state.name;
  const seed = state.seed === 1 ? "" : ` --seed ${state.seed}`;
  const run = s => `slotwave run ${shell(name)}${seed}${lists()[s].map(x => " --set " + shell(x)).join("")}`;
  const shown = sides().map(s => pics[s]?.v.Variation).filter(x => x);
  const note = shown.length ? "\n# run simulates all variations; the page shows " + shown.join(" and ") : "";
  if (!state.two) return run(0) + note;
  return `${run(0)} --out out/a\n${run(1)} --out out/b\nslotwave compare out/a out/b --why${note}`;
}
function show(title, text) {
  $("#showntitle").textContent = title;
  $("#shown textarea").value = text;
  $("#shown").showModal();
  $("#shown textarea").select();
}
const shows = {
  command: () => show("The same with the program", command()),
  toml: async () => show("The scenario with these settings" + (state.two ? ` (${"AB"[state.side]})` : ""), (await ask({ verb: "toml", side: state.side, set: lists()[state.side] })).answer),
  link: () => { remember(); show("The link to this experiment", location.href + (state.name.startsWith("opened-") && !packedText ? "\n\nThe link does not hold the files that were opened here." : "")); },
  attempts: async () => {
    const { data } = await ask({ verb: "attempts", side: state.side });
    const a = el("a", { href: URL.createObjectURL(new Blob([data], { type: "text/csv" })), download: "attempts.csv" });
    a.click();
    URL.revokeObjectURL(a.href);
  },
};
$$("[data-show]").forEach(b => b.addEventListener("click", () => {
  $("#more").open = false;
  during(shows[b.dataset.show]);
}));
$("#copy").addEventListener("click", () => { const t = $("#shown textarea"); t.select(); navigator.clipboard?.writeText(t.value).catch(() => document.execCommand("copy")) ?? document.execCommand("copy"); });
const dark = () => {
  const now = root.className ? root.className === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
  root.className = now ? "light" : "dark";
  draw();
};
$("#dark").addEventListener("click", dark);
$("#byjob").addEventListener("change", e => { state.byJob = e.target.checked; draw(); remember(); });
$("#keys").addEventListener("click", () => { $("#more").open = false; $("#help").showModal(); });
$("#second").addEventListener("click", () => setTwo(!state.two));
$$("#sides input").forEach(r => r.addEventListener("change", () => setSide(+r.value)));
$$("[data-zoom]").forEach(b => b.addEventListener("click", () => zoom(+b.dataset.zoom)));
$("#scenario").addEventListener("change", e => { state = { ...fresh(), name: e.target.value }; packedText = ""; layout(); want("open"); });
$("#controls").addEventListener("submit", e => e.preventDefault());
$("#other").addEventListener("submit", e => {
  e.preventDefault();
  const { key, value } = e.target.elements;
  if (!key.value.trim()) return key.focus();
  change(key.value.trim(), value.value.trim());
  key.value = value.value = "";
  key.focus();
});
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || $("dialog[open]") || e.target.matches?.("input:not([type=range]):not([type=checkbox]):not([type=radio]),select,textarea")) {
    return;
  }
  if (e.key === "Escape") { $("#more").open = false; return; }
  const act = { c: shows.command, t: shows.toml, u: shows.link, b: () => setTwo(!state.two), 1: () => setSide(0), 2: () => setSide(1), d: dark, "?": () => $("#help").showModal() }[e.key];
  if (act && scene) { e.preventDefault(); during(act); }
});
addEventListener("resize", draw);
let worn = ""; // the class of the page on the screen
addEventListener("beforeprint", () => { [worn, root.className] = [root.className, "light"]; drawNow(); }); // in the colours of paper
addEventListener("afterprint", () => { root.className = worn; draw(); });
matchMedia("(prefers-color-scheme:dark)").addEventListener("change", draw);
(async () => {
  const r = await send({ program: $("#program").textContent, add: first.files });
  $("#program").remove();
  if (r.error) { $("#status").textContent = ""; return fail(r.error); }
  await readFragment();
  want("open");
})();
