// A client of the service, for browsers and for Node 18 and later.

import { Keys, decode } from "snowkey";

import type { NewOrder, Order, OrderID, OrderPage, Problem } from "./types";

/** The keys of orders: `orderKeys.parse(text)` takes a text, as from an address or a form, for one. */
export const orderKeys = new Keys<"Order">("ord");

/** When an order was placed: the service has the default layout. */
export const timeOf = (id: OrderID): Date => decode(orderKeys.id(id)).time;

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
