import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { ROOT } from '../support/documents.ts';

const app = await getSharedApp();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

test('reports the version of package.json in health and the OpenAPI document', async () => {
  expect(await (await app.fetch('/livez')).json()).toEqual({ status: 'live', version });
  const { info } = await (await app.fetch('/v1/openapi.json')).json();
  expect(info.version).toBe(version);
});
