import type { Attributes, Increment } from "../model/telemetry.ts";

/** Attributes as text, the same whatever their order. */
export const sortedJson = (attributes: Attributes): string =>
  JSON.stringify(Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))));

/** What makes a stream that stream. */
export const streamKeyOf = ({ metric, attributes, resource }: Omit<Increment, "amount">): string =>
  JSON.stringify([metric, sortedJson(resource), sortedJson(attributes)]);
