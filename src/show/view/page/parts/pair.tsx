import type { ComponentChildren } from "preact";

/** A name and its value, in a `dl`. */
export const Pair = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
