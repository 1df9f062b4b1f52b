/** REST against the real app; every answer is held to the document and to the platform's shapes. */
import { expect } from 'vitest';
import type { Scope } from '../../../src/domain/viewer/scopes.ts';
import type { Problem } from '../../../src/errors.ts';
import type { TestApp } from '../app.ts';
import type { Tenant } from '../scenes/tenant.ts';
import { type AnswerCheck, answerCheck, type OpenapiDocument } from './openapi.ts';
import { checkPlatformShape } from './platform.ts';

export interface RestResult {
  status: number;
  headers: Record<string, string | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  body: any;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RestClient {
  /** The whole answer, a problem or not. Paths are below /v1. */
  ask(method: Method, path: string, body?: unknown): Promise<RestResult>;
  /** The body; fails where the status is another. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  get(path: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  post(path: string, body?: unknown, status?: number): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  patch(path: string, body: unknown): Promise<any>;
  delete(path: string): Promise<void>;
  /** The problem; fails if there is none. */
  refusal(method: Method, path: string, body?: unknown): Promise<Problem>;
}

/** By the document, which says the same in every app: to write it and to read it takes as long as the tests of a file. */
let known: AnswerCheck | undefined;

export function restClient(
  { app }: Pick<TestApp, 'app'>,
  given: Record<string, string>,
): RestClient {
  known ??= answerCheck(app.rest.swagger() as unknown as OpenapiDocument);
  const check = known;
  const ask: RestClient['ask'] = async (method, path, payload) => {
    const {
      statusCode: status,
      headers,
      body: text,
    } = await app.rest.inject({
      method,
      url: `/v1${path}`,
      headers: { ...given, ...(payload !== undefined && { 'content-type': 'application/json' }) },
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    });
    const contentType = headers['content-type'] as string | undefined;
    const isText = text === '' || contentType?.startsWith('text/plain');
    const body = isText ? text : JSON.parse(text);
    const answered = { method, path, status, contentType, body };
    check(answered);
    checkPlatformShape(answered);
    return { status, headers: headers as RestResult['headers'], body };
  };
  const done = async (wanted: number, asked: ReturnType<typeof ask>) => {
    const { status, body } = await asked;
    expect({ status, body }).toMatchObject({ status: wanted });
    return body;
  };
  return {
    ask,
    get: (path) => done(200, ask('GET', path)),
    post: (path, body, status = 201) => done(status, ask('POST', path, body)),
    patch: (path, body) => done(200, ask('PATCH', path, body)),
    delete: (path) => done(204, ask('DELETE', path)),
    async refusal(method, path, body) {
      const response = await ask(method, path, body);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.body.status).toBe(response.status);
      return response.body;
    },
  };
}

export interface RestTenant extends RestClient {
  /** `/projects/{name}` of the tenant's project. */
  base: string;
  tenant: Tenant;
  /** As the builder, with a bearer token. */
  builder: RestClient;
  /** As another API key with just these scopes. */
  withScopes(...scopes: Scope[]): Promise<RestClient>;
}

/** A new tenant that asks by REST. */
export async function restTenant(app: TestApp, name?: string): Promise<RestTenant> {
  const tenant = await app.tenant(name);
  const client = restClient(app, { 'x-api-key': tenant.apiKey });
  const base = `/projects/${tenant.projectName}`;
  return {
    ...client,
    base,
    tenant,
    builder: restClient(app, { authorization: `Bearer ${tenant.token}` }),
    async withScopes(...scopes) {
      const { key } = await client.post(`${base}/api-keys`, { label: 'other', scopes });
      return restClient(app, { 'x-api-key': key });
    },
  };
}
