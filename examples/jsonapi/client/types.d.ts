// Types for clients of the service that openapi.yaml describes.

import type { Key } from "snowkey";

/** As "ord_1qda147xjq4ad". */
export type OrderID = Key<"Order">;
/** As "line_1qda147xjq4ae". */
export type LineID = Key<"Line">;

/** A time of RFC 3339, as "2026-11-21T15:04:05.123Z". */
export type Timestamp = string;

export interface Line {
  readonly id: LineID;
  readonly orderId: OrderID;
  readonly sku: string;
  readonly quantity: number;
  readonly priceCents: number;
}

export interface Order {
  readonly id: OrderID;
  /** When it was placed, which stands in the id. */
  readonly placedAt: Timestamp;
  /** The order that this one repeats. */
  readonly reorderOf?: OrderID;
  /** The name on the order. */
  readonly customer: string;
  readonly note: string;
  readonly totalCents: number;
  readonly lines: readonly Line[];
}

export interface NewLine {
  sku: string;
  quantity: number;
  priceCents: number;
}

export interface NewOrder {
  reorderOf?: OrderID | null;
  customer: string;
  note?: string;
  lines: NewLine[];
}

export interface OrderPage {
  readonly orders: readonly Order[];
  /** The address of the page behind this one, if there is one. */
  readonly next?: string;
}

export interface Fault {
  readonly field: string;
  readonly value: string;
  readonly reason: string;
}

/** An error, of RFC 9457. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly errors?: readonly Fault[];
}
