import type { SessionView } from "../report/session-view.ts";
import type { SessionDocument } from "./data/document.ts";
import type { ExplanationDocument } from "./data/explanation.ts";

/** Limit for the memory of all bodies together; a session of 100,000 spans has 6 MB. */
const MAX_CHARS = 24_000_000;

/**
 * The last responses about sessions, so that a session that is opened again, or in a second tab, is not built again: a long
 * one takes seconds. The tag changes whenever the response would.
 */
export class RecentDocuments {
  readonly #bodies = new Map<string, { readonly tag: string; readonly body: string }>();
  #chars = 0;
  #view: { readonly key: string; readonly view: WeakRef<SessionView> } | undefined;

  /** @param key what the response is about */
  body(key: string, tag: string): string | undefined {
    const found = this.#bodies.get(key);
    if (found?.tag !== tag) return undefined;
    this.#remove(key);
    this.#add(key, found);
    return found.body;
  }

  keep(key: string, tag: string, body: string): void {
    this.#remove(key);
    if (body.length > MAX_CHARS) return;
    this.#add(key, { tag, body });
    for (const oldest of this.#bodies.keys()) {
      if (this.#chars <= MAX_CHARS) break;
      this.#remove(oldest);
    }
  }

  /**
   * The view of a session, which is not built again for the request that follows: the page asks for a session and then for its
   * explanation. A weak reference, so that the view of a long session does not stay in memory.
   */
  view(key: string, build: () => SessionView): SessionView {
    const known = this.#view?.key === key ? this.#view.view.deref() : undefined;
    const view = known ?? build();
    this.#view = { key, view: new WeakRef(view) };
    return view;
  }

  #add(key: string, entry: { readonly tag: string; readonly body: string }): void {
    this.#bodies.set(key, entry);
    this.#chars += entry.body.length;
  }

  #remove(key: string): void {
    this.#chars -= this.#bodies.get(key)?.body.length ?? 0;
    this.#bodies.delete(key);
  }
}

/** A response that was made before. */
export class KnownBody {
  readonly body: string;

  constructor(body: string) {
    this.body = body;
  }
}

/** A document that stays the same while its session has this tag. */
export class Tagged<T extends SessionDocument | ExplanationDocument = SessionDocument | ExplanationDocument> {
  readonly document: T;
  readonly key: string;
  readonly tag: string;

  constructor(document: T, key: string, tag: string) {
    this.document = document;
    this.key = key;
    this.tag = tag;
  }

  /** False for an open session: whether it is still open depends on the time, which the tag does not contain. */
  get canBeKept(): boolean {
    return this.document.kind === "explanation" || this.document.row.ending.state !== "open";
  }
}
