// What cannot be read in a field of many texts: one line for each kind.
import { el, find, grouped, setError } from "./dom.js";

const shown = 3; // texts of a kind
const short = (text) => `“${text.length > 40 ? text.slice(0, 40) + "…" : text}”`;

// Problems collects texts by the reason why they cannot be read.
export class Problems {
  #kinds = new Map();

  add(text, error) {
    const key = error.readings ? `ambiguous ${error.readings.map((r) => r.format)}` : error.message;
    const kind = this.#kinds.get(key);
    if (!kind) this.#kinds.set(key, { error, texts: [text], n: 1 });
    else if (kind.n++ < shown) kind.texts.push(text);
  }

  get any() {
    return this.#kinds.size > 0;
  }

  // sentences returns a sentence for each kind, of a field with total texts.
  sentences(total) {
    return [...this.#kinds.values()].map(({ error, texts, n }) => {
      if (n === 1) return error.readings ? `${short(texts[0])} is ambiguous: it ${error.message}. Choose the format.` : `${short(texts[0])} ${error.message}.`;
      const some = texts.map(short).join(", ") + (n > texts.length ? ", …" : "");
      if (error.readings) return `${grouped(n)} of ${grouped(total)} are ambiguous (${some}). Choose the format.`;
      return `${grouped(n)} of ${grouped(total)} cannot be read (${some}): each ${error.message}.`;
    });
  }

  // formats returns those that ambiguous texts may have.
  formats() {
    return [...new Set([...this.#kinds.values()].flatMap(({ error }) => (error.readings ?? []).map((r) => r.format)))];
  }
}

// show shows the problems below a field of total texts.
export function show(field, problems, total) {
  const all = problems.sentences(total);
  setError(field, all.length > 0 ? all.slice(0, 6).join(" ") : null);
}

// choices offers formats as buttons.
export function choices(id, formats, choose) {
  find(id).replaceChildren(...formats.map((format) => el("button", { type: "button", class: "chip", onclick: () => choose(format) }, `Read as ${format}`)));
}
