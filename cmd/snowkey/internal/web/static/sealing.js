// The section of tokens. Nothing of it is in the URL, and the key is in its field only.
import { FieldError } from "./layout.js";
import { lower, parse, split } from "./idtext.js";
import { newSealer, parseKey, parseName } from "./token.js";
import { announce, copyButton, el, find, grouped, setError } from "./dom.js";
import { Problems, show as showProblems } from "./problems.js";

const maxTexts = 1000;
const maxText = 1 << 16; // characters

// attempt returns what read returns, or undefined after it has shown its error below a field.
function attempt(field, read) {
  try {
    setError(field, null);
    return read(field.value.trim());
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(field, `This ${error.message}.`);
    return undefined;
  }
}

const optional = (read) => (text) => (text === "" ? null : read(text));

async function seal(sealer, prefix, text) {
  const [id] = parse(text, "auto", false);
  return [String(id), (prefix ? `${prefix}_` : "") + await sealer.seal(id)];
}

async function open(sealer, prefix, text) {
  const end = text.lastIndexOf("_") + 1;
  if (end > 0 && !prefix) throw new FieldError("token", text, "has a prefix, and the field for it is empty");
  if (prefix && lower(text.slice(0, end)) !== `${prefix}_`) throw new FieldError("token", text, `is not "${prefix}_" and a token`);
  return [String(await sealer.open(text.slice(end))), text];
}

const counted = (n, what) => (n === 1 ? `one ${what}` : `${grouped(n)} ${what}s`);
const summary = (n, opening) => (opening ? `Opened ${counted(n, "token")}.` : `Sealed ${counted(n, "id")}.`);

function table(rows, opening) {
  const head = opening ? ["Token", "Id"] : ["Id", "Token"];
  const cells = ([id, token]) => (opening ? [token, id] : [id, token]);
  const made = rows.map((row) => cells(row)[1]).join("\n");
  return [
    el("p", { class: "row" }, el("strong", {}, summary(rows.length, opening)), copyButton(opening ? "the ids" : "the tokens", () => made)),
    el("div", { class: "scroll", role: "region", "aria-label": opening ? "Opened tokens" : "Sealed ids", tabindex: "0" },
      el("table", { class: "many" },
        el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, rows.map(cells).map(([first, second]) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, first)), el("td", {}, el("code", {}, second))))))),
  ];
}

let latest = 0; // cryptography is asynchronous: what an earlier input becomes is dropped

async function show() {
  const run = ++latest;
  delete document.documentElement.dataset.sealed;
  const area = find("token-texts");
  const opening = find("token-open").checked;
  const key = attempt(find("token-key"), optional(parseKey));
  const type = attempt(find("token-type"), optional(parseName));
  const prefix = attempt(find("token-prefix"), optional(parseName));
  const texts = area.value.length > maxText ? [] : split(area.value);
  const tooMany = area.value.length > maxText || texts.length > maxTexts;
  setError(area, tooMany ? `The limit is ${grouped(maxTexts)} texts with ${grouped(maxText)} characters. The command “snowkey token” has no limit.` : null);
  find("token-result").replaceChildren();
  if (!key || !type || prefix === undefined || texts.length === 0 || tooMany) {
    document.documentElement.dataset.sealed = String(run);
    return;
  }
  const sealer = await newSealer(key, type);
  const good = [];
  const problems = new Problems();
  for (const text of texts) {
    try {
      good.push(await (opening ? open : seal)(sealer, prefix, text));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      problems.add(text, error);
    }
    if (run !== latest) return;
  }
  showProblems(area, problems, texts.length);
  if (good.length > 0) {
    find("token-result").replaceChildren(...table(good, opening));
    announce(summary(good.length, opening));
  }
  document.documentElement.dataset.sealed = String(run); // tests wait for it
}

// start hides the section's form if the browser has no cryptography for this page.
export function start() {
  const able = crypto.subtle !== undefined;
  find("token-missing").hidden = able;
  find("token-form").hidden = !able;
  if (!able) return;
  find("token-make").addEventListener("click", () => {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    find("token-key").value = [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
    show();
  });
  find("token-make").after(copyButton("the key", () => find("token-key").value));
  let later;
  for (const id of ["token-key", "token-type", "token-prefix", "token-seal", "token-open", "token-texts"]) {
    find(id).addEventListener("input", () => {
      clearTimeout(later);
      later = setTimeout(show, 150);
    });
  }
  addEventListener("pagehide", () => { // browsers keep pages that one may return to
    find("token-key").value = "";
    show();
  });
}
