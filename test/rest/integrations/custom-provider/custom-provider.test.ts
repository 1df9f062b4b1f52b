import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createDocument } from '../../../support/inputs/custom-providers.ts';

const app = await getSharedApp();
const DOCUMENT = createDocument('https://api.acme.example');

test('creates, reads, lists, updates and deletes a custom provider', async () => {
  const { projectId, apiKey } = await app.createTenant();
  const send = (path: string, method = 'GET', body?: object) =>
    app.fetch(`/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const path = `/projects/${projectId}/custom-providers`;
  const creation = await send(path, 'POST', { document: DOCUMENT });
  expect(creation.status).toBe(201);
  const created = (await creation.json()) as { id: string };
  expect(created).toMatchObject({ name: 'x-acme', revision: 1, document: DOCUMENT });
  const item = `${path}/${created.id}`;
  expect(await (await send(item)).json()).toMatchObject({ id: created.id, name: 'x-acme' });
  expect(Object.keys((await (await send('/providers')).json()) as object)).toContain('x-acme');
  expect(await (await send('/providers/x-acme')).json()).toMatchObject({ displayName: 'Acme' });
  const document = createDocument('https://api.acme.example', { displayName: 'ACME' });
  const update = await send(item, 'PUT', { document });
  expect(update.status).toBe(200);
  expect(await update.json()).toMatchObject({ revision: 2, document });
  expect(JSON.stringify(await (await send(path)).json())).toContain(created.id);
  expect((await send(item, 'DELETE')).status).toBe(204);
  expect((await send(item)).status).toBe(404);
  expect((await send('/providers/x-acme')).status).toBe(404);
});
