/** One item of a live stream, the same for all who follow it: what is made of it for one serves the others. */
export class StreamItem<T, Cursor extends string | undefined = undefined> {
  readonly node: T;
  /** Where a client resumes that has received this item; undefined if its stream can't be resumed. */
  readonly cursor: Cursor;
  readonly #made = new Map<string, unknown>();

  constructor(node: T, cursor: Cursor) {
    this.node = node;
    this.cursor = cursor;
  }

  /** What the first caller of a key makes; a key always names the same kind of thing. */
  shared<M>(key: string, make: (item: this) => M): M {
    const known = this.#made.get(key) as M | undefined;
    if (known !== undefined) return known;
    const made = make(this);
    this.#made.set(key, made);
    return made;
  }
}
