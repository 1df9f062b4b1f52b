/** Bodies: JSON only, uncompressed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError, problemOf } from '../../errors.ts';

export function readBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, readJson);
}

async function readJson({ headers }: FastifyRequest, text: string | Buffer): Promise<unknown> {
  if (headers['content-encoding']) throw new UncompressedOnly();
  return text === '' ? undefined : parseJson(String(text));
}

/** A member named __proto__ is an ordinary member here; validation refuses it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is not JSON.');
  }
}

class UncompressedOnly extends DomainError {
  constructor() {
    super('BAD_USER_INPUT', 'Send the body uncompressed.');
  }

  override get problem() {
    return problemOf(this.code, this.message, { status: 415 });
  }
}
