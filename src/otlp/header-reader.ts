import type { OtlpSignalSettings } from "../model/settings.ts";

/**
 * Reads the headers that a destination's command or file provides.
 *
 * @param isRefused the backend refused the last ones, so kept ones must not be used
 * @throws HeadersError
 */
export type HeaderReader = (
  settings: OtlpSignalSettings,
  isRefused: boolean,
) => Promise<Readonly<Record<string, string>>>;

/** There are no headers; nothing was sent. Neither text contains a header. */
export class HeadersError extends Error {
  override readonly name = "HeadersError";
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
