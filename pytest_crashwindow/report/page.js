"use strict";
// The script of the HTML report. It reads the JSON texts in the page and draws what the address after `#`
// asks for. Text from a test run becomes text nodes only; no markup is ever made from it.
(() => {
const $ = (id) => document.getElementById(id);
const read = (id) => JSON.parse($(id).textContent);
const data = read("data");
const stories = new Map();
const story = (n) => {
  if (!stories.has(n)) stories.set(n, read(`story-${n}`));
  return stories.get(n);
};

// ---- text ---------------------------------------------------------------------------------

// Characters that can't be seen, or that turn the direction of what follows.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

const codeOf = (char) => "U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const spelled = (text) => String(text).replace(HIDDEN, codeOf);
const SPOKEN = new Set(["title", "aria-label", "aria-valuetext"]);

function parts(text) {
  const found = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    found.push(text.slice(from, match.index));
    found.push(h("span", { class: "hidden-char" }, codeOf(match[0])));
    from = match.index + match[0].length;
  }
  found.push(text.slice(from));
  return found;
}

function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "vars") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(key, value === true ? "" : SPOKEN.has(key) ? spelled(value) : value);
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...parts(String(child)));
  }
  return element;
}

const bdi = (text, cls) => h("bdi", { class: cls }, String(text));
const code = (text, cls) => h("code", { class: cls }, bdi(text));
const flat = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const percent = (text) => encodeURIComponent(text);
// A long dotted name may be broken after its dots and colons, and nowhere else if that's enough.
const name = (text, cls, after = /(?<=[.:/])/) => h("bdi", { class: cls },
  String(text).split(after).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));

// ---- windows ------------------------------------------------------------------------------

const tests = data.tests;
const windows = tests.flatMap((test) => test.windows.map((window) => Object.assign(window, { of: test })));
const place = new Map(windows.map((window, i) => [window.id, i]));
windows.forEach((window, i) => {
  window.number = i;
  window.words = [window.of.test, window.window, window.point, window.verdict, window.message].join("\n").toLowerCase();
});

const tone = (window) => ({ passed: "good", failed: "bad" })[window.outcome] || "other";
const verdictOf = (window) =>
  window.outcome === "failed" || window.outcome === "passed" ? window.verdict : window.outcome;
const SIGN = { good: "✓", bad: "✕", other: "!" };
const mark = (t, label) => h("span", { class: `mark ${t}`, role: label ? "img" : null, "aria-label": label,
  "aria-hidden": label ? null : "true" }, SIGN[t]);
const ORDER = ["crash", "lost_ack", "error", "pause", "duplicate", "delay", "power_loss"];
const rank = (fault) => (ORDER.indexOf(fault.split(".")[0]) + ORDER.length + 1) % (ORDER.length + 1);
const FAULT_SIGN = { crash: "✕", lost_ack: "⇠", error: "!", pause: "‖", duplicate: "²", delay: "…", power_loss: "↯" };
const nth = (n) => n + (n % 100 > 9 && n % 100 < 21 ? "th" : ["th", "st", "nd", "rd"][n % 10] || "th");

// ---- filter -------------------------------------------------------------------------------

let shown = windows;
let ready = false;
const fields = ["text", "test", "point", "fault", "verdict"];
const field = (key) => $(`f-${key}`);

function fill(select, all, values) {
  select.append(h("option", { value: "" }, all));
  for (const value of values) select.append(h("option", { value }, spelled(value)));
}

function setUpFilters() {
  const unique = (values) => [...new Set(values)];
  fill(field("test"), "All tests", tests.map((test) => test.test));
  fill(field("point"), "All points", unique(windows.map((w) => w.point)));
  fill(field("fault"), "All faults", unique(windows.map((w) => w.fault)).sort((a, b) => rank(a) - rank(b)));
  fill(field("verdict"), "All verdicts", unique(windows.map(verdictOf)));
  for (const key of fields) field(key).addEventListener("input", () => filter());
  $("clear").addEventListener("click", () => {
    fields.forEach((key) => (field(key).value = ""));
    filter();
    field("text").focus();
  });
}

function filter() {
  const [text, test, point, fault, verdict] = fields.map((key) => field(key).value);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  shown = windows.filter((w) =>
    (!test || w.of.test === test) && (!point || w.point === point) && (!fault || w.fault === fault) &&
    (!verdict || verdictOf(w) === verdict) && words.every((word) => w.words.includes(word)));
  const filtered = fields.some((key) => field(key).value);
  $("count").textContent = filtered ? `${shown.length.toLocaleString("en")} of ${plural(windows.length, "window")}`
    : plural(windows.length, "window");
  $("clear").hidden = !filtered;
  cursor = Math.max(0, shown.findIndex((w) => w.number === open));
  drawList();
  if (ready && open === null) drawOverview();
}

// ---- the list: only the rows in sight exist ------------------------------------------------

const ROW = 52;
let cursor = 0;
let open = null; // the number of the window that is shown

function drawList() {
  const list = $("list"), room = $("room");
  room.style.height = `${shown.length * ROW}px`;
  const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const to = Math.min(shown.length, from + Math.ceil((list.clientHeight || 600) / ROW) + 10);
  room.replaceChildren(...shown.slice(from, to).map((window, i) => row(window, from + i)));
  const active = shown[cursor] && cursor >= from && cursor < to ? `row-${shown[cursor].number}` : null;
  if (active) list.setAttribute("aria-activedescendant", active);
  else list.removeAttribute("aria-activedescendant");
}

