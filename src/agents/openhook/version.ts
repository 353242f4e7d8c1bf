import { asString } from "../shared/payload/json.ts";

/** A version as an envelope tells it. Some senders write `0.1` as the number it looks like. */
export function versionOf({ openhook }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof openhook === "number" && !Number.isInteger(openhook) ? String(openhook) : asString(openhook);
}
