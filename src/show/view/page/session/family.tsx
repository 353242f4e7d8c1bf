import type { SessionDocument } from "../../wire/documents.ts";
import { EXPORTED } from "../data/exported.ts";
import { Cost, Pair } from "../figures/figures.tsx";
import { hrefOf } from "../route.ts";
import { plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

type Family = SessionDocument["family"];

/** Who started the session, with a link to the tool call, and how many sessions it started. */
export const FamilyFacts = ({ of: { parent, children } }: { of: Family }) => (
  <>
    {parent === null ? null : (
      <span>
        started by <SessionLink to={parent} span={parent.span} />
      </span>
    )}
    {children.length === 0 ? null : <span>{plural(children.length, "child session")}</span>}
  </>
);

/** The sessions that commands of this one started, with those that these started. */
export function ChildSessions({ of: { children, withChildren } }: { of: Family }) {
  if (withChildren === null) return null;
  return (
    <section class="files">
      <h3>{plural(children.length, "child session")}</h3>
      <ul>
        {children.map((child) => (
          <li key={`${child.source} ${child.session_id}`} style={{ paddingLeft: `${child.depth * INDENT_PX}px` }}>
            <SessionLink to={child} /> <Cost of={child} />
          </li>
        ))}
        <li class="muted">
          with this session <Cost of={withChildren} />
        </li>
      </ul>
    </section>
  );
}

/** The sessions that a tool call started. */
export function StartedSessions({ of: { children }, span }: { of: Family; span: string }) {
  const started = children.filter((child) => child.span === span);
  return (
    <>
      {started.map((child) => (
        <Pair key={`${child.source} ${child.session_id}`} name="Started">
          <SessionLink to={child} /> <Cost of={child} />
        </Pair>
      ))}
    </>
  );
}

// --- internal ---

const INDENT_PX = 14;

/** An exported page has no other session. */
function SessionLink({ to, span = null }: { to: Omit<NonNullable<Family["parent"]>, "span">; span?: string | null }) {
  const { source, session_id: id, agent } = to;
  const text = `${safeText(agent)} ${safeText(id.slice(0, 8))}`;
  if (EXPORTED !== undefined) return <span title={safeText(id)}>{text}</span>;
  return (
    <a href={hrefOf("session", { source, id, ...(span !== null && { span }) })} title={safeText(id)}>
      {text}
    </a>
  );
}
