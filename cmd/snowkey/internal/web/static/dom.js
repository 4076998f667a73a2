// Small things about the page: elements, copying, telling.

export const find = (id) => document.getElementById(id);

// el makes an element. Properties that are no properties of it become attributes.
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return node;
}

// tell says something to those who hear the page.
let clear;
export function tell(text) {
  const live = find("live");
  live.textContent = "";
  clearTimeout(clear);
  setTimeout(() => (live.textContent = text), 50); // the same text again is news as well
  clear = setTimeout(() => (live.textContent = ""), 5000);
}

async function copy(text) {
  if (navigator.clipboard) { // there is none where the page came over plain http from afar
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // it may be forbidden, and the old way allowed
    }
  }
  const area = el("textarea", { class: "visually-hidden", "aria-hidden": "true" });
  const focused = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return copied;
}

// copyButton copies what text() gives; `what` completes its name: "Copy the id".
export function copyButton(what, text, label = "Copy") {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, label);
  button.addEventListener("click", async () => {
    const copied = await copy(text());
    button.textContent = copied ? "Copied" : "Failed";
    button.classList.toggle("done", copied);
    tell(copied ? `Copied ${what}` : `Could not copy ${what}`);
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("done");
    }, 1500);
  });
  return button;
}

// complain marks a field as wrong and says why below it; no reason: it is right.
export function complain(field, reason) {
  const place = find(`${field.id}-error`);
  if (place.textContent !== (reason ?? "")) place.textContent = reason ?? "";
  if (reason) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

// sentence makes one of a reason.
export const sentence = (reason) => `${reason[0].toUpperCase()}${reason.slice(1)}.`;

// fresh reports whether a part of the page is made of something else than the last time.
// If not, what it shows stays: it would be told anew to those who hear the page.
const madeOf = new Map();
export function fresh(part, ...values) {
  const before = madeOf.get(part);
  madeOf.set(part, values);
  return before === undefined || values.some((value, i) => value !== before[i]);
}

// terms makes a list of names and values; a value may be a node.
export function terms(entries) {
  return el("dl", { class: "terms" }, entries.filter(Boolean).map(([name, ...value]) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value))));
}

const grouped = new Intl.NumberFormat("en");

// people writes a number with thousands parted, a decimal as text or a BigInt.
export function people(n) {
  const [whole, part] = String(n).split(".");
  return grouped.format(BigInt(whole)) + (part ? `.${part}` : "");
}