function row(window, at) {
  const verdict = verdictOf(window), steps = window.steps.length ? window.steps : [{ point: window.point, hit: 1 }];
  const before = steps.slice(0, -1);
  return h("div", {
    class: `row${at === cursor ? " cursor" : ""}`, role: "option", id: `row-${window.number}`,
    "aria-selected": String(window.number === open), "aria-posinset": at + 1, "aria-setsize": shown.length,
    vars: { top: `${at * ROW}px` }, onclick: () => { cursor = at; go(window); },
  }, mark(tone(window)), h("span", { class: "visually-hidden" }, `${verdict}: `),
    h("span", { class: "row-name" }, before.length ? "↳ " : null, hit(steps.at(-1))),
    h("span", { class: "row-more" }, bdi(window.fault, "fault"),
      before.length ? [" after ", before.map((s, i) => [i ? ", " : null, bdi(s.fault), " at ", hit(s)])] : null,
      verdict !== "passed" && verdict !== "failed" ? h("span", { class: "row-verdict" }, verdict) : null,
      bdi(shortTest(window.of.test), "row-test")));
}

const shortTest = (test) => test.split("::").slice(1).join("::") || test;
const hit = (step) => [bdi(step.point), step.hit > 1 ? h("b", {}, `+${step.hit}`) : null];

function moveCursor(by) {
  if (!shown.length) return;
  cursor = Math.min(shown.length - 1, Math.max(0, cursor + by));
  reveal();
}

function reveal() {
  const list = $("list"), top = cursor * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  drawList();
}

// ---- the overview ---------------------------------------------------------------------------

const lazily = "IntersectionObserver" in globalThis ? new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) build(one.target);
}, { rootMargin: "800px" }) : null;
const unbuilt = new Map();
function build(element) {
  if (!unbuilt.has(element)) return;
  element.append(...unbuilt.get(element)());
  unbuilt.delete(element);
  element.classList.remove("unbuilt");
  if (lazily) lazily.unobserve(element);
}

function drawOverview() {
  document.body.dataset.view = "overview";
  document.title = `Crash windows: ${summaryLine()}`;
  const matching = new Set(shown);
  const here = tests.filter((test) => test.windows.some((w) => matching.has(w)) || (!test.windows.length && shown.length === windows.length));
  const order = { failed: 0, error: 0, passed: 2 };
  here.sort((a, b) => (order[a.verdict] ?? 1) - (order[b.verdict] ?? 1));
  unbuilt.clear();
  $("main").replaceChildren(...facts(), legend(), ...here.map((test) => section(test, matching)),
    here.length ? "" : h("p", { class: "empty" }, tests.length ? "No window matches the filter." : "No sweep ran."));
}

function summaryLine() {
  const t = data.totals;
  const early = data.run.interrupted || tests.some((test) => test.verdict === "incomplete");
  const unexplored = early && t.explored < t.known ? `, explored ${t.explored} of ${t.known}` : "";
  const unswept = t.unswept ? `, ${plural(t.unswept, "test")} not swept` : "";
  if (!t.explored && t.unswept) return `${plural(t.unswept, "test")} not swept`;
  return (t.failed ? `${t.failed} of ${t.explored} failed` : t.explored ? `${t.passed} of ${t.explored} passed` : "no sweep ran") + unswept + unexplored;
}

// A sweep that came to nothing failed, unless nobody expected more of it.
const isUnswept = (test) => test.kind === "sweep" && !test.windows.length && test.verdict !== "passed";
const isDead = (test) => isUnswept(test) && !["skipped", "control xfailed", "incomplete"].includes(test.verdict);

function facts() {
  const t = data.totals, run = data.run;
  const others = t.explored - t.passed - t.failed;
  const tile = (n, word, cls) => h("div", { class: `tile ${cls}` }, h("strong", {}, n.toLocaleString("en")), h("span", {}, word));
  return [
    run.interrupted ? h("p", { class: "notice" }, "The run ended early (", bdi(run.interrupted), "). This is what was done.") : null,
    h("div", { class: "tiles" },
      tile(t.failed, t.failed === 1 ? "window failed" : "windows failed", t.failed ? "bad" : ""),
      tile(t.passed, "passed", t.passed ? "good" : ""),
      others ? tile(others, "neither", "other") : null,
      t.known > t.explored ? tile(t.known - t.explored, "not explored", "other") : null,
      t.unswept ? tile(t.unswept, t.unswept === 1 ? "test not swept" : "tests not swept", tests.some(isDead) ? "bad" : "other") : null,
      tile(t.tests, t.tests === 1 ? "test" : "tests", "")),
    h("p", { class: "run" }, new Date(run.started).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }),
      ` · ${run.seconds.toFixed(1)} s · `, Object.entries(run.versions).map(([k, v]) => `${k} ${v}`).join(" · ")),
  ].filter(Boolean);
}

