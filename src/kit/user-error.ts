/** An error that the user can fix. Shown as one line; `exitCode` is 2 for wrong input, 1 for a failure. */
export class UserError extends Error {
  readonly code: string;
  readonly exitCode: number;
  constructor(code: string, message: string, exitCode = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
    this.exitCode = exitCode;
  }
}
