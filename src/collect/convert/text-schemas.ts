// OpenHook v0.1: specification and published schemas of both texts, read 2026-11-26
import * as z from "zod";
import { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TYPES, type EnvelopeText, LIFECYCLE_TYPES } from "#core/model/envelope-types.ts";
import { dataFieldsOf } from "#core/rules/envelope-fields.ts";

// What the published schemas say, and what the specification requires beyond them: a source in kebab case, a time with zone, the
// path of a file.write. Everything that is valid here is valid by the published schemas too.

const base = {
  openhook: z.string().regex(/^\d+\.\d+$/),
  id: z.string().min(1),
  // The schemas require a letter at the beginning, the specification kebab case
  source: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "must be lower-case kebab-case and begin with a letter"),
  time: z.iso.datetime({ offset: true, message: "must be ISO 8601 with a time zone" }),
  session_id: z.string().min(1),
  extensions: z.record(z.string(), z.unknown()).optional(),
};

/** Where the agent works, as each text has it. */
const place = {
  cwd: { cwd: z.string().optional() },
  context: { context: z.string().optional() },
} as const satisfies Record<EnvelopeText, object>;

/** Types that each text defines. */
const TYPES_OF_TEXT: Readonly<Record<EnvelopeText, readonly string[]>> = {
  cwd: LIFECYCLE_TYPES,
  context: ENVELOPE_TYPES,
};

/** All members that a text allows, without type and data. */
export const baseSchemaOf = (text: EnvelopeText) =>
  z.strictObject({ ...base, ...place[text], type: z.unknown().optional(), data: z.unknown().optional() });

/** The envelopes of one type in one text. `data` may have other fields, the envelope may not. */
export function envelopeSchemaOf(text: EnvelopeText, type: string): z.ZodType | undefined {
  const option = Envelope.options.find(({ shape }) => shape.type.value === type);
  if (option === undefined || !TYPES_OF_TEXT[text].includes(type)) return undefined;
  const data = z.looseObject(dataFieldsOf(option));
  return z.strictObject({
    ...base,
    ...place[text],
    type: option.shape.type,
    data: option.shape.data instanceof z.ZodOptional ? data.optional() : data,
  });
}

/** All envelopes of one text. */
export const textSchemaOf = (text: EnvelopeText): z.ZodType =>
  z.union(TYPES_OF_TEXT[text].flatMap((type) => envelopeSchemaOf(text, type) ?? []));
