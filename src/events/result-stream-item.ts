/** An item of result streams. All followers share it, so that values are computed once for all of them. */
export class ResultStreamItem<T, Cursor extends string | undefined = undefined> {
  readonly node: T;
  /** The cursor to resume after this item. Undefined if the stream can't be resumed. */
  readonly cursor: Cursor;
  readonly #values = new Map<string, unknown>();

  constructor(node: T, cursor: Cursor) {
    this.node = node;
    this.cursor = cursor;
  }

  /** Returns the value that the first call with this key computed. All calls with a key must compute the same value. */
  computeOnce<M>(key: string, compute: (item: this) => M): M {
    const cachedValue = this.#values.get(key) as M | undefined;
    if (cachedValue !== undefined) return cachedValue;
    const value = compute(this);
    this.#values.set(key, value);
    return value;
  }
}
