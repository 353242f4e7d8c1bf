import type * as z from "zod";
import type { Envelope } from "../model/envelope.ts";

/** The fields of `data` of one type. */
export function dataFieldsOf({ shape }: (typeof Envelope.options)[number]): Readonly<Record<string, z.ZodType>> {
  return "unwrap" in shape.data ? shape.data.unwrap().shape : shape.data.shape;
}
