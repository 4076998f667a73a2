// What the types refuse: tsc reports each of these lines, and reports it as well
// if one of them is no error any more.

import { Orders, snowkeyID } from "./client";
import type { NewOrder, Order, SnowkeyID } from "./snowkey";

export async function refused(orders: Orders, order: Order): Promise<void> {
  // @ts-expect-error a number has lost digits before anyone can look
  await orders.get(1996573624012345677);
  // @ts-expect-error so has the number of an id
  await orders.get(Number(order.id));
  // @ts-expect-error a text from outside is checked first
  await orders.get("1996573624012345677");
  // @ts-expect-error arithmetic makes no id
  const next: SnowkeyID = order.id + 1;
  // @ts-expect-error an id is not a number
  const n: number = order.id;
  // @ts-expect-error it can be compared with a number only by mistake
  const same = order.id === 7;
  // @ts-expect-error the server gives the keys
  const keyed: NewOrder = { id: order.id, customer: "Ada", lines: [] };
  // @ts-expect-error a line's parent is an order, not a number
  const again: NewOrder = { reorderOf: 7, customer: "Ada", lines: [] };

  // And what they do not.
  await orders.get(snowkeyID("1996573624012345677"));
  const text: string = order.id;
  void [next, n, same, keyed, again, text];
}
