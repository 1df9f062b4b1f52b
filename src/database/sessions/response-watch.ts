/** Detects that a server has stopped responding to the statements of a connection. */
export class ResponseWatch implements Disposable {
  /** Statements without a response. */
  #waiting = 0;
  /**
   * One timer for all statements. With pg's own timer for each (`query_timeout`), rows outlive their response
   * (docs/decisions/048-request-object-lifetime.md).
   */
  readonly #timer: NodeJS.Timeout;

  /** Calls `onSilence` once if a statement waits and no response arrives for `silenceMaxMs`. */
  constructor(silenceMaxMs: number, onSilence: () => void) {
    const check = () => {
      if (this.#waiting > 0) onSilence();
    };
    this.#timer = setTimeout(check, silenceMaxMs).unref();
  }

  countSent(): void {
    if (this.#waiting === 0) this.#timer.refresh();
    this.#waiting += 1;
  }

  /** Restarts the timer, because the server now begins the next statement. */
  countEnded(): void {
    this.#timer.refresh();
    this.#waiting -= 1;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
