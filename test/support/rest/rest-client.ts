/**
 * Sends REST requests to the app. Validates every response against the OpenAPI document and the schemas of
 * the reference API.
 */
import { expect } from 'vitest';
import type { Scope } from '../../../src/domain/access/viewer/scopes.ts';
import type { Problem } from '../../../src/kernel/errors.ts';
import type { TestApp } from '../app.ts';
import type { Tenant } from '../fixtures/tenant.ts';
import { createResponseCheck, type OpenapiDocument, type ResponseCheck } from './openapi.ts';
import { checkReferenceShape } from './reference-api.ts';

export interface RestResponse {
  status: number;
  headers: Record<string, string | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  body: any;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RestClient {
  /** Returns the whole response, also for a problem. Paths are below /v1. */
  request(method: Method, path: string, body?: unknown): Promise<RestResponse>;
  /** Returns the body. Fails if the response has another status than expected. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  get(path: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  post(path: string, body?: unknown, status?: number): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  patch(path: string, body: unknown): Promise<any>;
  delete(path: string): Promise<void>;
  /** Returns the problem. Fails if the request succeeds. */
  expectRefusal(method: Method, path: string, body?: unknown): Promise<Problem>;
}

/**
 * Shared by all apps, whose documents are equal. Creating and compiling the document takes as long as the
 * tests of a file.
 */
let responseCheck: ResponseCheck | undefined;

export function createRestClient(
  { app }: Pick<TestApp, 'app'>,
  authHeaders: Record<string, string>,
): RestClient {
  responseCheck ??= createResponseCheck(app.rest.swagger() as unknown as OpenapiDocument);
  const check = responseCheck;
  const request: RestClient['request'] = async (method, path, payload) => {
    const {
      statusCode: status,
      headers,
      body: text,
    } = await app.rest.inject({
      method,
      url: `/v1${path}`,
      headers: {
        ...authHeaders,
        ...(payload !== undefined && { 'content-type': 'application/json' }),
      },
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    });
    const contentType = headers['content-type'] as string | undefined;
    const isText = text === '' || contentType?.startsWith('text/plain');
    const body = isText ? text : JSON.parse(text);
    const exchange = { method, path, status, contentType, body };
    check(exchange);
    checkReferenceShape(exchange);
    return { status, headers: headers as RestResponse['headers'], body };
  };
  const expectStatus = async (
    expectedStatus: number,
    responsePromise: ReturnType<typeof request>,
  ) => {
    const { status, body } = await responsePromise;
    expect({ status, body }).toMatchObject({ status: expectedStatus });
    return body;
  };
  return {
    request,
    get: (path) => expectStatus(200, request('GET', path)),
    post: (path, body, status = 201) => expectStatus(status, request('POST', path, body)),
    patch: (path, body) => expectStatus(200, request('PATCH', path, body)),
    delete: (path) => expectStatus(204, request('DELETE', path)),
    async expectRefusal(method, path, body) {
      const response = await request(method, path, body);
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
  /** A client of the builder, with a bearer token. */
  builder: RestClient;
  /** Returns a client of a new API key with exactly these scopes. */
  withScopes(...scopes: Scope[]): Promise<RestClient>;
}

/** Creates a tenant with a REST client of its API key. */
export async function createRestTenant(app: TestApp, name?: string): Promise<RestTenant> {
  const tenant = await app.createTenant(name);
  const client = createRestClient(app, { 'x-api-key': tenant.apiKey });
  const base = `/projects/${tenant.projectName}`;
  return {
    ...client,
    base,
    tenant,
    builder: createRestClient(app, { authorization: `Bearer ${tenant.token}` }),
    async withScopes(...scopes) {
      const { key } = await client.post(`${base}/api-keys`, { label: 'other', scopes });
      return createRestClient(app, { 'x-api-key': key });
    },
  };
}

/** Returns the part and the name of each issue of a problem, such as `body name`. */
export function listIssuePositions({ issues = [] }: Pick<Problem, 'issues'>): string[] {
  return issues.map((issue) => `${issue.in} ${issue.name}`);
}
