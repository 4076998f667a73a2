// Whether a layout is enough for a rate of ids until a time.
import { FieldError, figures } from "./layout.js";
import { parseTime, utc } from "./times.js";
import { changed, el, find, grouped, setError } from "./dom.js";
import { current } from "./layoutform.js";

// rate reads a whole number of ids per second.
function rate() {
  const text = find("rate").value.trim().replaceAll(",", "");
  const right = text === "" || /^[1-9]\d{0,17}$/.test(text);
  setError(find("rate"), right ? null : "This must be a whole number above 0.");
  return right && text !== "" ? BigInt(text) : null;
}

// until reads a time; a year is its beginning.
function until() {
  const text = find("until").value.trim();
  setError(find("until"), null);
  if (text === "") return null;
  try {
    return parseTime(/^\d{4}$/.test(text) ? `${text}-01-01` : text, "until") / 1_000_000n;
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(find("until"), `This ${error.message}.`);
    return null;
  }
}

// show answers below the fields.
export function show() {
  const layout = current();
  if (!changed("enough", layout, find("rate").value, find("until").value)) return;
  const [want, time] = [rate(), until()];
  const answer = find("enough-result");
  answer.replaceChildren();
  if (!layout || (want === null && time === null)) return;
  const f = figures(layout);
  const perWorker = BigInt(f.perSecond.split(".")[0]);
  const all = BigInt(f.allPerSecond.split(".")[0]);
  const lasts = time === null || time <= f.end;
  const reasons = [];
  let good = lasts;
  if (want !== null && want > all) {
    good = false;
    reasons.push(`All workers together make ${grouped(f.allPerSecond)} ids a second.`);
  } else if (want !== null) {
    const workers = perWorker > 0n ? (want + perWorker - 1n) / perWorker : null;
    reasons.push(workers === 1n ? "One worker is enough." : workers === null ? "Each worker makes less than one id a second." : `That takes ${grouped(workers)} of ${grouped(f.workers)} workers.`);
  }
  if (time !== null) reasons.push(lasts ? `The layout lasts until ${utc(f.end).slice(0, 10)}.` : `The layout ends on ${utc(f.end).slice(0, 10)}, before that.`);
  answer.replaceChildren(el("p", { class: good ? "note good" : "note bad" }, el("strong", {}, good ? "Enough." : "Not enough."), ` ${reasons.join(" ")}`));
}
