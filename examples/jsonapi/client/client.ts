// A client of the service, for browsers and for Node 18 and later.

import type { NewOrder, Order, OrderChange, OrderPage, Problem, SnowkeyID } from "./snowkey";

const largest = 2n ** 63n - 1n;

/** Takes a text, as from an address or a form, for an id; what is none throws. */
export function snowkeyID(text: string): SnowkeyID {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text) || BigInt(text) > largest) {
    throw new RangeError(`${JSON.stringify(text)} is not an id: want the decimal digits of a number below 2^63`);
  }
  return text as SnowkeyID;
}

/** Sorts ids by number, which is by time. */
export function compareIDs(a: SnowkeyID, b: SnowkeyID): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** When an id of Twitter's layout, which is the default, was made. */
export function timeOf(id: SnowkeyID): Date {
  return new Date(Number((BigInt(id) >> 22n) + 1288834974657n));
}

/** What the service has refused, or could not do. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = "ProblemError";
  }
}

/** An order with the ETag under which it may be changed. */
export interface Tagged {
  readonly order: Order;
  readonly etag: string;
}

export interface ListOptions {
  after?: SnowkeyID;
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

  async get(id: SnowkeyID): Promise<Tagged> {
    return tagged(await this.call("/orders/" + id));
  }

  /** Places an order. Called again with the same key, it places nothing twice. */
  async create(order: NewOrder, idempotencyKey: string): Promise<Tagged> {
    return tagged(await this.call("/orders", "POST", order, { "Idempotency-Key": idempotencyKey }));
  }

  async change(seen: Tagged, change: OrderChange): Promise<Tagged> {
    return tagged(await this.call("/orders/" + seen.order.id, "PATCH", change, { "If-Match": seen.etag }));
  }

  async remove(seen: Tagged): Promise<void> {
    await this.call("/orders/" + seen.order.id, "DELETE", undefined, { "If-Match": seen.etag });
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

async function tagged(response: Response): Promise<Tagged> {
  return { order: (await response.json()) as Order, etag: response.headers.get("ETag") ?? "" };
}
