// The page: its tools follow the layout and the URL, and the URL follows them.
import { copyButton, find, setError } from "./dom.js";
import * as link from "./link.js";
import * as layoutForm from "./layoutform.js";
import * as decode from "./decode.js";
import * as difference from "./difference.js";
import * as generate from "./generate.js";
import * as where from "./where.js";
import * as sealing from "./sealing.js";

// The fields that a link contains, and their defaults.
const defaults = { ids: "", format: "auto", datacenter: "", worker: "", count: "1", time: "", from: "", to: "", column: "", a: "", b: "" };

function state() {
  const all = new URLSearchParams();
  layoutForm.save(all);
  for (const [id, initial] of Object.entries(defaults)) {
    const value = find(id).value.trim();
    if (value !== initial && !find(id).disabled && value.length <= decode.maxText) all.set(id, value);
  }
  if (find("by-server").checked) all.set("by", "server");
  return all;
}

function show() {
  decode.show();
  difference.show();
  where.show();
  generate.adapt();
}

// apply shows a state; what it does not name gets its default.
function apply(given) {
  layoutForm.load(given);
  for (const [id, initial] of Object.entries(defaults)) {
    const field = find(id);
    const value = given.get(id) ?? initial;
    field.value = value;
    if (field.tagName === "SELECT" && field.value !== value) field.value = initial;
  }
  find(given.get("by") === "server" ? "by-server" : "by-page").checked = true;
  find("generate-result").replaceChildren();
  find("generate-error").textContent = "";
  for (const id of ["worker", "datacenter", "count", "time"]) setError(find(id), null);
  show();
}

let later;
function changed() {
  clearTimeout(later);
  delete document.documentElement.dataset.settled; // tests wait for it
  later = setTimeout(() => {
    show();
    link.write(state());
    document.documentElement.dataset.settled = String(Date.now());
  }, 150);
}

layoutForm.start(changed);
generate.start();
decode.start();
sealing.start();
for (const id of [...Object.keys(defaults), "by-server", "by-page"]) find(id).addEventListener("input", changed);
find("share").append(copyButton("link to this state", () => {
  link.write(state());
  return location.href;
}, "Copy link"));
// The fragment is the state, so the skip link cannot be one.
find("skip").addEventListener("click", (event) => {
  event.preventDefault();
  find("main").focus();
});
link.follow(apply);
apply(link.read());
document.documentElement.dataset.ready = "true";
