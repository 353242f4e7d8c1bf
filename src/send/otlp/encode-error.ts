/** A record of a request cannot be encoded, so the request was not sent. */
export class EncodeError extends Error {
  override readonly name = "EncodeError";
}