function legend() {
  if (!windows.length) return "";
  const one = (sign, word) => h("span", {}, sign, " ", word);
  return h("p", { class: "legend" }, "Rows are points in the order passed, columns the faults that struck there.", h("span", {},
    one(mark("good"), "passed"), one(mark("bad"), "failed"),
    windows.some((w) => tone(w) === "other") ? one(mark("other"), "neither") : null,
    one(h("span", { class: "mark none", "aria-hidden": "true" }, "–"), "not swept")));
}

function section(test, matching) {
  const failed = test.windows.filter((w) => w.outcome === "failed").length;
  const passed = test.windows.filter((w) => w.outcome === "passed").length;
  const t = test.verdict === "passed" ? "good" : failed || test.verdict === "failed" || isDead(test) ? "bad" : "other";
  const id = `t-${tests.indexOf(test)}`;
  const rows = new Set(test.windows.map((w) => (w.steps[0] || w).point)).size;
  const body = h("div", { class: "unbuilt", vars: { "--rows": rows } });
  unbuilt.set(body, () => [matrix(test, matching)].flat());
  const element = h("section", { class: "test", "aria-labelledby": id },
    h("h2", { id }, mark(t, test.verdict), name(test.test)),
    h("p", { class: "sub" }, isUnswept(test) ? "no window was tried" : failed ? `${failed} of ${plural(test.explored, "window")} failed` : `${passed} of ${plural(test.explored, "window")} passed`,
      !isUnswept(test) && (test.explored < test.known || test.stopped) ? ` · explored ${test.explored} of ${test.known}` : null,
      test.stopped ? [" (", bdi(test.stopped), ")"] : null,
      !["passed", "failed"].includes(test.verdict) ? [" · ", bdi(test.verdict)] : null,
      copy(test.rerun, "Copy command", `copy: ${test.rerun}`)),
    test.message && !failed ? why(test, t) : null,
    test.notes.map((note) => h("p", { class: "notice" }, bdi(note))), body);
  if (lazily) lazily.observe(body);
  else build(body);
  return element;
}

// Why a sweep is no pass though no window failed.
function why(test, t) {
  const happened = () => h("ol", { class: "control" }, story(test.control).map((e) => h("li", { class: `is-${e.kind.replace(" ", "-")}` },
    h("span", { class: "ms" }, e.ms.toFixed(1)), h("span", { class: "what" }, what(e)))));
  return h("div", { class: "why" }, h("p", { class: `message ${t}` }, code(test.message)),
    test.failure !== test.message ? folded("The failure", () => pre(test.failure, "text of the failure")) : null,
    isUnswept(test) && story(test.control).length ? folded("What happened without any fault", happened) : null);
}

function folded(title, make) {
  return h("details", { ontoggle: (event) => {
    if (event.target.open && event.target.childElementCount === 1) event.target.append(make());
  } }, h("summary", {}, title));
}

function matrix(test, matching) {
  if (!test.windows.length) return [];
  const cells = new Map(), swept = new Set();
  for (const window of test.windows) {
    const first = window.steps[0] || window;
    const key = first.point + "\n" + first.fault;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(window);
    swept.add(first.point);
  }
  const faults = [...new Set(test.windows.map((w) => (w.steps[0] || w).fault))].sort((a, b) => rank(a) - rank(b));
  const points = [...new Set([...test.points, ...swept])];
  const body = points.map((point) => h("tr", { class: swept.has(point) ? null : "unswept" },
    h("th", { scope: "row" }, name(point)),
    faults.map((fault) => h("td", {}, cell(cells.get(point + "\n" + fault), matching)))));
  const unswept = points.filter((point) => !swept.has(point)).length;
  const table = h("table", { class: "matrix" },
    h("caption", { class: "visually-hidden" }, "Points in the order passed, and the faults tried at each"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "point"), faults.map((fault) => h("th", { scope: "col" }, h("span", {}, bdi(fault)))))),
    h("tbody", {}, body));
  const toggle = unswept ? h("button", { type: "button", class: "quiet", "aria-pressed": "false", onclick: (event) => {
    const on = table.classList.toggle("all");
    event.target.setAttribute("aria-pressed", String(on));
    event.target.textContent = label(on);
  } }) : null;
  const label = (on) => (on ? "Hide" : "Show") + ` ${plural(unswept, "point")} not swept`;
  if (toggle) toggle.textContent = label(false);
  return [table, toggle].filter(Boolean);
}

function cell(list, matching) {
  if (!list) return h("span", { class: "mark none", role: "img", "aria-label": "not swept" }, "–");
  const single = list.filter((w) => w.steps.length < 2), nested = list.filter((w) => w.steps.length > 1);
  const out = single.map((window) => {
    const t = tone(window), hit = window.steps[0] ? window.steps[0].hit : 1;
    return h("a", {
      class: `cell ${t}${matching.has(window) ? "" : " dim"}`, href: address(window), "data-window": window.id,
      title: `${window.window}: ${verdictOf(window)}`,
      "aria-label": `${window.fault} at ${window.point}, ${nth(hit)} passing: ${verdictOf(window)}`,
    }, SIGN[t], list.length > 1 && single.length > 1 ? h("small", {}, hit) : null);
  });
  if (nested.length) {
    const bad = nested.filter((w) => w.outcome === "failed").length;
    out.push(h("button", { type: "button", class: `cell more ${bad ? "bad" : "good"}`,
      title: "windows in what followed: a second fault during recovery",
      "aria-label": `${plural(nested.length, "window")} with a second fault, ${bad} failed: list them`,
      onclick: () => { field("text").value = nested[0].window.split("/")[0] + "/"; filter(); } },
      bad ? `${SIGN.bad} ${bad}/${nested.length}` : `+${nested.length}`));
  }
  return out;
}

