import { asString } from "../shared/payload/json.ts";

/** The version in an envelope. Some senders write `0.1` as a number. */
export function versionOf({ openhook }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof openhook === "number" && !Number.isInteger(openhook) ? String(openhook) : asString(openhook);
}
