// Types for clients of the service that openapi.yaml describes.

declare const snowkey: unique symbol;

/**
 * A 64-bit id as its decimal digits. It is a string that a plain string, and
 * any number, is not: what came from the service, or through `snowkeyID` of
 * client.ts. Number(id) would round it, and id + 1 means nothing.
 */
export type SnowkeyID = string & { readonly [snowkey]: "SnowkeyID" };

/** A time of RFC 3339, as "2026-11-21T15:04:05.123Z". */
export type Timestamp = string;

export interface Line {
  readonly id: SnowkeyID;
  readonly orderId: SnowkeyID;
  readonly sku: string;
  readonly quantity: number;
  readonly priceCents: number;
}

export interface Order {
  readonly id: SnowkeyID;
  /** When it was placed, which stands in the id. */
  readonly placedAt: Timestamp;
  /** The order that this one repeats. */
  readonly reorderOf?: SnowkeyID;
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
  reorderOf?: SnowkeyID | null;
  customer: string;
  note?: string;
  lines: NewLine[];
}

export interface OrderChange {
  note: string;
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
