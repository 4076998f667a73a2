// The page: its tools follow the layout and the URL, and the URL follows them.
import { copyButton, find, setError } from "./dom.js";
import * as link from "./link.js";
import * as tabs from "./tabs.js";
import * as layoutForm from "./layoutform.js";
import * as decode from "./decode.js";
import * as difference from "./difference.js";
import * as enough from "./enough.js";
import * as generate from "./generate.js";
import * as where from "./where.js";
import * as sealing from "./sealing.js";

// The fields that a link contains, and their defaults, which are examples.
const defaults = {
  ids: "", format: "auto", workers: "", worker: "0", count: "1", time: "", from: "yesterday", to: "today", zone: "utc", column: "", dialect: "postgres",
  a: "1996573624012345677", b: "2006515713438646272", rate: "5000", until: "2060",
};

function state() {
  const all = new URLSearchParams();
  if (tabs.current() !== "decode") all.set("tab", tabs.current());
  layoutForm.save(all);
  for (const [id, initial] of Object.entries(defaults)) {
    const value = (id === "ids" ? decode.text() : find(id).value).trim();
    if (value !== initial && !find(id).disabled && value.length <= link.longest) all.set(id, value);
  }
  if (find("by-server").checked) all.set("by", "server");
  return all;
}

function show() {
  difference.show();
  where.show();
  enough.show();
  generate.adapt();
  return decode.show();
}

// apply shows a state; what it does not name gets its default.
function apply(given) {
  tabs.show(given.get("tab"));
  layoutForm.load(given);
  for (const [id, initial] of Object.entries(defaults)) {
    const field = find(id);
    const value = given.get(id) ?? initial;
    field.value = value;
    if (field.tagName === "SELECT" && field.value !== value) field.value = initial;
  }
  const server = given.get("by") === "server" && !("static" in document.documentElement.dataset); // see web.Export
  find(server ? "by-server" : "by-page").checked = true;
  find("generate-result").replaceChildren();
  find("generate-error").textContent = "";
  for (const id of ["worker", "count", "time"]) setError(find(id), null);
  tabs.link(given);
  const shown = show();
  example();
  return shown;
}

function example() {
  if (tabs.current() === "generate") generate.example();
}

function write() {
  link.write(state());
  tabs.link(state());
}

let later;
let run = 0;
function changed() {
  clearTimeout(later);
  delete document.documentElement.dataset.settled; // tests wait for it
  const mine = ++run;
  later = setTimeout(async () => {
    const shown = show();
    write();
    await shown;
    if (mine === run) document.documentElement.dataset.settled = String(Date.now());
  }, 150);
}

function openTab(name) {
  tabs.show(name);
  scrollTo(0, 0);
  write();
}

layoutForm.start(changed, () => openTab("layout"));
tabs.start(() => {
  write();
  example();
});
generate.start(() => openTab("decode"));
decode.start();
where.start();
sealing.start();
for (const id of [...Object.keys(defaults), "by-server", "by-page"]) find(id).addEventListener("input", changed);
find("share").append(copyButton("link to this state", () => {
  write();
  return decode.text().length > link.longest ? null : location.href;
}, "Copy link"));
// The fragment is the state, so the skip link cannot be one.
find("skip").addEventListener("click", (event) => {
  event.preventDefault();
  find("main").focus();
});
link.follow((given) => apply(given));
const first = link.read();
const recalled = layoutForm.recall(first);
await apply(first);
if (recalled) history.replaceState(null, "", `#${state()}`); // the way back leads here
if (tabs.current() === "decode" && document.activeElement === document.body) find("ids").focus();
document.documentElement.dataset.ready = "true";
