// The page as a whole: its tools follow the layout and the address, and the address them.
import { complain, copyButton, find } from "./dom.js";
import * as link from "./link.js";
import * as layoutForm from "./layoutform.js";
import * as apart from "./apart.js";
import * as difference from "./difference.js";
import * as make from "./make.js";
import * as where from "./where.js";

// The fields whose values a link carries, and what they hold when it does not.
const kept = { ids: "", form: "auto", datacenter: "", worker: "", count: "1", time: "", from: "", to: "", column: "", a: "", b: "" };

function state() {
  const all = new URLSearchParams();
  layoutForm.put(all);
  for (const [id, usual] of Object.entries(kept)) {
    const value = find(id).value.trim();
    if (value !== usual && !find(id).disabled && value.length <= apart.longest) all.set(id, value);
  }
  if (find("by-server").checked) all.set("by", "server");
  return all;
}

function show() {
  apart.show();
  difference.show();
  where.show();
  make.adapt();
}

// apply shows a state; what it does not name is as at the beginning.
function apply(given) {
  layoutForm.take(given);
  for (const [id, usual] of Object.entries(kept)) {
    const field = find(id);
    const value = given.get(id) ?? usual;
    field.value = value;
    if (field.tagName === "SELECT" && field.value !== value) field.value = usual;
  }
  find(given.get("by") === "server" ? "by-server" : "by-page").checked = true;
  find("make-result").replaceChildren();
  find("make-error").textContent = "";
  for (const id of ["worker", "datacenter", "count", "time"]) complain(find(id), null);
  show();
}

let later;
function changed() {
  clearTimeout(later);
  delete document.documentElement.dataset.settled; // for the tests to wait for
  later = setTimeout(() => {
    show();
    link.write(state());
    document.documentElement.dataset.settled = String(Date.now());
  }, 150);
}

layoutForm.start(changed);
make.start();
apart.start();
for (const id of [...Object.keys(kept), "by-server", "by-page"]) find(id).addEventListener("input", changed);
find("share").append(copyButton("link to all that is shown", () => {
  link.write(state());
  return location.href;
}, "Copy link"));
// The address holds the state, so the way past the head cannot be a target in it.
find("skip").addEventListener("click", (event) => {
  event.preventDefault();
  find("main").focus();
});
link.follow(apply);
apply(link.read());
document.documentElement.dataset.ready = "true";
