// A client of the service, for browsers and for Node 18 and later.

import type { NewOrder, Order, OrderID, OrderPage, Problem } from "./snowkey";

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Takes a text, as from an address or a form, for an order's id; what is none throws. */
export function orderID(text: string): OrderID {
  const id = text.toLowerCase();
  if (!/^ord_[0-7][0-9a-hjkmnp-tv-z]{12}$/.test(id)) {
    throw new RangeError(`${JSON.stringify(text)} is no order's id: want "ord_" and 13 digits of base 32`);
  }
  return id as OrderID;
}

/** Sorts ids of orders by time. */
export function compareIDs(a: OrderID, b: OrderID): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** When an id of Twitter's layout, which is the default, was made. */
export function timeOf(id: OrderID): Date {
  let n = 0n;
  for (const digit of id.slice("ord_".length)) n = n * 32n + BigInt(digits.indexOf(digit));
  return new Date(Number((n >> 22n) + 1288834974657n));
}

/** What the service has refused, or could not do. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = "ProblemError";
  }
}

export interface ListOptions {
  after?: OrderID;
  limit?: number;
  from?: Date;
  to?: Date;
}

export class Orders {
  constructor(private readonly base: string) {}

  async page(options: ListOptions = {}): Promise<OrderPage> {
    const query = new URLSearchParams();
    if (options.after !== undefined) query.set("after", options.after);
    if (options.limit !== undefined) query.set("limit", String(options.limit));
    if (options.from !== undefined) query.set("from", options.from.toISOString());
    if (options.to !== undefined) query.set("to", options.to.toISOString());
    return (await this.call("/orders?" + query)).json() as Promise<OrderPage>;
  }

  /** All orders, the newest first, page by page. */
  async *all(options: ListOptions = {}): AsyncGenerator<Order, void, undefined> {
    let page = await this.page(options);
    for (;;) {
      yield* page.orders;
      if (page.next === undefined) return;
      page = (await (await this.call(page.next)).json()) as OrderPage;
    }
  }

  async get(id: OrderID): Promise<Order> {
    return (await this.call("/orders/" + id)).json() as Promise<Order>;
  }

  /** Places an order. Called again with the same key, it places nothing twice. */
  async create(order: NewOrder, idempotencyKey: string): Promise<Order> {
    return (await this.call("/orders", "POST", order, { "Idempotency-Key": idempotencyKey })).json() as Promise<Order>;
  }

  async remove(id: OrderID): Promise<void> {
    await this.call("/orders/" + id, "DELETE");
  }

  private async call(path: string, method = "GET", body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      init.headers = { ...headers, "Content-Type": "application/json" };
      init.body = JSON.stringify(body);
    }
    const response = await fetch(this.base + path, init);
    if (response.ok) return response;
    const kind = response.headers.get("Content-Type") ?? "";
    throw new ProblemError(
      kind.startsWith("application/problem+json")
        ? ((await response.json()) as Problem)
        : { title: response.statusText, status: response.status },
    );
  }
}
