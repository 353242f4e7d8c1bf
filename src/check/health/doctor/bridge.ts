import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { asArgument, printable } from "#kit/text/terminal.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** Registration files: what runs, what does not run and why. Nothing if none was allowed and none applies here. */
export function* bridgeFindings({ bridge }: Status): Generator<Finding> {
  const { ok, remark } = inArea("bridge");
  for (const { path, state, problem, commands, allowed } of bridge) {
    const name = printable(path);
    const count = plural(commands.length, "command");
    switch (state) {
      case "new":
        yield ok(
          `${name} has ${count} for events of any agent; none runs before you allow it: ${suggest("bridge allow")}`,
        );
        break;
      case "changed":
        yield remark(
          `${name} has changed since it was allowed; nothing in it runs`,
          suggest(`bridge allow ${asArgument(path)}`),
        );
        break;
      case "gone":
        yield remark(`${name} was allowed and is gone`, suggest(`bridge revoke ${asArgument(path)}`));
        break;
      case "refused":
        if (allowed !== null) yield remark(`${name} is not used: ${problem}`, "then allow it again");
        break;
      case "allowed": {
        const failing = commands.filter((one) => one.failures > 0);
        if (failing.length === 0) yield ok(`${name} is allowed, ${count}`);
        for (const { command, failures, last_problem, queued } of failing) {
          yield remark(
            `a command in ${name} failed ${plural(failures, "time")} in a row, ${plural(queued, "envelope")} queued: ${last_problem}`,
            `${suggest("bridge test")} shows what it prints: ${printable(command.split("\n")[0] ?? "").slice(0, 60)}`,
          );
        }
      }
    }
  }
}
