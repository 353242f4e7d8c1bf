import { StateError } from "#config/file-owner.ts";
import { RuleError } from "#core/privacy/protection.ts";
import { UserError } from "#kit/errors.ts";
import { StoreError } from "#store/database.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";

/** Problems of the machine become one line for the user; bugs of the program keep their stack. */
export function asUserError(error: unknown): unknown {
  if (error instanceof StoreError) return new UserError(error.code, describeStoreError(error), 1, { cause: error });
  if (error instanceof StateError || error instanceof RuleError) {
    return new UserError(error.code, error.message, 1, { cause: error });
  }
  const isOfSystem = error instanceof Error && error.cause instanceof Error && "syscall" in error.cause;
  return isOfSystem ? new UserError("E_SYSTEM", error.message, 1, { cause: error }) : error;
}
