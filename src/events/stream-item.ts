/** One item of a live stream, shared by all followers: a result that is computed for one serves the others. */
export class StreamItem<T, Cursor extends string | undefined = undefined> {
  readonly node: T;
  /** The cursor to resume after this item; undefined if the stream can't be resumed. */
  readonly cursor: Cursor;
  readonly #made = new Map<string, unknown>();

  constructor(node: T, cursor: Cursor) {
    this.node = node;
    this.cursor = cursor;
  }

  /** The value that the first call with the key has made. A key stands for one type of value. */
  shared<M>(key: string, make: (item: this) => M): M {
    const known = this.#made.get(key) as M | undefined;
    if (known !== undefined) return known;
    const made = make(this);
    this.#made.set(key, made);
    return made;
  }
}
