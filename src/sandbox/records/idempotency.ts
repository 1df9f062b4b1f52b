import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../work/durations.ts';
import type { SandboxRequest, SandboxResponse } from '../request.ts';
import { SandboxRefusal } from '../sandbox-refusal.ts';

const RETENTION_MS = DAY_MS;
/** Room for about 100,000 responses with one record each. Beyond it, the oldest keys are dropped early. */
const STORED_CHARACTERS_MAX = 64 * 1024 * 1024;
const KEY_LENGTH_MAX = 255;

interface StoredResponse {
  fingerprint: string;
  status: number;
  json: string;
  expiresAtMs: number;
}

/**
 * Stores write responses by caller and `Idempotency-Key`. A repeated key within 24 hours returns the stored
 * response.
 */
export class IdempotencyKeys {
  readonly #now: () => Date;
  readonly #responses = new LRUCache<string, StoredResponse>({
    maxSize: STORED_CHARACTERS_MAX,
    sizeCalculation: ({ json }) => json.length + KEY_LENGTH_MAX,
  });

  constructor(now: () => Date) {
    this.#now = now;
  }

  /**
   * Runs the write unless its key has a stored response. A refused write throws and is not stored, so its key can be
   * used again.
   */
  runOnce(request: SandboxRequest, write: () => SandboxResponse): SandboxResponse {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return write();
    if (typeof key !== 'string' || key.length > KEY_LENGTH_MAX) {
      const message = `Idempotency-Key has at most ${KEY_LENGTH_MAX} characters`;
      throw new SandboxRefusal(400, { code: 'invalid_idempotency_key', message });
    }
    const name = `${request.caller} ${key}`;
    const fingerprint = hash('sha256', `${request.path} ${request.body}`, 'hex');
    const storedResponse = this.#responses.get(name);
    if (storedResponse !== undefined && storedResponse.expiresAtMs > this.#now().getTime()) {
      return replay(storedResponse, fingerprint);
    }
    const response = write();
    const expiresAtMs = this.#now().getTime() + RETENTION_MS;
    const json = JSON.stringify(response.json);
    this.#responses.set(name, { fingerprint, status: response.status, json, expiresAtMs });
    return response;
  }
}

function replay(stored: StoredResponse, fingerprint: string): SandboxResponse {
  if (stored.fingerprint !== fingerprint) {
    const message = 'This Idempotency-Key was used for another request';
    throw new SandboxRefusal(409, { code: 'idempotency_key_reused', message });
  }
  const headers = { 'idempotent-replayed': 'true' };
  return { status: stored.status, headers, json: JSON.parse(stored.json) };
}
