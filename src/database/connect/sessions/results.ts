/** Callbacks of pg's queries. */

export type OnResult = (error: unknown, result?: unknown) => void;

/** Converts a callback to a promise. */
export function toPromise(run: (onResult: OnResult) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    run((error, result) => (error ? reject(error) : resolve(result)));
  });
}
