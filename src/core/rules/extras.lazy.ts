import { parseOptions } from "#kit/parse-options.ts";
import { type Event, Extras } from "../model/event-schema.ts";

/** The `extensions` that our adapters write; members of other senders that do not fit are left out. Never throws. */
export function extrasOf(event: Event): Extras {
  if (event.extensions === undefined) return {};
  const whole = Extras.safeParse(event.extensions, parseOptions());
  if (whole.success) return whole.data;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(Extras.shape)) {
    const value = field.safeParse((event.extensions as Record<string, unknown>)[name]);
    if (value.success && value.data !== undefined) kept[name] = value.data;
  }
  return kept as Extras;
}
