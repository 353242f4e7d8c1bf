import type { TokenUsage } from "../model/transcript.ts";

/** Whether both input and output are known. */
export const isWholeUsage = (
  usage: TokenUsage | undefined,
): usage is TokenUsage & { readonly input: number; readonly output: number } =>
  usage?.input !== undefined && usage.output !== undefined;
