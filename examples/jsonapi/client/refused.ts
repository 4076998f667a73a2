// What the types refuse: tsc reports each of these lines, and reports it as well
// if one of them is no error any more.

import { Orders, customerID, orderID } from "./client";
import type { Customer, NewOrder, Order, OrderID } from "./snowkey";

export async function refused(orders: Orders, order: Order, customer: Customer): Promise<void> {
  // @ts-expect-error a customer's id is no order's
  await orders.get(customer.id);
  // @ts-expect-error nor is a line's
  const lines = order.lines.map((line): OrderID => line.id);
  // @ts-expect-error in a new order they cannot be mixed up either
  const swapped: NewOrder = { reorderOf: customer.id, customer: "Ada", lines: [] };
  // @ts-expect-error a comparison of two kinds of ids is always false
  const own = order.id === customer.id;

  // @ts-expect-error a text from outside is checked first
  await orders.get("ord_1qda147xjq4ad");
  // @ts-expect-error a number is no id
  await orders.get(1996573624012345677);
  // @ts-expect-error arithmetic makes no id
  const next: OrderID = order.id + 1;
  // @ts-expect-error an id is not a number
  const n: number = order.id;
  // @ts-expect-error it can be compared with a number only by mistake
  const same = order.id === 7;
  // @ts-expect-error the server gives the keys
  const keyed: NewOrder = { id: order.id, customer: "Ada", lines: [] };
  // @ts-expect-error an order repeats an order, not a number
  const again: NewOrder = { reorderOf: 7, customer: "Ada", lines: [] };

  // And what they do not.
  await orders.get(orderID("ord_1qda147xjq4ad"));
  await orders.customer(customerID("cus_1qda147xjq4af"));
  const fine: NewOrder = { reorderOf: order.id, customerId: customer.id, customer: customer.name, lines: [] };
  const text: string = order.id;
  void [lines, swapped, own, next, n, same, keyed, again, fine, text];
}
