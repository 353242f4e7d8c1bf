import { defined } from "#kit/objects.ts";
import { asExitCode, asObject, asString } from "../shared/payload/json.ts";

/** How a call ended. A command with an exit code other than 0 is a success, as for OpenHands. */
interface Outcome {
  readonly status: "success" | "error";
  readonly exitCode?: number;
}

/** The outcome in an observation, which hooks and event files have in the same form. */
export function outcomeIn(observation: unknown): Outcome {
  const fields = asObject(observation);
  const exitCode = asExitCode(fields?.["exit_code"]);
  return defined<Outcome>({
    status: fields?.["is_error"] === true ? "error" : "success",
    // A command that still runs has -1
    exitCode: exitCode === undefined || exitCode < 0 ? undefined : exitCode,
  });
}

/** The HTTP status of a failed request: OpenHands keeps no number, but LiteLLM's name of the error begins the details. */
export const httpStatusIn = (detail: unknown): number | undefined =>
  STATUSES.get(/^litellm\.(\w{1,60}):/.exec(asString(detail)?.slice(0, MAX_HEAD) ?? "")?.[1] ?? "");

// --- internal ---

const MAX_HEAD = 100;

/** From litellm/exceptions.py, read 2026-11-26. `InternalServerError` means one of several statuses. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["AuthenticationError", 401],
  ["BadGatewayError", 502],
  ["BadRequestError", 400],
  ["ContentPolicyViolationError", 400],
  ["ContextWindowExceededError", 400],
  ["NotFoundError", 404],
  ["PaymentRequiredError", 402],
  ["PermissionDeniedError", 403],
  ["RateLimitError", 429],
  ["ServiceUnavailableError", 503],
  ["UnprocessableEntityError", 422],
]);
