import type { OtlpSignalSettings } from "#core/model/settings.ts";

export type Headers = Readonly<Record<string, string>>;

/** What node:http accepts; anything else would only throw at the first request. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Reads the headers that a destination's command or file provides.
 *
 * @param isRefused the backend refused the last ones, so kept ones must not be used
 * @throws HeadersError
 */
export type HeaderReader = (settings: OtlpSignalSettings, isRefused: boolean) => Promise<Headers>;

/** There are no headers; nothing was sent. Neither text contains a header. */
export class HeadersError extends Error {
  override readonly name = "HeadersError";
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
