import type { Registered } from "./program.ts";

/**
 * A line of a shell script that sends an event to the registered hook, as an agent does.
 *
 * @param registered command lines by event, from `Machine.enable`
 * @param session a session's id, or a parameter of the script as `"$1"`
 */
export function hookCall(registered: Registered, event: string, cwd: string, session: string): string {
  const payload = JSON.stringify({ session_id: "%s", hook_event_name: event, cwd, reason: "other" });
  const hook = (registered.get(event)?.[0] ?? "").replaceAll("'", "'\\''");
  return `printf '${payload}' ${session} | sh -c '${hook}'`;
}
