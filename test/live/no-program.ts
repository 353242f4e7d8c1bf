/** No such program exists for this platform; this is not a failure. */
export class NoProgramError extends Error {
  override readonly name = "NoProgramError";
}
