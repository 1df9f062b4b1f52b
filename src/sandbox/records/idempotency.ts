import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../work/durations.ts';
import { Refusal } from '../refusal.ts';
import type { SandboxRequest, SandboxResponse } from '../request.ts';

const KEPT_MS = DAY_MS;
/** Room for some 100,000 answers of one record; beyond it the oldest key is forgotten early. */
const KEPT_CHARACTERS_MAX = 64 * 1024 * 1024;
const KEY_LENGTH_MAX = 255;

interface StoredResponse {
  fingerprint: string;
  status: number;
  json: string;
  keptUntilMs: number;
}

/** Answers of writes by caller and `Idempotency-Key`: the same key does its work once in 24 h. */
export class IdempotencyKeys {
  readonly #now: () => Date;
  readonly #answers = new LRUCache<string, StoredResponse>({
    maxSize: KEPT_CHARACTERS_MAX,
    sizeCalculation: ({ json }) => json.length + KEY_LENGTH_MAX,
  });

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** A refused write throws and is not kept: its key may be used again. */
  answerOnce(
    request: SandboxRequest,
    caller: string,
    write: () => SandboxResponse,
  ): SandboxResponse {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return write();
    if (typeof key !== 'string' || key.length > KEY_LENGTH_MAX) {
      const message = `Idempotency-Key has at most ${KEY_LENGTH_MAX} characters`;
      throw new Refusal(400, { code: 'invalid_idempotency_key', message });
    }
    const name = `${caller} ${key}`;
    const fingerprint = createHash('sha256')
      .update(`${request.path} ${request.body}`)
      .digest('hex');
    const kept = this.#answers.get(name);
    if (kept !== undefined && kept.keptUntilMs > this.#now().getTime()) {
      return replayed(kept, fingerprint);
    }
    const response = write();
    const keptUntilMs = this.#now().getTime() + KEPT_MS;
    const json = JSON.stringify(response.json);
    this.#answers.set(name, { fingerprint, status: response.status, json, keptUntilMs });
    return response;
  }
}

function replayed(kept: StoredResponse, fingerprint: string): SandboxResponse {
  if (kept.fingerprint !== fingerprint) {
    const message = 'This Idempotency-Key was used for another request';
    throw new Refusal(409, { code: 'idempotency_key_reused', message });
  }
  const headers = { 'idempotent-replayed': 'true' };
  return { status: kept.status, headers, json: JSON.parse(kept.json) };
}
