// What the types refuse: tsc reports each of these lines, and reports it as well
// if one of them is no error any more.

import { Orders, orderKeys } from "./client";
import type { LineID, NewOrder, Order, OrderID } from "./types";

export async function refused(orders: Orders, order: Order, line: LineID): Promise<void> {
  // @ts-expect-error a line's id is no order's
  await orders.get(line);
  // @ts-expect-error in a new order they cannot be mixed up either
  const swapped: NewOrder = { reorderOf: line, customer: "Ada", lines: [] };
  // @ts-expect-error a comparison of two kinds of ids is always false
  const own = order.id === line;
  // @ts-expect-error a text from outside is checked first
  await orders.get("ord_1qda147xjq4ad");
  // @ts-expect-error a number is no id
  await orders.get(1996573624012345677);
  // @ts-expect-error arithmetic makes no id
  const next: OrderID = order.id + 1;
  // @ts-expect-error the server gives the keys
  const keyed: NewOrder = { id: order.id, customer: "Ada", lines: [] };

  // And what they do not.
  await orders.get(orderKeys.parse("ord_1qda147xjq4ad"));
  const fine: NewOrder = { reorderOf: order.id, customer: "Ada", lines: [] };
  const text: string = order.id;
  void [swapped, own, next, keyed, fine, text];
}
