// Decoded ids as files. Their names of fields are those of the API.
import { decode } from "./layout.js";
import { formatTime } from "./times.js";
import { announce, el, grouped } from "./dom.js";
import { inSlices } from "./slices.js";

function fieldsOf(layout, id, text) {
  const d = decode(layout, id);
  return {
    id: String(id), input: text, time: formatTime(d.time), unix_ms: Number(d.time), rollback: Number(d.rollback),
    worker_id: Number(d.workerID), datacenter: Number(d.datacenter), machine: Number(d.worker), sequence: Number(d.sequence),
  };
}

// A text that was read may hold a comma or a quotation mark.
const cell = (value) => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

const kinds = {
  CSV: { media: "text/csv", head: (fields) => `${Object.keys(fields).join(",")}\r\n`, line: (fields) => `${Object.values(fields).map(cell).join(",")}\r\n`, end: "" },
  JSON: { media: "application/json", head: () => '{"ids":[\n', line: (fields, last) => `${JSON.stringify(fields)}${last ? "" : ","}\n`, end: "]}\n" },
};

async function text(kind, layout, ids, texts, progress) {
  const of = kinds[kind];
  const parts = [of.head(fieldsOf(layout, ids[0], texts[0]))];
  await inSlices(ids.length, (i) => parts.push(of.line(fieldsOf(layout, ids[i], texts[i]), i === ids.length - 1)), { progress });
  parts.push(of.end);
  return new Blob(parts, { type: of.media });
}

// downloads returns a button for each kind of file.
export function downloads(layout, ids, texts) {
  return Object.keys(kinds).map((kind) => {
    const label = `Download ${kind}`;
    const button = el("button", { type: "button", id: `download-${kind.toLowerCase()}` }, label);
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      button.setAttribute("aria-disabled", "true");
      const file = await text(kind, layout, ids, texts, (done, all) => (button.textContent = `${Math.floor((done / all) * 100)} %`));
      const a = el("a", { href: URL.createObjectURL(file), download: `ids.${kind.toLowerCase()}` });
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
      button.removeAttribute("aria-disabled");
      button.textContent = label;
      announce(`Downloaded ${grouped(ids.length)} ids as ${kind}`);
    });
    return button;
  });
}

// tabbed returns a table for the clipboard.
export const tabbed = (head, cells, count) => [head, ...Array.from({ length: count }, (_, i) => cells(i))].map((line) => line.join("\t")).join("\n");
