// What the types refuse. tsc fails if one of these lines is not an error.
import { Keys, compare, decode, type Key } from "../../../../contrib/typescript/snowkey";

const orders = new Keys<"Order">("ord");
const customers = new Keys<"Customer">("cus");
const order: Key<"Order"> = orders.parse("ord_1qda147xjq4ad");
// @ts-expect-error a customer's key is not an order's
const swapped: Key<"Order"> = customers.parse("cus_1qda147xjq4ad");
// @ts-expect-error a plain string is not a key
const text: Key<"Order"> = "ord_1qda147xjq4ad";
// @ts-expect-error a number is not an id
decode(1996573624012345677);
// @ts-expect-error keys of two kinds have no order
compare<"Order">(order, swapped as Key<"Customer">);

// What the types accept.
const plain: string = order;
const parts = decode("1996573624012345677"); // as our API writes an id
const ids: number[] = [parts.workerID, parts.datacenter, parts.machine];
const unknown: unknown = JSON.parse('"ord_1qda147xjq4ad"');
if (orders.is(unknown)) decode(orders.id(unknown));
void [swapped, text, plain, ids];