function command(text) {
  return text ? h("div", { class: "command" }, code(text), copy(text, "Copy")) : null;
}

function copy(text, label, title) {
  const button = h("button", { type: "button", class: "quiet copy", title, onclick: async () => {
    button.textContent = (await copied(text)) ? "Copied" : "Not copied";
    button.addEventListener("blur", () => (button.textContent = label), { once: true });
  } }, label);
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // a file's page may not be allowed to
    const area = h("textarea", { class: "visually-hidden", "aria-label": "command" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

// ---- one window -----------------------------------------------------------------------------

let view = null; // what is drawn of the open window

function address(window, step) {
  return `#w=${percent(window.id)}` + (step === undefined ? "" : `&s=${step + 1}`);
}
const go = (window) => { location.hash = address(window); };

function drawWindow(window, step) {
  document.body.dataset.view = "window";
  open = window.number;
  const told = story(window.story), control = story(window.of.control);
  view = { window, told, entries: told.timeline, control, step: 0, lives: livesOf(told.timeline) };
  view.difference = firstDifference(view.entries, control);
  view.fault = view.entries.findIndex((e) => e.kind === "fault");
  view.states = statesOf(view.entries);
  document.title = `${window.window}: ${verdictOf(window)}`;
  cursor = Math.max(0, shown.indexOf(window));
  $("main").replaceChildren(heading(window), ...body(window, told));
  reveal();
  setStep(step === null ? view.entries.length - 1 : step, false);
}

function heading(window) {
  const at = shown.indexOf(window), t = tone(window);
  const turn = (to, text, label) => h("a", { class: "button", "aria-label": label, "aria-disabled": to ? null : "true",
    href: to ? address(to) : null }, text);
  const source = window.steps.length ? window.steps : [window];
  return h("header", { class: "head" },
    h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Overview"), h("span", { "aria-hidden": "true" }, "›"), name(window.of.test),
      h("span", { class: "turn" }, turn(shown[at - 1], "‹", "previous window"),
        h("span", {}, at < 0 ? "" : `${at + 1} / ${shown.length}`), turn(shown[at + 1], "›", "next window"))),
    h("h2", {}, source.map((s, i) => [i ? h("span", {}, ", then ") : null, bdi(s.fault), h("span", {}, " at "), h("code", {}, name(s.point)),
      s.hit > 1 ? h("span", {}, `, ${nth(s.hit)} passing`) : null])),
    h("p", { class: "said" }, h("span", { class: `badge ${t}` }, SIGN[t], " ", verdictOf(window)),
      h("span", { class: "quiet-text" }, `${(window.seconds * 1000).toFixed(0)} ms`)),
    window.reason ? h("p", {}, "expected to fail: ", bdi(window.reason)) : null,
    window.message ? h("p", { class: `message ${t}` }, code(window.message)) : null,
    window.hint ? h("p", { class: "notice hint" }, h("b", {}, "Hint: "), bdi(window.hint.text), " ", h("span", { class: "quiet-text" }, code(window.hint.page))) : null,
    command(window.rerun || window.of.rerun));
}

function body(window, told) {
  const has = view.entries.length > 0;
  return [
    has ? stepper() : h("p", { class: "empty" }, "Nothing was written down about this window."),
    has ? h("div", { class: "work" }, lifeline(), h("div", { class: "beside", id: "beside" },
      h("div", { class: "tabs", role: "tablist", "aria-label": "Beside the lifeline" },
        tab("state", "State at this step"), tab("control", "Control")),
      h("div", { id: "panel-state", role: "tabpanel", "aria-labelledby": "tab-state", class: "panel" }),
      h("div", { id: "panel-control", role: "tabpanel", "aria-labelledby": "tab-control", class: "panel", tabindex: "0", hidden: true }))) : null,
    told.fired.filter((f) => f.source).map(struck),
    told.failure ? h("section", { class: "block" }, h("h3", {}, "The failure"), pre(told.failure, "text of the failure")) : null,
    told.output.length ? h("section", { class: "block" }, h("h3", {}, "Output of the lives"),
      told.output.map((o) => [["stdout", o.stdout], ["stderr", o.stderr]].filter(([, text]) => text).map(([stream, text]) => [
        h("h4", {}, bdi(o.life), ` ${stream}`), pre(text, `${stream} of ${o.life}`)]))) : null,
  ].flat(3).filter(Boolean);
}

const pre = (text, label) => h("pre", { tabindex: "0", role: "region", "aria-label": label }, text);

function struck(fired) {
  const s = fired.source;
  return h("section", { class: "block" },
    h("h3", {}, "Where ", bdi(fired.fault), " struck ", bdi(fired.life)),
    h("p", { class: "quiet-text" }, code(`${s.file}:${s.line}`), " in ", code(s.function),
      fired.frames.length > 1 ? [", called from ", fired.frames.slice(1, 4).filter((f) => f.file !== s.file || f.line !== s.line)
        .map((f, i) => [i ? ", " : null, code(`${f.function} (${f.file.split("/").pop()}:${f.line})`)])] : null),
    h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "source code" }, s.lines.map((line, i) => {
      const hit = s.first + i === s.line;
      return h("span", { class: hit ? "line hit" : "line" },
        h("span", { class: "no" }, `${hit ? "▸" : " "}${String(s.first + i).padStart(4)}  `), line, "\n");
    })));
}

