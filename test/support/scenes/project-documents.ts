/** Project documents, and projects that are planned and applied from them over REST. */
import { expect } from 'vitest';
import type { RestTenant } from '../rest/rest-client.ts';

export const DOCUMENT = `specVersion: 1.0.0
allowedOrigins:
  - https://app.example
destinations:
  - name: audit
    type: stream
  - name: records
    type: webhook
    url: https://hooks.example.com/in?token=***
    headers:
      - authorization
topics:
  - name: alerts
    eventTypes:
      - connection.created
      - installation.created
    destinations:
      - audit
      - records
integrations:
  - name: crm
    provider: sandbox
    read:
      objects:
        - objectName: contacts
          destination: records
          schedule: 0 * * * *
          requiredFields:
            - fieldName: email
          optionalFields:
            - fieldName: phone
`;

const SECRETS: Record<string, string> = {
  'destinations.records.url': 'https://hooks.example.com/in?token=abc',
  'destinations.records.headers.authorization': 'Bearer abc',
};

export function planDocument(rest: RestTenant, document: string, options: object = {}) {
  return rest.post(`${rest.base}/plans`, { document, ...options });
}

/** Applies a plan with a value for each secret that it needs. */
export async function applyPlan(
  rest: RestTenant,
  { id, requiredSecrets }: { id: string; requiredSecrets: string[] },
) {
  const secrets = requiredSecrets.map((path) => ({
    path,
    value: SECRETS[path] ?? `value-${path}`,
  }));
  return rest.ask('POST', `${rest.base}/plans/${id}:apply`, { secrets });
}

export async function putDocument(rest: RestTenant, document: string, options: object = {}) {
  const plan = await planDocument(rest, document, options);
  const { status, body } = await applyPlan(rest, plan);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

export async function exportDocument(rest: RestTenant, format = 'yaml'): Promise<string> {
  const { status, body } = await rest.ask('GET', `${rest.base}:export?format=${format}`);
  expect(status).toBe(200);
  return body;
}
