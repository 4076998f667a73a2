// Helpers of the page: elements, copying, announcements.

export const find = (id) => document.getElementById(id);

// el creates an element with attributes, handlers and children.
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

// announce speaks a text to users of screen readers.
let clear;
export function announce(text) {
  const live = find("live");
  live.textContent = "";
  clearTimeout(clear);
  setTimeout(() => (live.textContent = text), 50); // the same text is announced again
  clear = setTimeout(() => (live.textContent = ""), 5000);
}

async function copy(text) {
  if (navigator.clipboard) { // missing on plain http
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // it may be forbidden, and execCommand allowed
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

// copyButton copies what text() returns, which is null if it is too long; `what` completes its name: "Copy the id".
export function copyButton(what, text, label = "Copy") {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, label);
  button.addEventListener("click", async () => {
    const value = text();
    const copied = value !== null && (await copy(value));
    button.textContent = copied ? "Copied" : value === null ? "Too long" : "Failed";
    button.classList.toggle("done", copied);
    announce(copied ? `Copied ${what}` : `Could not copy ${what}${value === null ? ": it would be too long" : ""}`);
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("done");
    }, 1500);
  });
  return button;
}

// setError shows an error below a field, or removes it if there is no reason.
export function setError(field, reason) {
  const message = find(`${field.id}-error`);
  if (message.textContent !== (reason ?? "")) message.textContent = reason ?? "";
  if (reason) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

// sentence turns a reason into a sentence.
export const sentence = (reason) => `${reason[0].toUpperCase()}${reason.slice(1)}.`;

// changed reports whether the inputs of a part of the page have changed. If not, its output
// stays, because screen readers would announce it again.
const inputs = new Map();
export function changed(part, ...values) {
  const before = inputs.get(part);
  inputs.set(part, values);
  return before === undefined || values.some((value, i) => value !== before[i]);
}

// terms creates a list of names and values; a value may be a node.
export function terms(entries) {
  return el("dl", { class: "terms" }, entries.filter(Boolean).map(([name, ...value]) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value))));
}

const thousands = new Intl.NumberFormat("en");

// grouped writes a decimal or a BigInt with separated thousands.
export function grouped(n) {
  const [whole, part] = String(n).split(".");
  return thousands.format(BigInt(whole)) + (part ? `.${part}` : "");
}