function tab(key, text) {
  return h("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}`, tabindex: "-1",
    "aria-selected": "false", onclick: () => showTab(key, true), onkeydown: (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.stopPropagation();
      showTab(key === "state" ? "control" : "state", true);
    } }, text);
}

let besides = "state";
function showTab(key, focus) {
  besides = key;
  for (const one of ["state", "control"]) {
    const button = $(`tab-${one}`);
    if (!button) return;
    button.setAttribute("aria-selected", String(one === key));
    button.tabIndex = one === key ? 0 : -1;
    $(`panel-${one}`).hidden = one !== key;
  }
  if (key === "control" && !$("panel-control").childElementCount) $("panel-control").append(...controlPanel());
  if (focus) $(`tab-${key}`).focus();
}

function stepper() {
  const button = (id, text, label, act) => h("button", { type: "button", id, "aria-label": label, title: label, onclick: act }, text);
  const last = view.entries.length - 1;
  const range = h("input", { type: "range", id: "range", min: 0, max: last, "aria-label": "step",
    oninput: (event) => setStep(Number(event.target.value), true) });
  return h("div", { class: "stepper", role: "group", "aria-label": "Steps" },
    button("first", "⇤", "first step (Home)", () => setStep(0, true)),
    button("back", "←", "step back (←)", () => setStep(view.step - 1, true)),
    button("on", "→", "step on (→)", () => setStep(view.step + 1, true)),
    button("last", "⇥", "last step (End)", () => setStep(last, true)),
    range, h("output", { id: "at" }),
    h("span", { class: "jumps" },
      view.fault >= 0 ? button("to-fault", "Fault", "to the fault (f)", () => setStep(view.fault, true)) : null,
      view.difference.seen >= 0 ? button("to-difference", "First difference", "to the first difference that can be seen (d)",
        () => setStep(view.difference.seen, true)) : null));
}

