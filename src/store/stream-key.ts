import type { Attributes, Increment } from "#core/model/telemetry.ts";

/** Attributes as JSON, independent of their order. */
export const sortedJson = (attributes: Attributes): string =>
  JSON.stringify(Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))));

/** The key that identifies a stream. */
export const streamKeyOf = ({ metric, attributes, resource }: Omit<Increment, "amount">): string =>
  JSON.stringify([metric, sortedJson(resource), sortedJson(attributes)]);
