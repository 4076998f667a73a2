// @ts-check
"use strict";
// An id is a string with its kind in front: it is shown, put into addresses and
// sent back as it came.
(() => {
  /** @typedef {import("../client/snowkey").Order} Order */
  /** @typedef {import("../client/snowkey").OrderPage} OrderPage */
  /** @typedef {import("../client/snowkey").Problem} Problem */

  class Failure extends Error {
    /** @param {Problem} problem */
    constructor(problem) {
      super(problem.detail || problem.title);
      this.problem = problem;
    }
  }

  /** @param {string} id @returns {any} */
  const $ = (id) => document.getElementById(id);

  /** @param {string} name @param {string} text @param {string} [kind] */
  const element = (name, text, kind) => {
    const e = document.createElement(name);
    e.textContent = text;
    if (kind) e.className = kind;
    return e;
  };

  /** @param {string} address @param {RequestInit} [init] */
  const call = async (address, init) => {
    const response = await fetch(address, init);
    if (response.ok) return response;
    const kind = response.headers.get("Content-Type") || "";
    throw new Failure(kind.startsWith("application/problem+json") ? await response.json()
      : { title: response.statusText, status: response.status });
  };

  /** @param {() => Promise<void>} work */
  const attempt = async (work) => {
    $("failure").hidden = true;
    try {
      await work();
    } catch (err) {
      const text = err instanceof Failure ? err.message : "The server does not answer. Nothing is lost; try again.";
      $("failure").textContent = text;
      $("failure").hidden = false;
    }
  };

  /** @param {number} cents */
  const money = (cents) => (cents / 100).toFixed(2);
  /** @param {string} time */
  const local = (time) => new Date(time).toLocaleString();

  /** @param {string} id */
  const link = (id) => {
    const a = document.createElement("a");
    a.href = "#/orders/" + id;
    a.textContent = id;
    a.dataset.id = id;
    a.className = "id";
    return a;
  };

  /** @param {(string | Node | [string | Node, string, string?])[]} cells one cell each: its content, or content, class and name */
  const row = (...cells) => {
    const tr = document.createElement("tr");
    for (const cell of cells) {
      const td = document.createElement("td");
      const [content, kind, name] = Array.isArray(cell) ? cell : [cell, "", ""];
      td.append(content);
      if (kind) td.className = kind;
      if (name) td.dataset.name = name;
      tr.append(td);
    }
    return tr;
  };

  // The list.

  let next = "";

  /** @param {string} address */
  const show = (address) => attempt(async () => {
    /** @type {OrderPage} */
    const page = await (await call(address)).json();
    $("orders").replaceChildren(...page.orders.map((o) => row(
      link(o.id), [local(o.placedAt), "time"], o.customer, [String(o.lines.length), "number", "Lines"], [money(o.totalCents), "number", "Total"])));
    $("none").hidden = page.orders.length > 0;
    next = page.next || "";
    $("next").disabled = !next;
  });

  const newest = () => {
    const query = new URLSearchParams({ limit: $("limit").value });
    for (const name of ["from", "to"]) {
      const value = $(name).value;
      if (value) query.set(name, new Date(value).toISOString());
    }
    return show("/orders?" + query);
  };

  $("newest").addEventListener("click", newest);
  $("next").addEventListener("click", () => show(next));
  $("filter").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    newest();
  });

  // One order, by the id in the address.

  /** @type {Order | null} */
  let current = null;
  let tag = "";

  const open = () => attempt(async () => {
    const match = location.hash.match(/^#\/orders\/(.*)$/);
    current = null;
    $("one").hidden = true;
    if (!match) return;
    const response = await call("/orders/" + encodeURIComponent(match[1] || ""));
    /** @type {Order} */
    const order = await response.json();
    current = order;
    tag = response.headers.get("ETag") || "";
    $("one-title").textContent = "Order " + order.id;
    /** @type {[string, string | Node][]} */
    const facts = [["Placed", local(order.placedAt)], ["Customer", order.customer], ["Note", order.note || "none"], ["Total", money(order.totalCents)]];
    if (order.customerId) facts.push(["Customer’s id", order.customerId]);
    if (order.reorderOf) facts.push(["Again from", link(order.reorderOf)]);
    $("facts").replaceChildren(...facts.flatMap(([name, value]) => {
      const dd = document.createElement("dd");
      dd.append(value);
      return [element("dt", name), dd];
    }));
    $("one-lines").replaceChildren(...order.lines.map((l) => row(
      element("span", l.id, "id"), l.sku, [String(l.quantity), "number", "Quantity"], [money(l.priceCents), "number", "Price"])));
    $("json").href = "/orders/" + order.id;
    $("one").hidden = false;
    $("one").scrollIntoView({ block: "nearest" });
    $("one-title").focus({ preventScroll: true }); // a screen reader announces it
  });

  addEventListener("hashchange", open);
  $("again").addEventListener("click", () => attempt(async () => {
    if (!current) return;
    const lines = current.lines.map(({ sku, quantity, priceCents }) => ({ sku, quantity, priceCents }));
    /** @type {import("../client/snowkey").NewOrder} */
    const order = { reorderOf: current.id, customerId: current.customerId || null, customer: current.customer, note: current.note, lines };
    await place(order);
  }));
  $("delete").addEventListener("click", () => attempt(async () => {
    if (!current || !confirm("Delete order " + current.id + "?")) return;
    await call("/orders/" + current.id, { method: "DELETE", headers: { "If-Match": tag } });
    location.hash = "";
    await newest();
  }));

  // Adding. The key stays the same until the order is in, so that a repetition
  // after a lost answer adds nothing twice.

  const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  let key = newKey();
  let sent = "";

  /** @param {unknown} order */
  const place = async (order) => {
    const body = JSON.stringify(order);
    if (body !== sent) key = newKey(); // another order than the one that failed
    sent = body;
    const response = await call("/orders", { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": key }, body });
    /** @type {Order} */
    const added = await response.json();
    sent = "";
    $("added").replaceChildren("Added ", link(added.id));
    await newest();
  };

  // A screen reader announces which line a field belongs to.
  const numberLines = () => {
    Array.from($("lines").children, (/** @type {Element} */ line, /** @type {number} */ i) => {
      line.setAttribute("aria-label", "Line " + (i + 1));
      line.querySelector("button")?.setAttribute("aria-label", "Remove line " + (i + 1));
    });
  };

  const addLine = () => {
    const line = element("div", "", "line");
    /** @type {[string, string, string][]} */
    const fields = [["sku", "SKU", "text"], ["quantity", "Quantity", "numeric"], ["price", "Price each", "decimal"]];
    for (const [name, label, mode] of fields) {
      const field = element("label", label + " ");
      const input = document.createElement("input");
      input.name = name;
      input.autocomplete = "off";
      input.inputMode = mode;
      field.append(input);
      line.append(field);
    }
    const remove = element("button", "Remove");
    remove.setAttribute("type", "button");
    remove.addEventListener("click", () => {
      line.remove();
      numberLines();
      $("add-line").focus(); // it would be lost
    });
    line.append(remove);
    line.setAttribute("role", "group");
    $("lines").append(line);
    numberLines();
    return line;
  };

  /** @param {string} text */
  const whole = (text) => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text);
  /** @param {string} text exact: no fraction is ever multiplied */
  const cents = (text) => {
    const match = text.trim().match(/^(\d{1,10})(?:[.,](\d{2}))?$/);
    return match ? Number(match[1] + (match[2] || "00")) : text;
  };

  /** @type {Record<string, string>} */
  const names = { customer: "Customer", note: "Note", lines: "Lines", sku: "SKU", quantity: "Quantity", priceCents: "Price" };

  /** @param {import("../client/snowkey").Fault} f one fault in the words of the form */
  const sentence = (f) => {
    const match = f.field.match(/^lines\[(\d+)\]\.(\w+)$/);
    const name = match ? `Line ${Number(match[1]) + 1}, ${names[match[2] || ""]}` : names[f.field] || f.field;
    const reason = match?.[2] === "priceCents" ? "want an amount like 12.50, at most 999999.99" : f.reason;
    return name + (f.value === "" ? "" : ` “${f.value}”`) + ": " + reason;
  };

  /** @param {Problem} problem */
  const showFaults = (problem) => {
    const faults = problem.errors || [];
    const sentences = faults.length > 0 ? faults.map(sentence) : [problem.detail || problem.title];
    $("faults").replaceChildren(...sentences.map((text, i) => Object.assign(element("li", text), { id: "fault-" + i })));
    $("faults").hidden = false;
    for (const [i, f] of faults.entries()) {
      const match = f.field.match(/^lines\[(\d+)\]\.(\w+)$/);
      const input = match
        ? $("lines").children[Number(match[1])]?.querySelector(`[name="${match[2] === "priceCents" ? "price" : match[2]}"]`)
        : document.querySelector("#add #" + CSS.escape(f.field || "none"));
      input?.setAttribute("aria-invalid", "true");
      input?.setAttribute("aria-describedby", "fault-" + i);
    }
    /** @type {HTMLElement | null} */ (document.querySelector("#add [aria-invalid]"))?.focus();
  };

  $("add-line").addEventListener("click", () => addLine().querySelector("input")?.focus());
  $("add").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    for (const input of document.querySelectorAll("#add [aria-invalid]")) {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
    $("faults").hidden = true;
    $("added").replaceChildren();
    const order = {
      customer: $("customer").value.trim(),
      note: $("note").value.trim(),
      lines: Array.from($("lines").children, (/** @type {Element} */ line) => {
        const value = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (line.querySelector(`[name="${name}"]`)).value;
        return { sku: value("sku").trim(), quantity: whole(value("quantity")), priceCents: cents(value("price")) };
      }),
    };
    $("save").disabled = true;
    attempt(async () => {
      try {
        await place(order);
        $("add").reset();
        $("lines").replaceChildren();
        addLine();
        $("customer").focus();
      } catch (err) {
        if (!(err instanceof Failure) || err.problem.status >= 500) throw err;
        showFaults(err.problem);
      }
    }).finally(() => { $("save").disabled = false; });
  });

  addLine();
  newest();
  open();
})();