function setStep(step, remember) {
  const last = view.entries.length - 1;
  if (last < 0) return;
  view.step = Math.max(0, Math.min(last, Number.isFinite(step) ? step : last));
  const rows = $("lifeline").children;
  for (let i = 0; i < rows.length; i++) {
    rows[i].classList.toggle("later", i > view.step);
    const button = rows[i].firstElementChild;
    const now = i === view.step;
    button.tabIndex = now ? 0 : -1;
    if (now) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  $("range").value = view.step;
  $("range").setAttribute("aria-valuetext", spelled(`step ${view.step + 1}: ${said(view.entries[view.step])}`));
  $("at").textContent = `${view.step + 1} / ${last + 1}`;
  $("first").disabled = $("back").disabled = view.step === 0;
  $("last").disabled = $("on").disabled = view.step === last;
  $("panel-state").replaceChildren(...statePanel());
  showTab(besides, false);
  if (!remember) return;
  history.replaceState(null, "", address(view.window, view.step));
  const current = rows[view.step], box = current.getBoundingClientRect();
  const bar = document.querySelector(".stepper").getBoundingClientRect().bottom;
  if (box.top < bar || box.bottom > innerHeight) current.scrollIntoView({ block: "center" });
  if (document.activeElement && document.activeElement.closest("#lifeline")) current.firstElementChild.focus({ preventScroll: true });
}

// ---- lifelines ------------------------------------------------------------------------------

const livesOf = (entries) => [...new Set(entries.map((e) => e.life).filter(Boolean))];
const isRequest = (e) => e.kind === "point" && /^(http\.request|smtp\.send):/.test(e.name);
const isOutside = (e) => e.kind === "effect" || isRequest(e);

// For each entry and life, what the line of the life is like above and below it.
function tracksOf(entries, lives) {
  const now = new Map(lives.map((life) => [life, "none"]));
  return entries.map((e) => lives.map((life) => {
    const before = now.get(life);
    if (e.life === life) {
      const next = { started: "alive", resumed: "alive", paused: "paused", ended: "none" }[e.kind];
      if (next) now.set(life, next);
      else if (before === "none") now.set(life, "alive");
    }
    return [before, now.get(life)];
  }));
}

function statesOf(entries) {
  const now = {};
  return entries.map((e) => {
    if (e.life) {
      const state = { started: "running", resumed: "running", paused: "paused", ended: e.name }[e.kind];
      if (state) now[e.life] = state;
    }
    return { ...now };
  });
}

const LIFE_SIGN = { resumed: "▶", paused: "‖" };
const END_SIGN = { returned: "", raised: "!", crashed: "✕", killed: "■" };

function sign(e) {
  if (e.kind === "fault") return FAULT_SIGN[e.name.split(" ")[0].split(".")[0]] || "✦";
  if (e.kind === "ended") return END_SIGN[e.name] ?? "■";
  return LIFE_SIGN[e.kind] || "";
}

function lifeline() {
  const { entries, lives } = view, outside = entries.some(isOutside);
  const tracks = tracksOf(entries, lives);
  const lanes = ["test", ...lives, ...(outside ? ["outside"] : [])];
  const narrow = lanes.length > 5;
  return h("div", { class: `line-box${narrow ? " narrow" : ""}`, vars: { "--lanes": lanes.length } },
    h("div", { class: "lanes", "aria-hidden": "true" }, h("span", {}, "ms"),
      lanes.map((lane, i) => h("span", { class: laneClass(i, lanes.length, outside) },
        name(lane, null, /(?<=[._:-])/))), h("span", {})),
    h("ol", { id: "lifeline", class: "lifeline", "aria-label": "What happened, in order" }, entries.map((e, i) => h("li", {
      class: [`is-${e.kind.replace(" ", "-")}`, i === view.difference.seen ? "differs" : "", e.kind === "ended" ? `end-${e.name}` : ""].join(" "),
    }, h("button", { type: "button", class: "entry", tabindex: "-1", onclick: () => setStep(i, true) },
      h("span", { class: "ms" }, e.ms.toFixed(1)),
      h("span", { class: "lane lane-test", "aria-hidden": "true" }, e.kind === "observed" || e.kind === "problem" || e.kind === "left out" ? h("i", { class: "dot" }) : null),
      lives.map((life, n) => {
        const [above, below] = tracks[i][n];
        return h("span", { class: `lane track c${n % 6} above-${above} below-${below}${isRequest(e) && lives.indexOf(e.life) < n ? " wire" : ""}`, "aria-hidden": "true" },
          e.life === life ? h("i", { class: e.kind === "point" ? "dot" : "sign" }, sign(e)) : null);
      }),
      outside ? h("span", { class: `lane lane-outside${isRequest(e) ? " wire" : ""}`, "aria-hidden": "true" },
        isOutside(e) ? h("i", { class: "out" }, e.kind === "effect" ? "◆" : e.name.includes(":exit") ? "◂" : "▸") : null) : null,
      h("span", { class: "what" }, i === view.difference.seen ? h("span", { class: "flag" }, "first difference from the control") : null,
        what(e)))))));
}

const laneClass = (i, n, outside) => (i === 0 ? "lane lane-test" : outside && i === n - 1 ? "lane lane-outside" : `lane c${(i - 1) % 6}`);

function what(e) {
  const life = e.life ? [bdi(e.life, "life"), " "] : null;
  switch (e.kind) {
    case "started": return [life, "starts", h("span", { class: "detail" }, ` pid ${flat(e.detail)}`)];
    case "paused": return [life, "stands still"];
    case "resumed": return [life, "goes on"];
    case "ended": return [life, h("b", {}, bdi(e.name)), e.detail ? h("span", { class: "detail" }, " ", bdi(clipped(flat(e.detail), 300))) : null];
    case "fault": return [h("b", { class: "fault-name" }, bdi(e.name.split(" ")[0])), " at ", h("span", { class: "where" }, point(e.name.split(" at ").slice(1).join(" at "))),
      h("span", { class: "detail" }, " ", bdi(flat(e.detail)))];
    case "effect": return [h("span", { class: "tag" }, "effect"), " ", bdi(e.name), h("span", { class: "detail" }, " ", bdi(flat(e.detail)))];
    case "observed": return [h("span", { class: "tag" }, "observed"), " ", bdi(e.name), h("span", { class: "detail" }, " ", bdi(brief(e.detail)))];
    case "point": return [point(e.name), h("span", { class: "detail" }, " ", bdi(clipped(flat(e.detail), 160)))];
    case "problem": return [h("b", {}, bdi(e.name))];
    default: return [bdi(e.name), h("span", { class: "detail" }, ` ${e.kind}`)];
  }
}

function point(text) {
  const [, base, end, hit] = /^(.*?)(:enter|:exit)?(\+\d+)?$/s.exec(text);
  return [name(base, "point"), end ? h("span", { class: "end" }, end) : null, hit && hit !== "+1" ? h("span", { class: "hit-no" }, hit) : null];
}

const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const isRows = (value) => Array.isArray(value) && value.length > 0 &&
  (value.every((v) => v && typeof v === "object" && !Array.isArray(v)) || value.every(Array.isArray));
const brief = (value) => (isRows(value) ? plural(value.length, "row") : Array.isArray(value) ? clipped(flat(value), 80)
  : clipped("= " + flat(value), 80));
const said = (e) => [e.life, e.kind, e.name].filter(Boolean).join(" ");

// ---- the control ----------------------------------------------------------------------------

const sameStep = (a, b) => a && b && a.kind === b.kind && a.life === b.life && a.name === b.name;

// `left`: where the window's path leaves the control's. `seen`: the first effect or observation that the
// control doesn't have. `missing`: effects and observations that only the control has.
function firstDifference(entries, control) {
  if (!control.length) return { left: -1, seen: -1, missing: [] };
  let left = entries.findIndex((e, i) => !sameStep(e, control[i]));
  if (left < 0 && control.length > entries.length) left = entries.length;
  const visible = (list) => {
    const counts = new Map();
    return list.map((e, i) => {
      if (e.kind !== "effect" && e.kind !== "observed") return null;
      const group = e.kind + "\n" + e.name + (e.kind === "effect" ? "\n" + flat(e.detail) : "");
      counts.set(group, (counts.get(group) || 0) + 1);
      return { i, e, key: group + "\n" + counts.get(group), value: flat(e.detail) };
    }).filter(Boolean);
  };
  const theirs = new Map(visible(control).map((v) => [v.key, v]));
  const ours = visible(entries);
  const odd = ours.find((v) => !theirs.has(v.key) || theirs.get(v.key).value !== v.value);
  const have = new Set(ours.map((v) => v.key));
  return { left, seen: odd ? odd.i : -1, missing: [...theirs.values()].filter((v) => !have.has(v.key)), theirs };
}

function controlPanel() {
  const { control, difference } = view;
  if (!control.length) return [h("p", { class: "quiet-text" }, "The control of this sweep is not in this report.")];
  const missing = new Set(difference.missing.map((v) => v.i));
  return [
    h("p", { class: "quiet-text" }, "The same test without any fault."),
    h("ol", { class: "control" }, control.map((e, i) => h("li", { class: [`is-${e.kind}`, i === difference.left ? "leaves" : "", missing.has(i) ? "missing" : ""].join(" ") },
      i === difference.left ? h("span", { class: "flag" }, "here the window leaves the control") : null,
      missing.has(i) ? h("span", { class: "flag" }, "the window never has this") : null,
      h("span", { class: "ms" }, e.ms.toFixed(1)), h("span", { class: "what" }, what(e))))),
  ];
}

// ---- the state at a step --------------------------------------------------------------------

function statePanel() {
  const { entries, step, states, control, difference } = view;
  const now = states[step], past = entries.slice(0, step + 1);
  const observed = new Map(), effects = new Map(), count = new Map();
  for (const e of past) {
    if (e.kind === "observed") {
      count.set(e.name, (count.get(e.name) || 0) + 1);
      observed.set(e.name, { value: e.detail, before: observed.get(e.name), nth: count.get(e.name) });
    } else if (e.kind === "effect") {
      const key = JSON.stringify([e.name, e.detail]);
      effects.set(key, (effects.get(key) || 0) + 1);
    }
  }
  const wanted = new Map();
  for (const e of control) if (e.kind === "effect") {
    const key = JSON.stringify([e.name, e.detail]);
    wanted.set(key, (wanted.get(key) || 0) + 1);
    if (!effects.has(key)) effects.set(key, 0);
  }
  const last = step === entries.length - 1;
  return [
    h("h3", {}, "Lives"),
    Object.keys(now).length ? h("ul", { class: "lives" }, Object.entries(now).map(([life, state]) => h("li", { class: `c${view.lives.indexOf(life) % 6}` },
      h("i", { class: "swatch", "aria-hidden": "true" }), bdi(life), h("span", { class: `state state-${state}` }, state)))) : h("p", { class: "quiet-text" }, "none yet"),
    effects.size ? [h("h3", {}, "Effects outside"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "effects" }, h("table", { class: "rows" },
      h("thead", {}, h("tr", {}, ["effect", "key", "so far", ...(control.length ? ["control"] : [])].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, [...effects].map(([key, n]) => {
        const [label, detail] = JSON.parse(key), right = wanted.get(key) || 0;
        const odd = control.length && (n > right || (last && n !== right));
        return h("tr", { class: odd ? "odd" : null }, h("td", {}, bdi(label)), h("td", {}, bdi(flat(detail))),
          h("td", {}, h("b", {}, n), odd ? h("span", { class: "not" }, n > right ? " too many" : " missing") : null), control.length ? h("td", {}, right) : null);
      }))))] : null,
    observed.size ? [h("h3", {}, "Observed"), [...observed].map(([label, one]) => {
      const twin = difference.theirs && difference.theirs.get(`observed\n${label}\n${one.nth}`);
      const odd = Boolean(control.length && twin && flat(twin.e.detail) !== flat(one.value));
      return [h("h4", {}, bdi(label), one.nth > 1 ? h("span", { class: "quiet-text" }, ` ${nth(one.nth)} time`) : null,
        odd ? h("span", { class: "not" }, "differs from the control") : null),
        shownValue(one.value, one.before && one.before.value, label, twin && twin.e.detail),
        odd ? h("div", { class: "twin" }, h("h5", {}, "in the control"), shownValue(twin.e.detail, undefined, `${label} in the control`)) : null];
    })] : [h("h3", {}, "Observed"), h("p", { class: "quiet-text" }, "Nothing up to here. ", h("code", {}, "crashwindow.observe(name, rows)"), " in the test shows a table here.")],
  ].flat(3).filter(Boolean);
}

function shownValue(value, before, label, twin) {
  if (isRows(value)) return table(value, before, label, twin);
  if (value && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length)
    return table(Object.entries(value).map(([k, v]) => ({ name: k, value: v })), undefined, label,
      twin && typeof twin === "object" ? Object.entries(twin).map(([k, v]) => ({ name: k, value: v })) : undefined);
  if (Array.isArray(value) && !value.length) return h("p", { class: "value" }, "no rows");
  return h("pre", { class: "value" }, typeof value === "string" ? value : JSON.stringify(value, null, 1));
}

const MOST_ROWS = 200;
function table(rows, before, label, twin) {
  const keyed = !Array.isArray(rows[0]);
  const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  const at = (list, i, column) => (isRows(list) && list[i] ? flat(list[i][column] ?? null) : undefined);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "rows" },
    keyed ? h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col" }, bdi(c))))) : null,
    h("tbody", {}, rows.slice(0, MOST_ROWS).map((r, i) => h("tr", {}, columns.map((c) => {
      const text = flat(r[c] ?? null);
      const odd = twin !== undefined && at(twin, i, c) !== text;
      const fresh = before !== undefined && at(before, i, c) !== text;
      return h("td", { class: [odd ? "odd" : "", fresh ? "fresh" : ""].join(" ").trim() || null,
        title: odd ? "differs from the control" : fresh ? "changed since it was last observed" : null },
        r[c] === null || r[c] === undefined ? h("span", { class: "null" }, "null") : bdi(text), odd ? h("span", { class: "not", "aria-hidden": "true" }, " ≠") : null);
    }))))), rows.length > MOST_ROWS ? h("p", { class: "quiet-text" }, `and ${rows.length - MOST_ROWS} more rows`) : null);
}

// ---- where we are -----------------------------------------------------------------------------

function route() {
  const found = /^#w=([^&]*)(?:&s=(\d+))?$/.exec(location.hash);
  let id = null;
  try { id = found && decodeURIComponent(found[1]); } catch { id = null; }
  if (found && place.has(id)) {
    const same = view && open === place.get(id);
    if (same && found[2]) setStep(Number(found[2]) - 1, false);
    else {
      drawWindow(windows[place.get(id)], found[2] ? Number(found[2]) - 1 : null);
      scrollTo(0, 0);
    }
    return;
  }
  open = null;
  view = null;
  drawOverview();
  if (found) $("main").prepend(h("p", { class: "notice", role: "alert" }, "There is no such window in this report: ", code(id ?? location.hash)));
  drawList();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target, inList = target === $("list");
  const typing = target.matches("input:not([type=range]), select, textarea");
  if (event.key === "Escape") {
    if (typing) { if (target.value && target.type === "search") { target.value = ""; filter(); } target.blur(); }
    else if (open !== null) location.hash = "#/";
    return;
  }
  if (typing) {
    if (event.key === "Enter" && target.id === "f-text" && shown.length) { go(shown[cursor]); $("list").focus(); }
    if (event.key === "ArrowDown" && target.id === "f-text") { event.preventDefault(); $("list").focus(); }
    return;
  }
  const inRange = target.matches("input[type=range]");
  const act = {
    "/": () => field("text").focus(),
    "?": () => $("help").showModal(),
    j: () => { if (open === null && cursor === 0 && !inList) go(shown[0]); else { moveCursor(1); if (shown[cursor]) go(shown[cursor]); } },
    k: () => { moveCursor(-1); if (shown[cursor]) go(shown[cursor]); },
    ...(inList ? {
      ArrowDown: () => moveCursor(1), ArrowUp: () => moveCursor(-1), PageDown: () => moveCursor(10), PageUp: () => moveCursor(-10),
      Home: () => moveCursor(-shown.length), End: () => moveCursor(shown.length), Enter: () => shown[cursor] && go(shown[cursor]),
    } : {}),
    ...(view && view.entries.length ? {
      f: () => view.fault >= 0 && setStep(view.fault, true),
      d: () => view.difference.seen >= 0 && setStep(view.difference.seen, true),
      c: () => showTab(besides === "state" ? "control" : "state", false),
    } : {}),
    ...(view && view.entries.length && !inRange && !target.closest("pre, .scroll") ? {
      ArrowLeft: () => setStep(view.step - 1, true), ArrowRight: () => setStep(view.step + 1, true),
    } : {}),
    ...(view && view.entries.length && !inRange && !inList && !target.closest("pre, .scroll") ? {
      Home: () => setStep(0, true), End: () => setStep(view.entries.length - 1, true),
      ...(target.closest("#lifeline") ? { ArrowUp: () => setStep(view.step - 1, true), ArrowDown: () => setStep(view.step + 1, true) } : {}),
    } : {}),
  }[event.key];
  if (!act || (event.key === "Enter" && !inList)) return;
  event.preventDefault();
  act();
}

// ---- light and dark -----------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"];
function theme(next) {
  if (next === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = next;
  $("theme").textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[next];
  try { localStorage.setItem("crashwindow-theme", next); } catch { /* a file without storage */ }
}
function kept() {
  try { return localStorage.getItem("crashwindow-theme"); } catch { return null; }
}

// ---- begin ----------------------------------------------------------------------------------------

theme(THEMES.includes(kept()) ? kept() : "auto");
$("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || "auto";
  theme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});
$("keys").addEventListener("click", () => $("help").showModal());
$("totals").replaceChildren(mark(data.totals.failed || tests.some(isDead) ? "bad" : !data.totals.unswept && data.totals.explored && !data.run.interrupted && data.totals.passed === data.totals.explored ? "good" : "other"), " " + summaryLine());
setUpFilters();
$("list").addEventListener("scroll", () => requestAnimationFrame(drawList), { passive: true });
addEventListener("resize", drawList);
addEventListener("keydown", onKey);
addEventListener("hashchange", route);
addEventListener("beforeprint", () => [...unbuilt.keys()].forEach(build));
filter();
ready = true;
route();
document.documentElement.dataset.ready = "yes";
})();
